"""Samples summed by window: every weight is a ratio of two sums of integers.

Sums of integers are exact whatever the partitions, and the same for files and streams.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.columns import folder_of, lookup
from slotwise.pipeline.statistics.cut_names import joined
from slotwise.pipeline.statistics.schema import JSON, PLACE, names

DEFAULT_HZ = 10**9
"""Of a node whose clock rate nobody states: one GHz, so that GHz times ms are ms."""

COST, CPU, RECEIVED, EMITTED = "cost", "cpu", "received", "emitted"
SIZE, SENT, VOLUME = "size", "sent", "volume"
FROM_OUTSIDE = "from outside"
WORKER_CPU, CGROUP_CPU, HEAP, BESIDE = "worker_cpu", "cgroup_cpu", "heap", "beside"
BUSY = "busy"

WINDOWS = (
    "kind string, topology string, source string, node string, worker int, component string, "
    "task string, other string, start timestamp, y decimal(38,0), x decimal(38,0), n bigint, "
    "submission string, open bigint, first timestamp, last timestamp, head decimal(38,0)"
)
"""Sums of the samples of a window that begins at `start`: the weight is `y` / `x`, of `n` samples.

`submission` is the id of the topology as it was submitted (empty: the path of the log has none).
`other` is as in `SAMPLES`. `first` and `last` are times of samples, `head` is the `y` of the first;
of a window in which a pair was silent, `first` is that of its tasks, the others are null.
Of `RATES`, `x` is the time that is covered, microseconds, without that of `open` samples, which do
not say what they cover; `reporting` adds theirs. By `kind`, `y` is per sample, and `x` else 1 where
nothing else is said:

- ``cost``: busy time of a task, ns (`scale_by_clock`: ns Hz); `x` the tuples it executed in it;
- ``cpu``: the same;
- ``received``, ``emitted``: tuples executed from `other`, emitted to the stream `other`;
- ``size``: bytes to the task `other`; `x` the tuples;
- ``sent``, ``volume``: tuples, and bytes, to the task `other`;
- ``from outside``: bytes that a worker received of a pair of tasks, `other` as in `SAMPLES`;
- ``worker_cpu``, ``cgroup_cpu``: CPU time of a worker, ns (`scale_by_clock`: ns Hz);
- ``heap``, ``beside``: bytes of a worker's heap, and of its control group beyond that;
- ``busy``: busy time of a task, ns, that is more than `MOST_BUSY` times the time since the sample
  before, which is `x`, microseconds: such samples count for nothing else.
"""

DAY_S = 86_400

MOST_BUSY = 1.5
"""The thread of a task is not busy for longer than there is time; what Storm says of it is a mean
of some tuples times a count of others, and may exceed that a little."""
RATES = (CPU, RECEIVED, EMITTED, SENT, VOLUME, FROM_OUTSIDE, WORKER_CPU, CGROUP_CPU)

_KEYS = (
    *("topology", "source", "node", "worker", "component", "task", "other"),
    "submission",
)
_METRICS = (
    *("execute_count", "execute_ns", "emit_count", "cpu_ns", "cgroup_cpu_ns", "tuples"),
    *("pair_tuples", "pair_bytes", "received_bytes", "heap_bytes", "memory_bytes"),
)


def by_interval(samples: DataFrame, *apart: str) -> DataFrame:
    """Give `SAMPLES` with the numbers of one interval of a task and `other` in one row.

    The columns are the keys of `SAMPLES`, and one for each metric that a weight needs. Rows that
    differ in the columns `apart` are kept apart.
    """
    numbers = {one: fn.max(fn.when(fn.col("metric") == one, fn.col("value"))) for one in _METRICS}
    # Several streams of a sender may have one key, if Storm cut their names.
    executed = fn.when(fn.col("metric") == "execute_count", fn.col("value"))
    means = fn.when(fn.col("metric") == "execute_ns", fn.col("value"))
    is_one = (fn.count(executed) <= 1) & (fn.count(means) <= 1)
    numbers |= {
        "execute_count": fn.sum(executed),
        "execute_ns": fn.when(is_one, fn.max(means)),
    }
    known = samples.where(fn.col("metric").isin(*_METRICS)).withColumns(
        {
            "other": joined(fn.col("other"), fn.col("metric")),
            "submission": folder_of(fn.col("path")),
        }
    )
    columns = (number.alias(name) for name, number in numbers.items())
    times = (fn.max(name).alias(name) for name in ("span_us", "gap_us"))
    near = known.repartition("topology", *apart) if apart else known.repartition(*PLACE)
    return near.groupBy("time", *_KEYS, *apart).agg(*columns, *times)


def by_window(intervals: DataFrame, window_s: int, *apart: str) -> DataFrame:
    """Give `WINDOWS` from the rows of `by_interval`.

    Parameters
    ----------
    intervals
        What `by_interval` gives.
    window_s
        Length of a window, seconds.
    apart
        As in `by_interval`; they are columns of what is given, too.
    """
    kinds = fn.array(*(_kind(name, *parts) for name, parts in _parts().items()))
    exploded = intervals.select("time", "span_us", *_KEYS, *apart, fn.explode(kinds).alias("one"))
    counted = exploded.where(fn.col("one.y").isNotNull() & fn.col("one.x").isNotNull())
    is_open = fn.col("one.kind").isin(*RATES) & fn.col("span_us").isNull()
    windows = counted.groupBy(
        fn.col("one.kind").alias("kind"),
        start_of(window_s).alias("start"),
        *_KEYS,
        *apart,
    ).agg(
        fn.sum("one.y").cast("decimal(38,0)").alias("y"),
        fn.sum("one.x").cast("decimal(38,0)").alias("x"),
        fn.count(fn.lit(1)).alias("n"),
        fn.sum(is_open.cast("bigint")).alias("open"),
        fn.min("time").alias("first"),
        fn.max("time").alias("last"),
        fn.min_by("one.y", "time").cast("decimal(38,0)").alias("head"),
    )
    return windows.select(*names(WINDOWS), *apart)


def merged(windows: DataFrame) -> DataFrame:
    """Give `WINDOWS` with one row for what several tables have of the same window."""
    sums = {"y": "decimal(38,0)", "x": "decimal(38,0)", "n": "bigint", "open": "bigint"}
    keys = [name for name in names(WINDOWS) if name not in (*sums, "first", "last", "head")]
    added = [fn.sum(name).cast(kind).alias(name) for name, kind in sums.items()]
    added += [fn.min("first").alias("first"), fn.max("last").alias("last")]
    added += [fn.min_by("head", "first").alias("head")]
    return windows.groupBy(*keys).agg(*added).select(*names(WINDOWS))


def scale_by_clock(windows: DataFrame, clocks: Mapping[str, int]) -> DataFrame:
    """Give `WINDOWS` with times of processors in ns Hz, by the clock rates of the nodes.

    Parameters
    ----------
    windows
        Of `by_window`.
    clocks
        Node -> clock rate in Hz; a node that is not there has `DEFAULT_HZ`.
    """
    is_time = fn.col("kind").isin(COST, CPU, WORKER_CPU, CGROUP_CPU)
    hz = fn.when(is_time, _hz(clocks)).otherwise(fn.lit(1).cast("decimal(18,0)"))

    def times(name: str) -> Column:
        return fn.try_multiply(fn.col(name).cast("decimal(28,0)"), hz).cast("decimal(38,0)")

    return windows.withColumns({"y": times("y"), "head": times("head")})


def start_of(window_s: int) -> Column:
    """Give when the window begins that a sample belongs to: the one in which its interval ends.

    Null without a time; Spark's own `window` would leave such rows out.
    """
    seconds = fn.unix_seconds("time")
    return fn.timestamp_seconds(seconds - fn.pmod(seconds, fn.lit(window_s)))


def _kind(name: str, y: Column, x: Column) -> Column:
    return fn.struct(
        fn.lit(name).alias("kind"),
        y.cast("decimal(28,0)").alias("y"),
        x.cast("decimal(28,0)").alias("x"),
    )


def _parts() -> dict[str, tuple[Column, Column]]:
    """Return kind -> numerator and denominator of one row; null where it has none."""

    def wide(name: str) -> Column:
        return fn.col(name).cast("decimal(19,0)")

    one, executed = fn.lit(1), fn.col("execute_count")
    is_json, is_worker = fn.col("source") == JSON, fn.col("task") == "-1"
    idle = fn.when(executed == 0, fn.lit(0))  # no tuple, so that Storm has no mean
    mean_ns = fn.coalesce(fn.col("execute_ns"), idle).cast("decimal(19,0)")
    busy_ns = fn.when(is_json, wide("cpu_ns")).otherwise(
        fn.try_multiply(wide("execute_count"), mean_ns)
    )
    span = fn.coalesce("span_us", fn.lit(0))
    most = fn.col("gap_us").cast("decimal(19,0)") * fn.lit(int(1000 * MOST_BUSY))
    is_busy = ~is_json & fn.coalesce(busy_ns > most, fn.lit(False))
    busy = fn.when(~is_worker & ~is_busy, busy_ns)
    executed = fn.when(~is_busy, executed)
    # Not by `greatest` alone, which takes a null for nothing.
    beside = fn.col("memory_bytes") - fn.col("heap_bytes")
    beside = fn.when(beside.isNotNull(), fn.greatest(beside, fn.lit(0)))
    handled = fn.when(is_json, fn.col("tuples")).otherwise(executed)
    return {
        COST: (busy, handled),
        CPU: (busy, span),
        BUSY: (fn.when(is_busy, busy_ns), fn.col("gap_us")),
        RECEIVED: (executed, span),
        EMITTED: (fn.when(~fn.col("other").startswith("__"), fn.col("emit_count")), span),
        SIZE: (fn.col("pair_bytes"), fn.col("pair_tuples")),
        SENT: (fn.col("pair_tuples"), span),
        VOLUME: (fn.col("pair_bytes"), span),
        FROM_OUTSIDE: (fn.col("received_bytes"), span),
        WORKER_CPU: (fn.when(is_worker, wide("cpu_ns")), span),
        CGROUP_CPU: (fn.when(is_worker, wide("cgroup_cpu_ns")), span),
        HEAP: (fn.col("heap_bytes"), one),
        BESIDE: (beside, one),
    }


def _hz(clocks: Mapping[str, int]) -> Column:
    """Give the clock rate of the row's node."""
    entries = {node: fn.lit(hz).cast("bigint") for node, hz in clocks.items()}
    known = lookup(entries, fn.col("node"), "bigint")
    return fn.coalesce(known, fn.lit(DEFAULT_HZ)).cast("decimal(18,0)")
