"""Running totals as what happened between two readings, and restarts of workers.

A running total that falls was reset: its worker was restarted and counts from zero again. So does
a worker's uptime. What happened before the first reading, or since one long ago, is not known and
no sample.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import RESET

_SERIES = ("topology", "node", "worker", "task", "component", "metric", "other", "source")


def is_reading() -> Column:
    """Say whether a row is a reading of a running total, or of the uptime."""
    return fn.col("running") | (fn.col("metric") == "uptime_ns")


def increments(good: DataFrame, reading: Reading) -> DataFrame:
    """Turn running totals into increments; set `note` where a worker was restarted.

    Adds `is_sample`, false for the first reading of a running total, and `span_us`, the time from
    the reading before: one that was lost leaves an increment of two intervals. Rows with a `reason`
    are no readings.
    """
    taken = fn.col("reason").isNull()
    # Identities are unique among the rows that are taken: the order is total.
    order = Window.partitionBy(*_SERIES, taken).orderBy("time")
    before, since = fn.lag("value").over(order), fn.lag("time").over(order)
    readings = good.withColumns({"before": before, "since": since})
    gap = fn.unix_seconds("time") - fn.unix_seconds("since")
    near = fn.coalesce(gap <= reading.longest_gap_s, fn.lit(False))
    fell = taken & is_reading() & fn.coalesce(fn.col("value") < fn.col("before"), fn.lit(False))
    span = fn.unix_micros("time") - fn.unix_micros("since")
    step = fn.when(fell, fn.col("value")).otherwise(fn.col("value") - fn.col("before"))
    counts = taken & fn.col("running")
    return readings.select(
        *(one for one in good.columns if one not in ("value", "note")),
        fn.when(counts & near, step).otherwise(fn.col("value")).alias("value"),
        fn.when(fell, RESET).otherwise(fn.col("note")).alias("note"),
        (~counts | near).alias("is_sample"),
        fn.when(counts & near, span).alias("span_us"),
    )
