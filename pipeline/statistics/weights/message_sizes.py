"""Sizes of tuples from what Storm says that a worker received from tasks of other workers.

Bytes are known by pair of tasks, tuples by receiver and sending component. Where no task of the
sender is in the receiver's worker, all the tuples came from outside: the size is what came over how
many did. Where some are, the part of those from outside is taken to be the part that the tasks
outside emit. That is right if a receiver gets the same part of what each sender emits: with the
groupings `EVEN`, and with others by chance. Storm's shuffle prefers tasks of the same worker unless
these are busy (``LoadAwareShuffleGrouping`` since 2.0), as ``local_or_shuffle`` does: `LOCAL`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.schema import STORM
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.series import part

SIZE_OF_SOME = "size of some"
"""The subject of sizes where some of the senders are in the receiver's worker."""

EVEN = ("all", "global", "none")
LOCAL = ("shuffle", "local_or_shuffle")

_RUN = ("topology", "source", "submission", "day")
_TIME = (*_RUN, "start")
_WORKER = (*_TIME, "node", "worker")
_FINE = 10**12
"""Microseconds in which rates count tuples, as whole numbers."""


def message_sizes(windows: DataFrame) -> DataFrame:
    """Give sizes by window from `WINDOWS`: rows of `SERIES` with `part`, the subject and its ends.

    There is one for each receiving task, worker and window. A window counts in which each task of
    the sender that emitted on this day says what it did, and is in one worker: else it is not known
    what came from outside.
    """
    storm = windows.where(fn.col("source") == STORM)
    emitted = _emitted(storm)
    came, executed = _came(storm, emitted), _executed(storm)
    inside = emitted.groupBy(*_WORKER, "sender").agg(_whole(fn.sum("rate")).alias("inside"))
    rows = (
        executed.join(came, [*_WORKER, "sender", "task"])
        .join(_whole_senders(emitted), [*_TIME, "sender"])
        .join(inside, [*_WORKER, "sender"], "left")
        .withColumn("inside", fn.coalesce("inside", fn.lit(0).cast("decimal(38,0)")))
    )
    outside = _whole(fn.col("rate") - fn.col("inside"))
    subject = fn.when(fn.col("inside") == 0, w.SIZE).otherwise(SIZE_OF_SOME)
    return rows.select(
        *("topology", "source", "day", "start", "n"),
        part(subject, fn.col("sender"), fn.col("component")).alias("part"),
        # What came in the time of the tuples that were executed, though a line may be lost.
        _share("bytes", fn.col("executed_us"), fn.col("came_us")).alias("y"),
        _share("tuples", outside, fn.col("rate")).alias("x"),
    )


def _emitted(storm: DataFrame) -> DataFrame:
    """Give the ``rate`` at which each task emits, by window and worker."""
    rate = fn.col("y").cast("decimal(18,0)") * fn.lit(_FINE) / fn.col("x").cast("decimal(18,0)")
    of_stream = storm.where((fn.col("kind") == w.EMITTED) & (fn.col("x") > 0))
    rates = of_stream.withColumns({"sender": fn.col("component"), "rate": _whole(rate)})
    return rates.groupBy(*_WORKER, "sender", "task").agg(_whole(fn.sum("rate")).alias("rate"))


def _whole_senders(emitted: DataFrame) -> DataFrame:
    """Give the ``rate`` of each component in the windows in which all of its tasks are known."""
    there = emitted.groupBy(*_TIME, "sender").agg(
        _whole(fn.sum("rate")).alias("rate"),
        fn.count(fn.lit(1)).alias("places"),
        fn.count_distinct("task").alias("tasks"),
    )
    of_day = emitted.groupBy(*_RUN, "sender").agg(fn.count_distinct("task").alias("of_day"))
    is_whole = (fn.col("tasks") == fn.col("of_day")) & (fn.col("places") == fn.col("of_day"))
    whole = there.join(of_day, [*_RUN, "sender"]).where(is_whole & (fn.col("rate") > 0))
    return whole.select(*_TIME, "sender", "rate")


def _came(storm: DataFrame, emitted: DataFrame) -> DataFrame:
    """Give the ``bytes`` from outside by receiver and sending component, and in what time.

    A pair that sent nothing has no sample: the time is that of the worker's lines.
    """
    known = emitted.select(*_RUN, "sender", fn.col("task").alias("from")).distinct()
    time = fn.max("x").over(Window.partitionBy(*_WORKER))
    pairs = storm.where(fn.col("kind") == w.FROM_OUTSIDE).select(
        *_WORKER,
        fn.substring_index("other", "-", 1).alias("from"),
        fn.substring_index("other", "-", -1).alias("task"),
        "y",
        time.alias("came_us"),
    )
    return (
        pairs.join(known, [*_RUN, "from"])
        .groupBy(*_WORKER, "sender", "task")
        .agg(fn.sum("y").alias("bytes"), fn.max("came_us").alias("came_us"))
    )


def _executed(storm: DataFrame) -> DataFrame:
    """Give the ``tuples`` that each task executed by sending component, and in what time."""
    received = storm.where((fn.col("kind") == w.RECEIVED) & (fn.col("y") > 0))
    return (
        received.withColumn("sender", fn.substring_index("other", ":", 1))
        .groupBy(*_WORKER, "sender", "task", "component")
        .agg(
            fn.sum("y").alias("tuples"),
            fn.max("x").alias("executed_us"),
            fn.sum("n").alias("n"),
        )
    )


def _share(name: str, part: Column, whole: Column) -> Column:
    """Give ``name * part / whole`` in millionths, rounded down."""
    product = fn.col(name).cast("decimal(18,0)") * part.cast("decimal(18,0)")
    return _whole(fn.try_multiply(product / whole.cast("decimal(18,0)"), fn.lit(10**6)))


def _whole(number: Column) -> Column:
    return fn.floor(number).cast("decimal(38,0)")
