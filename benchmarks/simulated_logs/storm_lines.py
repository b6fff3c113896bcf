"""Lines as Storm's ``LoggingMetricsConsumer`` prints them (Storm 1.0 to 3.0).

A line is what its pattern for metrics puts before a message (time, milliseconds since the JVM's
start), then the message: seconds since 1970 on the clock of the task's node, tab, host padded to 15
characters, colon, port, tab, task padded to 3, colon, component padded to 11, tab, name padded or
*cut* to 23 characters, tab, value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from slotwise.benchmarks.simulated_logs.draws import Counts, Drawn, Input
from slotwise.benchmarks.simulated_logs.report import HEAD, Report
from slotwise.benchmarks.simulated_logs.scene import DIGITS, Machine, Scene, Task
from slotwise.benchmarks.simulated_logs.settings import LogSettings

NAME_WIDTH = 23
"""The consumer pads names to this, and cuts longer ones."""
MB = 2**20
SYSTEM = (-1, "__system")
PROCESS_SHARE = 0.9
"""Process latency as a share of the execute latency."""

Column = list[Any]


@dataclass(slots=True)
class _Lines:
    """Lines with places for values, and the values of each bucket by column."""

    host: str
    port: int
    text: list[str]
    columns: list[Column]

    def add(self, task: int, component: str, name: str, value: str, *columns: Any) -> None:
        """Add a line whose `value` has a place (``%d``, ``%r``) for each column."""
        address = f"{self.host:>15}:{self.port:<4}\t{task:>3}:{component:<11}"
        named = f"{name:<{NAME_WIDTH}}"[:NAME_WIDTH]
        line = f"\t{address}\t{named}\t".replace("%", "%%") + value
        self.text.append(f"{HEAD}{line}\n")
        self.columns += [list(one.tolist()) for one in columns]


class StormReports:
    """The reports of a topology's workers, bucket by bucket."""

    def __init__(self, scene: Scene, settings: LogSettings) -> None:
        self._scene = scene
        self._settings = settings
        self._cpu_us = dict.fromkeys(scene.workers, 0)
        self.lines_per_bucket = 0

    def reports(self, drawn: Drawn) -> Iterator[tuple[int, list[Report]]]:
        """Yield each bucket with its reports."""
        workers = [self._worker(drawn, *worker) for worker in self._scene.workers]
        rows = [zip(*lines.columns, strict=True) for lines in workers]
        templates = ["".join(lines.text) for lines in workers]
        for offset in range(drawn.buckets):
            bucket = drawn.first + offset
            found = []
            for index, (machine, _) in enumerate(self._scene.workers):
                body = templates[index] % next(rows[index])
                found.append(self._report(bucket, index, machine, body, len(workers[index].text)))
            yield bucket, found

    def _report(self, bucket: int, index: int, machine: Machine, body: str, lines: int) -> Report:
        settings = self._settings
        seconds = (bucket + 1) * settings.bucket_seconds
        file = (index + bucket) % settings.files
        path = f"workers-artifacts/{self._scene.id}/{6700 + file}/worker.log.metrics"
        epoch = str(settings.start + seconds + machine.skew)
        return Report(path, seconds * 1000 + index % 97, self._prefix, body, epoch, lines)

    def _prefix(self, ms: int) -> str:
        when = datetime.fromtimestamp(self._settings.start + ms // 1000, UTC)
        return f"{when:%Y-%m-%d %H:%M:%S},{ms % 1000:03d} {ms:<8d} "

    def _worker(self, drawn: Drawn, machine: Machine, port: int) -> _Lines:
        lines = _Lines(machine.id, port, [], [])
        tasks = [
            (i, task)
            for i, task in enumerate(self._scene.tasks)
            if task.machine == machine and task.port == port
        ]
        for i, task in tasks:
            if task.part.is_source:
                self._source(lines, task, drawn)
            else:
                self._bolt(lines, i, task, drawn)
        self._system(lines, [i for i, _ in tasks], drawn, (machine, port))
        return lines

    def _source(self, lines: _Lines, task: Task, drawn: Drawn) -> None:
        where = (task.number, task.part.id)
        emitted = self._emitted(task, drawn)
        total = sum(one.ms() for one in self._scene.tasks)
        latency = {stream: np.full(drawn.buckets, round(total, 3)) for stream in emitted}
        lines.add(*where, "__ack-count", _map(emitted, "%d"), *emitted.values())
        self._outputs(lines, task, drawn)
        lines.add(*where, "__complete-latency", _map(latency, "%r"), *latency.values())

    def _bolt(self, lines: _Lines, index: int, task: Task, drawn: Drawn) -> None:
        where = (task.number, task.part.id)
        executed = {_input(key): counts for key, counts in drawn.executed[index].items()}
        latency = {_input(key): means for key, means in drawn.latency[index].items()}
        process = {key: np.round(means * PROCESS_SHARE, DIGITS) for key, means in latency.items()}
        lines.add(*where, "__ack-count", _map(executed, "%d"), *executed.values())
        self._outputs(lines, task, drawn)
        lines.add(*where, "__execute-count", _map(executed, "%d"), *executed.values())
        lines.add(*where, "__execute-latency", _map(latency, "%r"), *latency.values())
        lines.add(*where, "__process-latency", _map(process, "%r"), *process.values())

    def _outputs(self, lines: _Lines, task: Task, drawn: Drawn) -> None:
        where = (task.number, task.part.id)
        emitted = self._emitted(task, drawn)
        transferred = {stream: np.zeros(drawn.buckets, np.int64) for stream in emitted}
        for flow, pairs in zip(self._scene.flows, drawn.pairs, strict=True):
            if flow.source == task.part.id:
                transferred[flow.stream] += pairs[:, task.index, :].sum(axis=1)
        lines.add(*where, "__emit-count", _map(emitted, "%d"), *emitted.values())
        lines.add(*where, "__transfer-count", _map(transferred, "%d"), *transferred.values())

    def _emitted(self, task: Task, drawn: Drawn) -> dict[str, Counts]:
        return {
            stream: counts[:, task.index]
            for (component, stream), counts in drawn.emitted.items()
            if component == task.part.id
        }

    def _system(
        self, lines: _Lines, tasks: list[int], drawn: Drawn, worker: tuple[Machine, int]
    ) -> None:
        before = self._cpu_us[worker]
        cpu = sum((drawn.cpu_us[i] for i in tasks), np.zeros(drawn.buckets, np.int64))
        total = np.concatenate(([before], before + np.cumsum(cpu))) // 1000
        self._cpu_us[worker] = before + int(cpu.sum())
        user = total * 9 // 10
        spent = (np.diff(user), np.diff(total - user))
        heap, other = (
            np.rint(sum((drawn.memory_mb[i][part] for i in tasks)) * MB).astype(np.int64)
            for part in (0, 1)
        )
        most = np.full(drawn.buckets, 768 * MB)
        lines.add(*SYSTEM, "CGroupCpu", "{user-ms=%d, sys-ms=%d}", *spent)
        lines.add(*SYSTEM, "CGroupMemory", "%d", heap + other)
        shape = (
            "{unusedBytes=%d, virtualFreeBytes=%d, initBytes=%d, committedBytes=%d, maxBytes=%d,"
            " usedBytes=%d}"
        )
        lines.add(*SYSTEM, "memory/heap", shape, most - heap, most - heap, most, most, most, heap)
        none = np.full(drawn.buckets, -1)
        lines.add(
            *SYSTEM, "memory/nonHeap", shape, other * 0, -1 - other, other, other, none, other
        )
        pauses = np.diff(total) // 100
        lines.add(*SYSTEM, "GC/G1YoungGeneration", "{count=%d, timeMs=%d}", pauses // 10, pauses)


def _input(key: Input) -> str:
    return f"{key[0]}:{key[1]}"


def _map(columns: dict[str, Any], place: str) -> str:
    return "{" + ", ".join(f"{key.replace('%', '%%')}={place}" for key in columns) + "}"
