"""Clocks of the nodes, and lateness, judged by when the collector received a sample.

A sample of Storm has two times: its node's clock stamped it, and the collector's log says when it
came. Their difference is the way to the collector, a second or two, plus the difference of the two
clocks. The way of one sample can be long (late); the median over a node's day is its clock's skew.
The day is that of the receipt, so that a line with an absurd time is one among many.

Both rules are about a line and about all lines of a node's day, never about which job or trigger
read them, so that files and streams agree. Where the time of receipt is not known, a sample is on
time and its node's clock right.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import LATE, OUT_OF_ORDER

_OF_NODE = ("topology", "day", "node")


def measure_skew(good: DataFrame, reading: Reading) -> DataFrame:
    """Give `CLOCKS` from the good rows of `PARSED`."""
    known = good.where(fn.col("received").isNotNull() & fn.col("node").isNotNull())
    lags = known.groupBy(*_OF_NODE, _lag_s().alias("lag_s")).count()
    # Exact, and of few rows: one for each second of lag.
    median = fn.floor(fn.percentile("lag_s", 0.5, fn.col("count"))).cast("bigint")
    skew = fn.when(fn.abs(median) > reading.skew_tolerance_s, median).otherwise(fn.lit(0))
    return lags.groupBy(*_OF_NODE).agg(
        skew.cast("bigint").alias("skew_s"), fn.sum("count").alias("lines")
    )


def mark_late(good: DataFrame, nodes: DataFrame, reading: Reading) -> DataFrame:
    """Add `skew_s` (see `CLOCKS`) and `note` (out of order); set `reason` to late if null."""
    skews = nodes.where(fn.col("skew_s") != 0).select(*_OF_NODE, "skew_s")
    joined = good.join(fn.broadcast(skews), [*_OF_NODE], "left")
    skewed = joined.withColumn("skew_s", fn.coalesce("skew_s", fn.lit(0).cast("bigint")))
    on_way = _lag_s() - fn.col("skew_s")
    late = fn.when(fn.abs(on_way) > reading.lateness_s, LATE)
    return skewed.withColumns(
        {
            "reason": fn.coalesce("reason", late),
            "note": fn.when(on_way > reading.next_due_s, OUT_OF_ORDER),
        }
    )


def _lag_s() -> Column:
    return fn.unix_seconds("received") - fn.unix_seconds("time")
