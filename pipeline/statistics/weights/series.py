"""The values that a statistic is taken of: one row per subject and window, or task and window."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.schema import STORM
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.message_sizes import message_sizes

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
COMPONENT_OF_TASK = r"[\[/]\d+\]?$"
"""The index in a task's name; what stands before it is its component."""

_NAMES = tuple(part.split()[0] for part in SERIES.split(", "))


def series(windows: DataFrame, *, has_message_sizes: bool) -> DataFrame:
    """Give `SERIES` from `WINDOWS` with their `day`; message sizes only if these are there."""
    subjects = windows.withColumn("part", fn.explode(_subjects()))
    sums = subjects.groupBy("topology", "source", "day", "start", "part").agg(
        *(fn.sum(name).alias(name) for name in ("y", "x", "n"))
    )
    values = _selected(sums).unionByName(_selected(_of_tasks(task_times(windows))))
    if not has_message_sizes:
        return values
    return values.unionByName(_selected(message_sizes(windows)))


def _subjects() -> Column:
    """Give the subjects that a row of `WINDOWS` counts for; `task` keeps its values apart."""

    def subject(
        name: str, a: Column, b: Column | None = None, task: Column | None = None
    ) -> Column:
        nothing = fn.lit(None)
        parts = {
            "a": a,
            "b": nothing if b is None else b,
            "task": nothing if task is None else task,
        }
        texts = (part.cast("string").alias(key) for key, part in parts.items())
        return fn.struct(fn.lit(name).alias("subject"), *texts)

    component, task, other = fn.col("component"), fn.col("task"), fn.col("other")
    source, target = ends()
    of_kind = {
        w.COST: (subject(w.COST, component, task=task), subject(TASK_COST, component, task)),
        w.EMITTED: (subject(w.EMITTED, component, other),),
        w.RECEIVED: (subject(w.RECEIVED, source, target),),
        w.SENT: (subject(w.SENT, source, target),),
        w.SIZE: (subject(w.SIZE, source, target), subject(PAIR_SIZE, task, other)),
        w.VOLUME: (subject(PAIR_VOLUME, task, other),),
        w.HEAP: (subject(w.HEAP, fn.col("node"), fn.col("worker")),),
        w.BESIDE: (subject(w.BESIDE, fn.col("node"), fn.col("worker")),),
    }
    chosen = fn.lit(None)
    for kind, subjects in of_kind.items():
        chosen = fn.when(fn.col("kind") == kind, fn.array(*subjects)).otherwise(chosen)
    return chosen


def ends() -> tuple[Column, Column]:
    """Give the components that the tuples of a row of `WINDOWS` go from and to.

    For ``received``, the task is the receiver and `other` the sender's ``component:stream``; else
    the task is the sender and `other` the receiver.
    """
    received = fn.col("kind") == w.RECEIVED
    sender = fn.substring_index("other", ":", 1)
    receiver = fn.regexp_replace("other", COMPONENT_OF_TASK, "")
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

    def value(subject: str, per_interval: Column, x: str) -> Column:
        numbers = {"y": per_interval * fn.col("m"), "x": fn.col(x)}
        return fn.struct(
            fn.lit(subject).alias("subject"),
            fn.col("component").alias("a"),
            fn.lit(None).cast("string").alias("b"),
            *(number.cast("decimal(38,0)").alias(name) for name, number in numbers.items()),
        )

    rest = fn.when(is_storm, fn.col("rest"))
    values = fn.array(
        value(w.CPU, fn.col(w.CPU), "m"),
        value(REST_CPU, rest, "m"),
        value(REST_COST, rest, "emitted"),
    )
    known = tasks.withColumn("part", fn.explode(values)).where("part.y is not null")
    return known.withColumns({name: fn.col(f"part.{name}") for name in ("y", "x")})


def _selected(rows: DataFrame) -> DataFrame:
    """Give `SERIES` from rows whose column `part` has the subject and its `a` and `b`."""
    columns = rows.withColumns({name: fn.col(f"part.{name}") for name in ("subject", "a", "b")})
    numbers = {name: fn.col(name).cast("decimal(38,0)").alias(name) for name in ("y", "x")}
    return columns.where("x > 0").select(*(numbers.get(name, fn.col(name)) for name in _NAMES))
