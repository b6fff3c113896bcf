"""What a Storm worker measures in each bucket, before it is written in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.pipeline.simulated_logs.draws import Counts, Drawn, Input, Reals
from slotwise.pipeline.simulated_logs.restarts import Lives, Worker
from slotwise.pipeline.simulated_logs.scene import DIGITS, Scene, Task
from slotwise.pipeline.simulated_logs.settings import LogSettings

MB = 2**20
PROCESS_SHARE = 0.9
"""Process latency as a share of the execute latency."""
USER_TENTHS = 9
"""Tenths of cpu time that are spent in user mode."""
COLLECTION_SHARE = 100
"""One part in this many of cpu time is garbage collection, 10 ms each time."""


@dataclass(frozen=True, slots=True)
class TaskSeries:
    """Of a task: metric -> stream or ``component:stream`` -> values by bucket; a bolt's load."""

    counts: dict[str, dict[str, Counts]]
    latencies: dict[str, dict[str, Reals]]
    busy: Reals


@dataclass(frozen=True, slots=True)
class WorkerSeries:
    """Of a worker, by bucket: milliseconds of cpu time and collections, bytes, its life."""

    user_ms: Counts
    sys_ms: Counts
    collections: Counts
    collection_ms: Counts
    heap: Counts
    other: Counts
    uptime_s: Counts
    started_s: Counts
    is_new: Counts


class Meter:
    """Measures the tasks and workers of a topology."""

    def __init__(self, scene: Scene, settings: LogSettings, lives: Lives) -> None:
        self._scene = scene
        self._settings = settings
        self._lives = lives
        self._cpu_us = dict.fromkeys(scene.workers, 0)
        self._path_ms = round(sum(one.ms() for one in scene.tasks), 3)

    def task(self, index: int, drawn: Drawn) -> TaskSeries:
        """Measure a task."""
        task = self._scene.tasks[index]
        emitted = {
            stream: counts[:, task.index]
            for (component, stream), counts in drawn.emitted.items()
            if component == task.part.id
        }
        outputs = {
            "__emit-count": emitted,
            "__transfer-count": self._transferred(task, emitted, drawn),
        }
        busy = drawn.cpu_us[index] / (self._settings.bucket_seconds * 10**6)
        if task.part.is_source:
            complete = {stream: np.full(drawn.buckets, self._path_ms) for stream in emitted}
            counts = {"__ack-count": emitted} | outputs
            return TaskSeries(counts, {"__complete-latency": complete}, busy)
        executed = {_text(key): counts for key, counts in drawn.executed[index].items()}
        latency = {_text(key): means for key, means in drawn.latency[index].items()}
        process = {key: np.round(means * PROCESS_SHARE, DIGITS) for key, means in latency.items()}
        counts = {"__ack-count": executed} | outputs | {"__execute-count": executed}
        means = {"__execute-latency": latency, "__process-latency": process}
        return TaskSeries(counts, means, busy)

    def _transferred(
        self, task: Task, emitted: dict[str, Counts], drawn: Drawn
    ) -> dict[str, Counts]:
        transferred = {stream: np.zeros(drawn.buckets, np.int64) for stream in emitted}
        for flow, pairs in zip(self._scene.flows, drawn.pairs, strict=True):
            if flow.source == task.part.id:
                transferred[flow.stream] += pairs[:, task.index, :].sum(axis=1)
        return transferred

    def worker(self, worker: Worker, tasks: list[int], drawn: Drawn) -> WorkerSeries:
        """Measure a worker; whole milliseconds of cpu time add up over buckets."""
        cpu = sum((drawn.cpu_us[i] for i in tasks), np.zeros(drawn.buckets, np.int64))
        before = self._cpu_us[worker]
        total = np.concatenate(([before], before + np.cumsum(cpu))) // 1000
        self._cpu_us[worker] = before + int(cpu.sum())
        user = total * USER_TENTHS // 10
        paused = np.diff(total // COLLECTION_SHARE)
        birth = self._lives.birth(worker, drawn.first, drawn.buckets)
        seconds = self._settings.bucket_seconds
        now = np.arange(drawn.first, drawn.first + drawn.buckets)
        return WorkerSeries(
            user_ms=np.diff(user),
            sys_ms=np.diff(total - user),
            collections=paused // 10,
            collection_ms=paused,
            heap=_bytes(sum(drawn.memory_mb[i][0] for i in tasks)),
            other=_bytes(sum(drawn.memory_mb[i][1] for i in tasks)),
            uptime_s=(now + 1 - birth) * seconds,
            started_s=self._settings.start + birth * seconds,
            is_new=(now == birth).astype(np.int64),
        )


def _bytes(mb: Reals | int) -> Counts:
    return np.asarray(np.rint(np.asarray(mb) * MB), np.int64)


def _text(key: Input) -> str:
    return f"{key[0]}:{key[1]}"
