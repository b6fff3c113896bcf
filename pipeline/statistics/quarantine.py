"""From parsed lines to clean samples and the lines that are kept aside."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.clock_skew import clocks, on_time
from slotwise.pipeline.statistics.columns import utc_day
from slotwise.pipeline.statistics.duplicates import marked, with_duplicates
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.resets import increments, is_reading
from slotwise.pipeline.statistics.schema import JUDGED, QUARANTINE, SAMPLES, USED, names


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
