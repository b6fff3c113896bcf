"""The values that a statistic is taken of: one row per subject and window, or task and window."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.schema import STORM
from slotwise.pipeline.statistics.weights import windows as w

SERIES = (
    "subject string, topology string, source string, a string, b string, start timestamp, "
    "y decimal(38,0), x decimal(38,0), n bigint, day date"
)
"""Values `y` / `x` of a subject, of `n` samples, in the window that begins at `start`, on a `day`.

By `subject`, `a` and `b` are: a component (``cost``, ``cpu``, ``rest cost``, ``rest cpu``: a value
per task and window); a component and its task (``task cost``), or stream (``emitted``); two
components (``received``, ``sent``, ``size``, ``size of some``); two tasks (``pair size``,
``pair volume``); node and worker (``heap``, ``beside``).
"""

REST_COST, REST_CPU, TASK_COST = "rest cost", "rest cpu", "task cost"
PAIR_SIZE, PAIR_VOLUME = "pair size", "pair volume"
INDEX_OF_TASK = r"[\[/]\d+\]?$"
"""The index in a task's name; what stands before it is its component."""

_SUBJECT = ("subject", "a", "b")
_APART = ("topology", "source", "day", "start", *_SUBJECT, "apart", "bucket")


def series(
    windows: DataFrame,
    together: Callable[..., DataFrame],
    sizes: DataFrame | None = None,
) -> DataFrame:
    """Give `SERIES` from `WINDOWS` with their `day`, all of a subject and day in one partition.

    Parameters
    ----------
    windows
        `WINDOWS` with their `day`.
    together
        `DayTables.together`: the rows with a `bucket`, which `SERIES` have, too.
    sizes
        Of `message_sizes`; ``None`` = there are none.
    """
    parts = [windows.withColumn("part", fn.explode(_subjects())), _of_tasks(task_times(windows))]
    if sizes is not None:
        parts.append(sizes)
    rows = together(reduce(DataFrame.unionByName, map(_of_subjects, parts)), *_SUBJECT)
    # Of several rows of a task and window, or of a component, the sum; Spark needs no more shuffle.
    numbers = {"y": "decimal(38,0)", "x": "decimal(38,0)", "n": "bigint"}
    sums = (fn.sum(name).cast(kind).alias(name) for name, kind in numbers.items())
    return rows.groupBy(*_APART).agg(*sums).where("x > 0").drop("apart")


def _of_subjects(rows: DataFrame) -> DataFrame:
    """Give rows whose column `part` has subject, `a`, `b` and what is `apart` as flat ones."""
    flat = {name: fn.col(f"part.{name}") for name in (*_SUBJECT, "apart")}
    numbers = {name: fn.col(name).cast("decimal(38,0)") for name in ("y", "x")}
    columns = ("topology", "source", "day", "start", *flat, *numbers, "n")
    return rows.withColumns({**flat, **numbers}).select(*columns)


def _subjects() -> Column:
    """Give the subjects that a row of `WINDOWS` counts for."""
    component, task, other = fn.col("component"), fn.col("task"), fn.col("other")
    source, target = ends()
    of_kind = {
        w.COST: (part(w.COST, component, apart=task), part(TASK_COST, component, task)),
        w.EMITTED: (part(w.EMITTED, component, other),),
        w.RECEIVED: (part(w.RECEIVED, source, target),),
        w.SENT: (part(w.SENT, source, target),),
        w.SIZE: (part(w.SIZE, source, target), part(PAIR_SIZE, task, other)),
        w.VOLUME: (part(PAIR_VOLUME, task, other),),
        w.HEAP: (part(w.HEAP, fn.col("node"), fn.col("worker")),),
        w.BESIDE: (part(w.BESIDE, fn.col("node"), fn.col("worker")),),
    }
    chosen = fn.lit(None)
    for kind, subjects in of_kind.items():
        chosen = fn.when(fn.col("kind") == kind, fn.array(*subjects)).otherwise(chosen)
    return chosen


def part(
    subject: str | Column, a: Column, b: Column | None = None, *, apart: Column | None = None
) -> Column:
    """Give a subject and its ends; the values of a window that differ in `apart` are several."""
    nothing = fn.lit(None)
    texts = {
        "a": a,
        "b": nothing if b is None else b,
        "apart": nothing if apart is None else apart,
    }
    columns = (text.cast("string").alias(name) for name, text in texts.items())
    return fn.struct(fn.lit(subject).alias("subject"), *columns)


def ends() -> tuple[Column, Column]:
    """Give the components that the tuples of a row of `WINDOWS` go from and to.

    For ``received``, the task is the receiver and `other` the sender's ``component:stream``; else
    the task is the sender and `other` the receiver.
    """
    received = fn.col("kind") == w.RECEIVED
    sender = fn.substring_index("other", ":", 1)
    receiver = fn.regexp_replace("other", INDEX_OF_TASK, "")
    source = fn.when(received, sender).otherwise(fn.col("component"))
    return source, fn.when(received, fn.col("component")).otherwise(receiver)


def task_times(windows: DataFrame) -> DataFrame:
    """Give CPU time per interval of each task and window, and of what is left of its worker.

    The columns are ``cpu`` (ns Hz per interval, the sum over inputs; null: not known of all),
    ``emitted`` (tuples), ``rest`` (what the worker used per interval beyond its tasks with a
    ``cpu``, shared alike by those without; null: not known), and ``m`` (intervals). A worker has no
    rest in a window in which it has fewer tasks of either sort than in its `FULL` windows of the
    day: lines were lost, and what these tasks used is none of the others'.
    """
    per_interval = fn.floor(fn.col("y") / fn.col("x")).cast("decimal(38,0)")

    def total(kind: str) -> Column:
        value = fn.col("y") if kind == w.EMITTED else per_interval
        return fn.sum(fn.when(fn.col("kind") == kind, value)).cast("decimal(38,0)")

    place = ("topology", "source", "node", "worker", "submission", "day", "start")
    # The time in user mode without that of the system is none of a worker, nor the reverse.
    mode = fn.when(fn.col("other") == "user", 1).when(fn.col("other") == "sys", -1)
    is_both = fn.coalesce(fn.sum(mode), fn.lit(0)) == 0
    kinds = (w.CPU, w.EMITTED, w.WORKER_CPU, w.CGROUP_CPU)
    # What Storm itself sends, such as ticks, counts for nothing.
    of_input = ~fn.coalesce(fn.col("other"), fn.lit("")).startswith("__")

    def inputs(kind: str) -> Column:
        return fn.count(fn.when((fn.col("kind") == kind) & of_input, 1))

    is_whole = inputs(w.RECEIVED) <= inputs(w.CPU)
    tasks = (
        windows.where(fn.col("kind").isin(*kinds, w.RECEIVED))
        .repartition(*place)
        .groupBy(*place, "component", "task")
        .agg(
            fn.when(is_whole, total(w.CPU)).alias(w.CPU),
            total(w.EMITTED).alias(w.EMITTED),
            *(fn.when(is_both, total(kind)).alias(kind) for kind in kinds[2:]),
            fn.max("x").alias("m"),
            fn.max("n").alias("n"),
        )
    )
    worker = Window.partitionBy(*place)
    used = fn.coalesce(fn.sum(w.WORKER_CPU).over(worker), fn.sum(w.CGROUP_CPU).over(worker))
    known = fn.coalesce(fn.sum(w.CPU).over(worker), fn.lit(0))
    silent = fn.col(w.CPU).isNull() & fn.col(w.EMITTED).isNotNull()
    with_cpu, without_cpu = fn.count(w.CPU).over(worker), fn.sum(silent.cast("int")).over(worker)
    # Not by `greatest` alone, which takes a null for nothing.
    left = fn.when(used.isNotNull(), fn.greatest(used - known, fn.lit(0)))
    is_full = (with_cpu >= fn.col("usual.with_cpu")) & (without_cpu >= fn.col("usual.without_cpu"))
    rest = fn.when(silent & fn.coalesce(is_full, fn.lit(False)), left / without_cpu)
    usual = _usual(tasks.where(fn.col("source") == STORM), silent, place)
    known_workers = tasks.join(fn.broadcast(usual), [*place[:-1]], "left")
    rests = known_workers.withColumn("rest", fn.floor(rest).cast("decimal(38,0)"))
    return rests.drop("usual")


FULL = 0.9
"""Of a worker's windows, those are full with as many tasks as this share does not exceed."""


def _usual(tasks: DataFrame, silent: Column, place: tuple[str, ...]) -> DataFrame:
    """Give, in ``usual`` of each worker, how many tasks of both sorts its full windows have."""
    windows = tasks.groupBy(*place).agg(
        fn.count(w.CPU).alias("with_cpu"), fn.sum(silent.cast("int")).alias("without_cpu")
    )
    full = (
        fn.expr(f"percentile_disc({FULL}) within group (order by {name})")
        .cast("bigint")
        .alias(name)
        for name in ("with_cpu", "without_cpu")
    )
    return windows.groupBy(*place[:-1]).agg(fn.struct(*full).alias("usual"))


def _of_tasks(tasks: DataFrame) -> DataFrame:
    """Give the values of a task and window, one row each: all are made from one reading."""
    is_storm = fn.col("source") == STORM
    place = fn.struct("node", "worker", "submission", "task")

    def value(subject: str, per_interval: Column, x: str) -> Column:
        numbers = {"y": per_interval * fn.col("m"), "x": fn.col(x)}
        return fn.struct(
            part(subject, fn.col("component"), apart=place).alias("part"),
            *(number.cast("decimal(38,0)").alias(name) for name, number in numbers.items()),
        )

    rest = fn.when(is_storm, fn.col("rest"))
    values = fn.array(
        value(w.CPU, fn.col(w.CPU), "m"),
        value(REST_CPU, rest, "m"),
        value(REST_COST, rest, "emitted"),
    )
    known = tasks.withColumn("one", fn.explode(values)).where("one.y is not null")
    return known.withColumns({name: fn.col(f"one.{name}") for name in ("part", "y", "x")})
