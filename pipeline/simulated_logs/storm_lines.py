"""Lines as Storm's ``LoggingMetricsConsumer`` prints them (Storm 1.0 to 3.0).

A line is what the pattern of Storm's ``worker.xml`` puts before a message (time, milliseconds since
the start of the collector's JVM), then the message: seconds since 1970 on the clock of the task's
node, tab, host padded to 15 characters, colon, port, tab, task padded to 3, colon, component padded
to 11, tab, name padded or *cut* to 23 characters, tab, value. Sources: ``LoggingMetricsConsumer``,
``TaskMetrics``, ``RateCounter``, ``BuiltinBoltMetrics``, ``SystemBolt``, ``CGroupCpu`` and
``log4j2/worker.xml`` of Apache Storm 1.0 to 3.0.

Storm's own metrics up to 2.2 (``v1``) are read and reset: a map of what happened in the bucket.
Those of ``topology.enable.v2.metrics.tick`` (``v2``; the only ones from 2.3 on) have the stream in
their name, and their counters run on; beside each stands its rate, ``.m1_rate``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from slotwise.pipeline.simulated_logs.draws import Counts, Drawn
from slotwise.pipeline.simulated_logs.report import HEAD, Report
from slotwise.pipeline.simulated_logs.restarts import Lives, Worker
from slotwise.pipeline.simulated_logs.scene import FIRST_PORT, Scene
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.storm_series import MB, Meter, TaskSeries, WorkerSeries

NAME_WIDTH = 23
"""The consumer pads names to this, and cuts longer ones."""
SYSTEM = (-1, "__system")
"""Task and component of what concerns a whole worker."""


@dataclass(slots=True)
class _Lines:
    """A worker's lines with places for values, and the values of each bucket by column."""

    worker: Worker
    text: list[str] = field(default_factory=list)
    columns: list[Any] = field(default_factory=list)

    def add(self, task: int, component: str, metrics: Iterable[Metric]) -> None:
        """Add a line for each metric."""
        machine, port = self.worker
        address = f"{machine.id:>15}:{port:<4}\t{task:>3}:{component:<11}"
        for one in metrics:
            name = f"{one.name:<{NAME_WIDTH}}"[:NAME_WIDTH]
            fixed = f"\t{address}\t{name}\t".replace("%", "%%")
            self.text.append(f"{HEAD}{fixed}{one.shape}\n")
            self.columns += one.columns


class StormReports:
    """The reports of a topology's workers, bucket by bucket."""

    def __init__(self, scene: Scene, settings: LogSettings, lives: Lives) -> None:
        self._scene = scene
        self._settings = settings
        self._lives = lives
        self._meter = Meter(scene, settings, lives)

    def reports(self, drawn: Drawn) -> Iterator[list[Report]]:
        """Yield the reports of each bucket."""
        workers = [self._lines(drawn, worker) for worker in self._scene.workers]
        rows = [zip(*lines.columns, strict=True) for lines in workers]
        templates = ["".join(lines.text) for lines in workers]
        for bucket in range(drawn.first, drawn.first + drawn.buckets):
            bodies = [text % next(row) for text, row in zip(templates, rows, strict=True)]
            yield [
                self._report(bucket, index, body, len(workers[index].text))
                for index, body in enumerate(bodies)
            ]

    def _lines(self, drawn: Drawn, worker: Worker) -> _Lines:
        lines = _Lines(worker)
        tasks = [
            i for i, task in enumerate(self._scene.tasks) if (task.machine, task.port) == worker
        ]
        is_v1, seconds = self._settings.metrics == "v1", self._settings.bucket_seconds
        for i in tasks:
            task, series = self._scene.tasks[i], self._meter.task(i, drawn)
            running = self._running(worker, task.number, drawn.first)
            values = task_v1(series) if is_v1 else task_v2(series, seconds, running)
            lines.add(task.number, task.part.id, values)
        measured = self._meter.worker(worker, tasks, drawn)
        running = self._running(worker, SYSTEM[0], drawn.first)
        values = worker_v1(measured) if is_v1 else worker_v2(measured, seconds, running)
        lines.add(*SYSTEM, values)
        return lines

    def _running(self, worker: Worker, task: int, first: int) -> Running:
        def total(name: str, counts: Counts) -> Counts:
            return self._lives.total(worker, task, name, counts, first)

        return total

    def _report(self, bucket: int, index: int, body: str, lines: int) -> Report:
        settings = self._settings
        machine, _ = self._scene.workers[index]
        seconds = (bucket + 1) * settings.bucket_seconds
        port = FIRST_PORT + (index + bucket) % settings.files
        path = f"workers-artifacts/{self._scene.id}/{port}/worker.log.metrics"
        epoch = str(settings.start + seconds + machine.skew)
        return Report(path, seconds * 1000 + index % 97, self._prefix, body, epoch, lines)

    def _prefix(self, ms: int) -> str:
        when = datetime.fromtimestamp(self._settings.start + ms // 1000, UTC)
        return f"{when:%Y-%m-%d %H:%M:%S},{ms % 1000:03d} {ms:<8d} "


MAX_HEAP = 768 * MB

Column = Sequence[Any]
Running = Callable[[str, Counts], Counts]
"""Makes running totals of counts; the text says of what."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric in all buckets: `shape` has a place (``%d``, ``%r``, ``%s``) for each column."""

    name: str
    shape: str
    columns: tuple[Column, ...]


def task_v1(series: TaskSeries) -> Iterator[Metric]:
    """Give a task's metrics as maps."""
    for name, counts in series.counts.items():
        yield _map(name, counts, "%d")
    for name, means in series.latencies.items():
        yield _map(name, means, "%r")


def worker_v1(series: WorkerSeries) -> Iterator[Metric]:
    """Give a worker's metrics as Storm 1.0 to 2.2 has them."""
    yield _map("CGroupCpu", {"user-ms": series.user_ms, "sys-ms": series.sys_ms}, "%d")
    yield _one("CGroupMemory", series.heap + series.other, "%d")
    yield _usage("memory/heap", series.heap, MAX_HEAP)
    yield _usage("memory/nonHeap", series.other, -1)
    pauses = {"count": series.collections, "timeMs": series.collection_ms}
    yield _map("GC/PSScavenge", pauses, "%d")
    yield Metric("uptimeSecs", "%s", ([java_double(one) for one in series.uptime_s.tolist()],))
    yield Metric("startTimeSecs", "%s", ([java_double(one) for one in series.started_s.tolist()],))
    yield _one("newWorkerEvent", series.is_new, "%d")


def task_v2(series: TaskSeries, seconds: int, running: Running) -> Iterator[Metric]:
    """Give a task's metrics as Storm from 2.3 on has them: gauges first, then counters."""
    for name, means in series.latencies.items():
        yield from (_one(f"{name}-{key}", values, "%r") for key, values in means.items())
    if "__execute-latency" in series.latencies:
        yield _one("__capacity", np.round(series.busy, 6), "%r")
    for name, counts in series.counts.items():
        for key, values in counts.items():
            yield _one(f"{name}-{key}.m1_rate", np.round(values / seconds, 6), "%r")
    for name, counts in series.counts.items():
        for key, values in counts.items():
            yield _one(f"{name}-{key}", running(f"{name}-{key}", values), "%d")


def worker_v2(series: WorkerSeries, seconds: int, running: Running) -> Iterator[Metric]:
    """Give a worker's metrics as Storm from 2.3 on has them."""
    for name, values in (("user-ms", series.user_ms), ("sys-ms", series.sys_ms)):
        yield _one(f"CGroupCpu.{name}", running(f"CGroupCpu.{name}", values), "%d")
    yield _one("CGroupMemoryUsage", series.heap + series.other, "%d")
    yield _one("memory.heap.used", series.heap, "%d")
    yield _one("memory.heap.max", np.full_like(series.heap, MAX_HEAP), "%d")
    yield _one("memory.non-heap.used", series.other, "%d")
    for name, values in (("count", series.collections), ("time", series.collection_ms)):
        yield _one(f"GC.PS-Scavenge.{name}", running(f"GC.PS-Scavenge.{name}", values), "%d")
    yield _one("uptimeSecs", series.uptime_s, "%d")
    yield _one("startTimeSecs", series.started_s, "%d")
    yield _one("newWorkerEvent", series.is_new, "%d")
    busy = (series.user_ms + series.sys_ms) / (1000 * seconds)
    yield _one("workerCpuUsage", np.round(busy, 6), "%r")


def java_double(value: int) -> str:
    """Write a whole number as Java writes it as a double.

    Examples
    --------
    >>> java_double(60), java_double(1700000040)
    ('60.0', '1.70000004E9')
    """
    text = str(value)
    if value < 10**7:
        return f"{text}.0"
    return f"{text[0]}.{text[1:].rstrip('0') or '0'}E{len(text) - 1}"


def _one(name: str, values: Any, shape: str) -> Metric:
    return Metric(name, shape, (values.tolist(),))


def _map(name: str, columns: dict[str, Any], shape: str) -> Metric:
    entries = ", ".join(f"{key.replace('%', '%%')}={shape}" for key in columns)
    return Metric(name, f"{{{entries}}}", tuple(one.tolist() for one in columns.values()))


def _usage(name: str, used: Counts, most: int) -> Metric:
    columns = {
        "unusedBytes": used * 0,
        "virtualFreeBytes": most - used,
        "initBytes": used * 0,
        "committedBytes": used,
        "maxBytes": used * 0 + most,
        "usedBytes": used,
    }
    return _map(name, columns, "%d")
