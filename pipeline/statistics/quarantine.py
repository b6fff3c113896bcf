"""From parsed lines to clean samples and the lines that are kept aside.

Samples that are there more than once are found exactly without sorting all of them. Two of the same
`IDENTITY` have the same hash. A hash that repeats marks one of some millions of bins; only rows in
marked bins are compared exactly. The others, nearly all, stay where they are, and the set of marked
bins is small, whatever the logs are.

A running total that falls was reset: its worker was restarted and counts from zero again. So does
a worker's uptime. What happened before the first reading, or since one long ago, is not known and
not a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.clock_skew import clocks, on_time
from slotwise.pipeline.statistics.columns import utc_day
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import (
    CONTRADICTORY,
    DUPLICATE,
    IDENTITY,
    JUDGED,
    QUARANTINE,
    RESET,
    SAMPLES,
    USED,
    names,
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of the parsed lines.

    Attributes
    ----------
    samples
        `SAMPLES`.
    quarantine
        `QUARANTINE`.
    clocks
        `CLOCKS`.
    """

    samples: DataFrame
    quarantine: DataFrame
    clocks: DataFrame


def cleaned(parsed: DataFrame, reading: Reading) -> Cleaned:
    """Judge the rows of `PARSED` by each other; it must hold all lines of a topology.

    Every line of it has samples, or is in the quarantine, or both (`used`), or has the first
    reading of a running total.
    """
    nodes = clocks(parsed.where(fn.col("reason").isNull()), reading)
    rows = judged(parsed, nodes, reading)
    return Cleaned(samples_of(rows), quarantine_of(rows), nodes)


def judged(parsed: DataFrame, nodes: DataFrame, reading: Reading) -> DataFrame:
    """Give `JUDGED` from `PARSED` and the `CLOCKS` of its nodes."""
    reason = fn.col("reason")
    good, bad = parsed.where(reason.isNull()), parsed.where(reason.isNotNull())
    rows = marked(good)
    apart = fn.col("may_repeat") | is_reading()
    compared = on_time(with_duplicates(rows.where(apart)), nodes, reading)
    alone = on_time(rows.where(~apart), nodes, reading).withColumn("is_sample", fn.lit(True))
    both = alone.unionByName(increments(compared, reading), allowMissingColumns=True)
    seconds = fn.timestamp_seconds(fn.unix_seconds("time") + fn.col("skew_s"))
    time = fn.when(fn.col("skew_s") == 0, fn.col("time")).otherwise(seconds)
    corrected = both.withColumn("time", time).withColumns(
        {
            "is_sample": reason.isNull() & fn.col("is_sample"),
            "is_aside": fn.coalesce("reason", "note").isNotNull() & (fn.col("at") == 0),
            "reason": fn.coalesce("reason", "note"),
        }
    )
    worded = corrected.withColumn("line", fn.when(fn.col("is_aside"), _in_words()))
    no_span = fn.lit(None).cast("bigint")
    faulty = bad.withColumns(
        {"is_sample": fn.lit(False), "is_aside": fn.lit(True), "span_us": no_span}
    )
    columns = names(JUDGED)
    return worded.select(*columns).unionByName(faulty.select(*columns))


def samples_of(rows: DataFrame) -> DataFrame:
    """Give `SAMPLES` from `JUDGED`."""
    samples = rows.where("is_sample").withColumn("day", utc_day(fn.col("time")))
    return samples.select(*names(SAMPLES))


def quarantine_of(rows: DataFrame) -> DataFrame:
    """Give `QUARANTINE` from `JUDGED`."""
    aside = rows.where("is_aside").withColumn("used", fn.col("reason").isin(*USED))
    return aside.select(*names(QUARANTINE))


def _in_words() -> Column:
    """Give a sample as text, for lines that are good in themselves and therefore not kept."""
    worker = fn.concat_ws(":", "node", fn.col("worker").cast("string"))
    task = fn.concat_ws(":", "task", "component")
    metric = fn.concat(
        fn.col("metric"), fn.coalesce(fn.concat(fn.lit("{"), "other", fn.lit("}")), fn.lit(""))
    )
    number = fn.concat(metric, fn.lit("="), fn.col("value").cast("string"))
    return fn.concat_ws(" ", fn.unix_seconds("time").cast("string"), worker, task, number)


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
