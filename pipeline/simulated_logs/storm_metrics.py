"""The metrics that Storm's tasks and workers report, by generation: names and shapes of values.

Storm's own metrics up to 2.2 (``v1``) are read and reset: a map of what happened in the bucket.
Those of ``topology.enable.v2.metrics.tick`` (``v2``; the only ones from 2.3 on) have the stream in
their name, and their counters run on; beside each stands its rate, ``.m1_rate``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.pipeline.simulated_logs.draws import Counts
from slotwise.pipeline.simulated_logs.storm_series import MB, TaskSeries, WorkerSeries

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
