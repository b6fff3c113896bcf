"""Samples that are there more than once, found exactly without sorting all of them.

Two of the same `IDENTITY` have the same hash. A hash that repeats marks one of some millions of
bins; only rows in marked bins are compared exactly. The others, nearly all, stay where they are,
and the set of marked bins is small, whatever the logs are.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.schema import CONTRADICTORY, DUPLICATE, IDENTITY

_BINS = 1 << 22


def marked(good: DataFrame) -> DataFrame:
    """Add `may_repeat`: whether another row may have the same `IDENTITY`."""
    repeated = good.select("identity").groupBy("identity").count().where(fn.col("count") > 1)
    bins = repeated.select(_bin().alias("bin")).distinct().withColumn("repeats", fn.lit(True))
    joined = good.withColumn("bin", _bin()).join(fn.broadcast(bins), "bin", "left")
    return joined.withColumn("may_repeat", fn.col("repeats").isNotNull()).drop("bin", "repeats")


def with_duplicates(suspects: DataFrame) -> DataFrame:
    """Set `reason` to duplicate or contradictory in all but one row of each `IDENTITY`.

    The one that stays is the one received first; if that is not known or the same, the one of the
    smallest value, then of the first path.
    """
    order = (fn.asc_nulls_last("received"), fn.asc("value"), fn.asc("path"))
    same = Window.partitionBy(*IDENTITY).orderBy(*order)
    ranked = suspects.withColumns(
        {"rank": fn.row_number().over(same), "kept": fn.first("value").over(same)}
    )
    again = fn.when(fn.col("value") == fn.col("kept"), DUPLICATE).otherwise(CONTRADICTORY)
    judged = ranked.withColumn("reason", fn.when(fn.col("rank") > 1, again))
    return judged.drop("rank", "kept")


def _bin() -> Column:
    return fn.pmod("identity", fn.lit(_BINS))
