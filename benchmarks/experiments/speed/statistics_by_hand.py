"""What `pipeline.statistics` makes of logs, computed again in plain Python, line by line.

Written from the description of the lines, for logs whose counts are per interval; it shares no code
with the pipeline. Lines with a fault are left out; of repeated samples the first received counts.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from slotwise.pipeline.statistics.reading import Reading

Totals = dict[tuple[str, str, str], tuple[int, int]]
"""Source, component, metric -> number of samples, sum of their values."""

_COUNTS = {"__execute-count", "__emit-count", "__transfer-count", "__ack-count", "__fail-count"}
_NAMES = {
    "__execute-latency": "execute_ns",
    "__process-latency": "process_ns",
    "__complete-latency": "complete_ns",
    **{name: name[2:].replace("-", "_") for name in _COUNTS},
}
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")


class Sample(NamedTuple):
    """A sample as a line states it; `received` in seconds, None: not known."""

    source: str
    component: str
    metric: str
    other: str | None
    node: str
    worker: str
    task: str
    time: int
    received: float | None
    value: int


def totals(files: list[Path], reading: Reading) -> Totals:
    """Return number and sum of the samples that count."""
    components = {name for names in reading.components.values() for name in names}
    newest: dict[tuple[Any, ...], Sample] = {}
    for sample in (sample for path in files for sample in _samples(path)):
        if (
            components
            and sample.component not in components
            and not sample.component.startswith("__")
        ):
            continue
        key = sample[:8]
        if key not in newest or _rank(sample) < _rank(newest[key]):
            newest[key] = sample
    lags: dict[tuple[str, float], list[int]] = defaultdict(list)
    every = [sample for path in files for sample in _samples(path)]
    for sample in every:
        if (
            components
            and sample.component not in components
            and not sample.component.startswith("__")
        ):
            continue
        if sample.received is not None:
            lags[sample.node, sample.received // 86400].append(
                math.floor(sample.received) - sample.time
            )
    skews = {node: math.floor(statistics.median(values)) for node, values in lags.items()}
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for sample in newest.values():
        if sample.received is not None:
            skew = skews[sample.node, sample.received // 86400]
            skew = skew if abs(skew) > reading.skew_tolerance_s else 0
            if abs(math.floor(sample.received) - sample.time - skew) > reading.lateness_s:
                continue
        total = sums[sample.source, sample.component, sample.metric]
        total[0] += 1
        total[1] += sample.value
    return {key: (number, value) for key, (number, value) in sums.items()}


def _rank(sample: Sample) -> tuple[float, int]:
    return (math.inf if sample.received is None else sample.received, sample.value)


def _samples(path: Path) -> Iterator[Sample]:
    opened = gzip.open if path.suffix == ".gz" else open
    of_line = _of_json if ".jsonl" in path.name else _of_storm
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield from of_line(line.rstrip("\n"))


def _of_json(line: str) -> Iterator[Sample]:
    try:
        read = json.loads(line)
    except ValueError:
        return
    pair = "from" in read
    names = ("tuples", "bytes") if pair else ("cpu_ms", "tuples", "ghz")
    numbers = [read.get(name) for name in names]
    if not isinstance(read.get("time"), int) or any(
        isinstance(number, str) or number is None or number < 0 for number in numbers
    ):
        return
    task = read["from"] if pair else read["task"]
    metrics = ("pair_tuples", "pair_bytes") if pair else ("cpu_ns", "tuples", "clock_hz")
    for metric, name in zip(metrics, names, strict=True):
        scale = {"cpu_ms": 1e6, "ghz": 1e9}.get(name, 1.0)
        yield Sample(
            *("json", task.rpartition("[")[0], metric, read["to"] if pair else None),
            *(read["node"], str(read.get("worker")), task, read["time"] // 1000),
            *(read["received"] / 1000, math.floor(read[name] * scale + 0.5)),
        )


def _of_storm(line: str) -> Iterator[Sample]:
    fields = line.split("\t")
    if len(fields) != 5:
        return
    date, clock, _, stamp = fields[0].split()
    node, _, worker = fields[1].strip().rpartition(":")
    task, _, component = fields[2].strip().partition(":")
    if not stamp.isdigit() or not worker.isdigit() or not re.fullmatch(r"-?\d+", task):
        return
    text = f"{date} {clock}".replace(",", ".")
    received = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    for metric, other, number in _entries(fields[3].strip(), fields[4].strip()):
        if not _NUMBER.fullmatch(number) or float(number) < 0:
            continue
        scale = 1e9 if metric == "uptime_ns" else 1e6 if metric.endswith("_ns") else 1.0
        value = math.floor(float(number) * scale + 0.5)
        head = ("storm", component, metric, other, node, worker, task)
        yield Sample(*head, int(stamp), received, value)


def _entries(name: str, text: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield metric, `other` and number."""
    if name in ("CGroupMemory", "uptimeSecs"):
        yield {"CGroupMemory": "memory_bytes", "uptimeSecs": "uptime_ns"}[name], None, text
        return
    if not (text.startswith("{") and text.endswith("}")):
        return
    entries = dict(entry.strip().split("=") for entry in text[1:-1].split(",") if "=" in entry)
    if name in _NAMES:
        for key, number in entries.items():
            yield _NAMES[name], key, number
    elif name in ("memory/heap", "memory/nonHeap"):
        metric = "heap_bytes" if name == "memory/heap" else "nonheap_bytes"
        yield metric, None, entries.get("usedBytes", "")
    elif name in ("CPU", "CGroupCpu"):
        for key in ("user", "sys"):
            metric = "cpu_ns" if name == "CPU" else "cgroup_cpu_ns"
            yield metric, key, entries.get(f"{key}-ms", "")
    elif name.startswith("GC/"):
        yield "gc_ns", name[3:], entries.get("timeMs", "")
