"""Samples summed by window: every weight is a ratio of two sums of integers.

Sums of integers are exact whatever the partitions, and the same for files and streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from slotwise.benchmarks.statistics.schema import JSON

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DEFAULT_HZ = 10**9
"""Of a node whose clock rate nobody states: one GHz, so that GHz times ms are ms."""

COST, CPU, RECEIVED, EMITTED = "cost", "cpu", "received", "emitted"
SIZE, SENT, VOLUME = "size", "sent", "volume"
WORKER_CPU, CGROUP_CPU, HEAP, MEMORY = "worker_cpu", "cgroup_cpu", "heap", "memory"

WINDOWS = (
    "kind string, topology string, source string, node string, worker int, component string, "
    "task string, other string, start timestamp, y decimal(38,0), x decimal(38,0), n bigint"
)
"""Sums of the samples of a window that begins at `start`: the weight is `y` / `x`, of `n` samples.

`other` is as in `SAMPLES`. By `kind`, `y` is per sample, and `x` 1 where nothing else is said:

- ``cost``: busy time of a task, ns Hz; `x` the tuples it executed in it;
- ``cpu``: the same;
- ``received``, ``emitted``: tuples executed from `other`, emitted to the stream `other`;
- ``size``: bytes to the task `other`; `x` the tuples;
- ``sent``, ``volume``: tuples, and bytes, to the task `other`;
- ``worker_cpu``, ``cgroup_cpu``: CPU time of a worker, ns Hz;
- ``heap``, ``memory``: bytes of a worker.
"""

_KEYS = ("topology", "source", "node", "worker", "component", "task", "other")
_METRICS = (
    *("execute_count", "execute_ns", "emit_count", "cpu_ns", "cgroup_cpu_ns", "tuples"),
    *("pair_tuples", "pair_bytes", "heap_bytes", "memory_bytes"),
)


def by_interval(samples: DataFrame) -> DataFrame:
    """Give `SAMPLES` with the numbers of one interval of a task and `other` in one row.

    The columns are the keys of `SAMPLES`, and one for each metric that a weight needs.
    """
    from pyspark.sql import functions as F

    numbers = (F.max(F.when(F.col("metric") == one, F.col("value"))).alias(one) for one in _METRICS)
    known = samples.where(F.col("metric").isin(*_METRICS))
    return known.groupBy("time", *_KEYS).agg(*numbers)


def by_window(
    intervals: DataFrame, window: str = "60 seconds", clocks: Mapping[str, int] | None = None
) -> DataFrame:
    """Give `WINDOWS` from the rows of `by_interval`.

    Parameters
    ----------
    intervals
        What `by_interval` gives.
    window
        Length as Spark writes it, such as ``60 seconds``; a sample belongs to the window in which
        its interval ends.
    clocks
        Node -> clock rate in Hz; a node that is not there has `DEFAULT_HZ`.
    """
    from pyspark.sql import functions as F

    kinds = F.array(*(_kind(name, *parts) for name, parts in _parts(clocks or {}).items()))
    exploded = intervals.select("time", *_KEYS, F.explode(kinds).alias("one"))
    counted = exploded.where(F.col("one.y").isNotNull() & F.col("one.x").isNotNull())
    windows = counted.groupBy(
        F.col("one.kind").alias("kind"), F.window("time", window).start.alias("start"), *_KEYS
    ).agg(
        F.sum("one.y").cast("decimal(38,0)").alias("y"),
        F.sum("one.x").cast("decimal(38,0)").alias("x"),
        F.count(F.lit(1)).alias("n"),
    )
    return windows.select(*(part.split()[0] for part in _columns()))


def _columns() -> list[str]:
    """Return the columns of `WINDOWS`; the comma within a type stands without a blank."""
    return WINDOWS.split(", ")


def _kind(name: str, y: Column, x: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(
        F.lit(name).alias("kind"),
        y.cast("decimal(28,0)").alias("y"),
        x.cast("decimal(28,0)").alias("x"),
    )


def _parts(clocks: Mapping[str, int]) -> dict[str, tuple[Column, Column]]:
    """Return kind -> numerator and denominator of one row; null where it has none."""
    from pyspark.sql import functions as F

    def wide(name: str) -> Column:
        return F.col(name).cast("decimal(19,0)")

    one, executed = F.lit(1), F.col("execute_count")
    is_json, is_worker = F.col("source") == JSON, F.col("task") == "-1"
    idle = F.when(executed == 0, F.lit(0))  # no tuple, so that Storm has no mean
    mean_ns = F.coalesce(F.col("execute_ns"), idle).cast("decimal(19,0)")
    busy_ns = F.when(is_json, wide("cpu_ns")).otherwise(
        F.try_multiply(wide("execute_count"), mean_ns)
    )
    hz = _hz(clocks)
    busy = F.try_multiply(busy_ns, hz)
    handled = F.when(is_json, F.col("tuples")).otherwise(executed)
    return {
        COST: (F.when(~is_worker, busy), handled),
        CPU: (F.when(~is_worker, busy), one),
        RECEIVED: (executed, one),
        EMITTED: (F.when(~F.col("other").startswith("__"), F.col("emit_count")), one),
        SIZE: (F.col("pair_bytes"), F.col("pair_tuples")),
        SENT: (F.col("pair_tuples"), one),
        VOLUME: (F.col("pair_bytes"), one),
        WORKER_CPU: (F.when(is_worker, F.try_multiply(wide("cpu_ns"), hz)), one),
        CGROUP_CPU: (F.when(is_worker, F.try_multiply(wide("cgroup_cpu_ns"), hz)), one),
        HEAP: (F.col("heap_bytes"), one),
        MEMORY: (F.col("memory_bytes"), one),
    }


def _hz(clocks: Mapping[str, int]) -> Column:
    """Give the clock rate of the row's node."""
    from pyspark.sql import functions as F

    default = F.lit(DEFAULT_HZ)
    if not clocks:
        return default.cast("decimal(18,0)")
    entries = [F.lit(part) for node, hz in sorted(clocks.items()) for part in (node, hz)]
    known = F.try_element_at(F.create_map(*entries), F.col("node"))
    return F.coalesce(known, default).cast("decimal(18,0)")
