"""The plain JSON lines: what a task did, and what one task sent to another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from slotwise.pipeline.simulated_logs.draws import MICROS, Drawn
from slotwise.pipeline.simulated_logs.report import HEAD, Report
from slotwise.pipeline.simulated_logs.scene import Machine, Scene
from slotwise.pipeline.simulated_logs.settings import LogSettings

OF_TASK = '"cpu_ms": %r, "tuples": %d'
OF_PAIR = '"tuples": %d, "bytes": %d'


class JsonReports:
    """The reports of the nodes that a topology runs on, bucket by bucket."""

    def __init__(self, scene: Scene, settings: LogSettings) -> None:
        self._scene = scene
        self._settings = settings
        self._machines = list(dict.fromkeys(task.machine for task in scene.tasks))
        text: dict[Machine, list[str]] = {machine: [] for machine in self._machines}
        for task in scene.tasks:
            fixed = {"task": task.name, "component": task.part.id, "node": task.machine.id}
            more = {"worker": task.port, "ghz": task.machine.ghz}
            text[task.machine].append(self._line(fixed | more, OF_TASK))
        for _, sender, receiver in self._pairs():
            one, other = scene.tasks[sender], scene.tasks[receiver]
            ends = {"from": one.name, "to": other.name, "node": one.machine.id}
            text[one.machine].append(self._line(ends, OF_PAIR))
        self._templates = ["".join(lines) for lines in text.values()]
        self._sizes = [len(lines) for lines in text.values()]

    def reports(self, drawn: Drawn) -> Iterator[list[Report]]:
        """Yield the reports of each bucket."""
        rows = [zip(*columns, strict=True) for columns in self._columns(drawn)]
        for bucket in range(drawn.first, drawn.first + drawn.buckets):
            bodies = [text % next(row) for text, row in zip(self._templates, rows, strict=True)]
            yield [self._report(bucket, i, body) for i, body in enumerate(bodies)]

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        """Give flow, sender and receiver of each pair that can have tuples."""
        for index, flow in enumerate(self._scene.flows):
            receivers = self._scene.of(flow.target)
            for sender in self._scene.of(flow.source):
                for receiver in receivers[:1] if flow.grouping == "global" else receivers:
                    yield index, sender, receiver

    def _line(self, fixed: dict[str, Any], places: str) -> str:
        """Return a line of fixed keys and of `places` for values."""
        text = json.dumps({"topology": self._scene.name} | fixed, ensure_ascii=False)
        known = text[1:-1].replace("%", "%%")
        return f"{HEAD}{known}, {places}}}\n"

    def _columns(self, drawn: Drawn) -> list[list[Any]]:
        """Return the values of each place by bucket, in the order of the lines, by node."""
        scene = self._scene
        columns: dict[Machine, list[Any]] = {machine: [] for machine in self._machines}
        for i, task in enumerate(scene.tasks):
            spent = drawn.cpu_us[i] / MICROS
            columns[task.machine] += [spent.tolist(), drawn.handled(scene, i).tolist()]
        pairs = [counts.transpose(1, 2, 0).tolist() for counts in drawn.pairs]
        sizes = [counts.transpose(1, 2, 0).tolist() for counts in drawn.sizes]
        for flow, sender, receiver in self._pairs():
            at, to = scene.tasks[sender].index, scene.tasks[receiver].index
            columns[scene.tasks[sender].machine] += [pairs[flow][at][to], sizes[flow][at][to]]
        return list(columns.values())

    def _report(self, bucket: int, index: int, body: str) -> Report:
        settings = self._settings
        seconds = (bucket + 1) * settings.bucket_seconds
        time = (settings.start + seconds + self._machines[index].skew) * 1000
        path = f"tuples-{(index + bucket) % settings.files}.jsonl"
        ms = seconds * 1000 + index % 97
        return Report(path, ms, self._prefix, body, f'"time": {time}, ', self._sizes[index])

    def _prefix(self, ms: int) -> str:
        return f'{{"received": {self._settings.start * 1000 + ms}, '
