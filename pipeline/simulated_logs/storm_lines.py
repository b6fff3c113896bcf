"""Lines as Storm's ``LoggingMetricsConsumer`` prints them (Storm 1.0 to 3.0).

A line is what the pattern of Storm's ``worker.xml`` puts before a message (time, milliseconds since
the start of the collector's JVM), then the message: seconds since 1970 on the clock of the task's
node, tab, host padded to 15 characters, colon, port, tab, task padded to 3, colon, component padded
to 11, tab, name padded or *cut* to 23 characters, tab, value. Sources: ``LoggingMetricsConsumer``,
``TaskMetrics``, ``RateCounter``, ``BuiltinBoltMetrics``, ``SystemBolt``, ``CGroupCpu`` and
``log4j2/worker.xml`` of Apache Storm 1.0 to 3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from slotwise.pipeline.simulated_logs.draws import Counts, Drawn
from slotwise.pipeline.simulated_logs.report import HEAD, Report
from slotwise.pipeline.simulated_logs.restarts import Lives, Worker
from slotwise.pipeline.simulated_logs.scene import FIRST_PORT, Scene
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.storm_metrics import (
    Metric,
    Running,
    task_v1,
    task_v2,
    worker_v1,
    worker_v2,
)
from slotwise.pipeline.simulated_logs.storm_series import Meter

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
            found = task_v1(series) if is_v1 else task_v2(series, seconds, running)
            lines.add(task.number, task.part.id, found)
        measured = self._meter.worker(worker, tasks, drawn)
        running = self._running(worker, SYSTEM[0], drawn.first)
        found = worker_v1(measured) if is_v1 else worker_v2(measured, seconds, running)
        lines.add(*SYSTEM, found)
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
