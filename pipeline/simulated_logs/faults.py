"""Faults planted in logs: lines damaged, repeated, late, out of order or of unknown components."""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import IO

import numpy as np

from slotwise.pipeline.simulated_logs.report import Report
from slotwise.pipeline.simulated_logs.settings import LogSettings

Write = Callable[[str, str], None]
"""(path of a file, text) -> append the text."""

FAULTS = ("malformed", "duplicate", "late", "out_of_order", "unknown_component", "negative")
"""Kinds of faulty lines, each as frequent as the others.

Malformed, unknown and negative ones are damaged copies in addition to the good line; late lines and
lines out of order (after the next line of their task and metric) have no good copy.
"""
DELAYED = ("late", "out_of_order")
UNKNOWN = "nobody"
"""A component that no topology has."""


class Faults:
    """Plants faults into the lines of one kind; without faults, passes reports on."""

    def __init__(self, kind: str, settings: LogSettings, write: Write, planted: IO[str]) -> None:
        self._share = settings.faults
        late, bucket = settings.late_by * 1000, settings.bucket_seconds * 1000
        self._delays = {
            "late": (late, 2 * late),
            "out_of_order": (bucket * 5 // 4, bucket * 5 // 2),
        }
        self._random = np.random.default_rng([settings.seed, *kind.encode()])
        self._write = write
        self._planted = planted
        self._kind = kind
        self._waiting: list[tuple[int, int, str, str]] = []
        self._number = 0
        self._gap = self._next_gap()
        self.counts: Counter[str] = Counter(dict.fromkeys(FAULTS, 0))
        self.lines = 0

    def write(self, report: Report) -> None:
        """Write a report, after the delayed lines that are due before it."""
        self._flush(report.ms)
        self.lines += report.lines
        if self._gap >= report.lines:
            self._gap -= report.lines
            self._write(report.file, report.text())
            return
        kept: list[str] = []
        extra: list[str] = []
        for line in report.text().splitlines(keepends=True):
            if self._gap:
                self._gap -= 1
                kept.append(line)
                continue
            self._gap = self._next_gap()
            self._plant(report, line, kept, extra)
        self._write(report.file, "".join(kept + extra))

    @property
    def extra(self) -> int:
        """Number of lines in addition to those of reports."""
        return sum(self.counts[fault] for fault in FAULTS if fault not in DELAYED)

    def finish(self) -> None:
        """Write the lines that are still delayed."""
        self._flush(None)

    def _next_gap(self) -> int:
        return int(self._random.geometric(self._share)) - 1 if self._share else 2**62

    def _plant(self, report: Report, line: str, kept: list[str], extra: list[str]) -> None:
        fault = FAULTS[int(self._random.integers(len(FAULTS)))]
        if fault in DELAYED:
            least, most = self._delays[fault]
            delay = int(self._random.integers(least, most))
            due = report.ms + delay
            written = report.prefix(due) + line[len(report.prefix(report.ms)) :]
            self._number += 1
            heapq.heappush(self._waiting, (due, self._number, report.file, written))
        else:
            kept.append(line)
            written = line if fault == "duplicate" else self._damaged(fault, line)
            fault = "malformed" if written == line and fault != "duplicate" else fault
            written = self._broken(line) if fault == "malformed" else written
            extra.append(written)
        self.counts[fault] += 1
        row = {"fault": fault, "kind": self._kind, "file": report.file, "line": written[:-1]}
        self._planted.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _damaged(self, fault: str, line: str) -> str:
        """Return the line with an unknown component, or a number below zero.

        It is the line itself where it has no such part.
        """
        if self._kind == "json":
            if fault == "negative":
                return re.sub(r'"tuples": \d+', '"tuples": -1', line)
            changed = re.sub(r'"task": "[^"]*", "component": "[^"]*"', _JSON_NOBODY, line)
            return changed if changed != line else re.sub(r'"from": "[^"]*"', _JSON_FROM, line)
        head, _, value = line.rpartition("\t")
        if fault == "negative":
            if "__" not in head.rsplit("\t", 1)[-1] or not re.search(r"\d", value):
                return line
            return f"{head}\t" + re.sub(r"(=|^)[\d.]+", r"\g<1>-3", value, count=1)
        if "-1:__system" in head:
            return line
        return re.sub(r"(\t *\d+:)[^\t]*(\t)", rf"\g<1>{UNKNOWN:<11}\g<2>", line, count=1)

    def _broken(self, line: str) -> str:
        """Return the line damaged in one of five ways; none of them can be read."""
        way = int(self._random.integers(5))
        body = line[:-1]
        if way == 0:
            return "java.lang.OutOfMemoryError: GC overhead limit exceeded\n"
        if self._kind == "json":
            if way == 1:
                return body[: len(body) // 2] + "\n"
            if way == 2:
                return re.sub(r'"tuples": -?\d+', '"tuples": "many"', line)
            if way == 3:
                return re.sub(r'"time": \d+', '"time": "yesterday"', line)
            return body[1:] + "\n"
        fields = body.split("\t")
        if way == 1:
            return "\t".join(fields[:3])[:-2] + "\n"
        if way == 2:
            return "\t".join(fields[:-1]) + "\n"
        if way == 3 and fields[3].startswith("__"):
            return "\t".join([*fields[:-1], "{oops=1"]) + "\n"
        return body.replace("\t", " ?? ", 3) + "\n"

    def _flush(self, before: int | None) -> None:
        while self._waiting and (before is None or self._waiting[0][0] <= before):
            _, _, file, line = heapq.heappop(self._waiting)
            self._write(file, line)


_JSON_NOBODY = f'"task": "{UNKNOWN}[0]", "component": "{UNKNOWN}"'
_JSON_FROM = f'"from": "{UNKNOWN}[0]"'
