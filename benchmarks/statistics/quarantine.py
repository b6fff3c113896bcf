"""From parsed lines to clean samples and the lines that are kept aside."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.benchmarks.statistics.clock_skew import clocks, on_time
from slotwise.benchmarks.statistics.columns import utc_day
from slotwise.benchmarks.statistics.duplicates import marked, with_duplicates
from slotwise.benchmarks.statistics.reading import Reading
from slotwise.benchmarks.statistics.resets import increments, is_reading
from slotwise.benchmarks.statistics.schema import QUARANTINE, SAMPLES, names


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
    good, bad = parsed.where(fn.col("reason").isNull()), parsed.where(fn.col("reason").isNotNull())
    nodes = clocks(good, reading)
    rows = marked(good)
    apart = fn.col("may_repeat") | is_reading()
    compared = on_time(with_duplicates(rows.where(apart)), nodes, reading)
    alone = on_time(rows.where(~apart), nodes, reading).withColumn("is_sample", fn.lit(True))
    judged = alone.unionByName(increments(compared, reading))
    time = fn.timestamp_seconds(fn.unix_seconds("time") + fn.col("skew_s"))
    corrected = judged.withColumn(
        "time", fn.when(fn.col("skew_s") == 0, fn.col("time")).otherwise(time)
    )
    samples = corrected.where(fn.col("reason").isNull() & fn.col("is_sample"))
    faults = fn.coalesce("reason", "note")
    aside = corrected.where(faults.isNotNull() & (fn.col("at") == 0)).withColumns(
        {"line": _in_words(), "used": fn.col("reason").isNull(), "reason": faults}
    )
    return Cleaned(
        samples=samples.withColumn("day", utc_day(fn.col("time"))).select(*names(SAMPLES)),
        quarantine=bad.withColumn("used", fn.lit(False))
        .select(*names(QUARANTINE))
        .unionByName(aside.select(*names(QUARANTINE))),
        clocks=nodes,
    )


def _in_words() -> Column:
    """Give a sample as text, for lines that are good in themselves and therefore not kept."""
    worker = fn.concat_ws(":", "node", fn.col("worker").cast("string"))
    task = fn.concat_ws(":", "task", "component")
    metric = fn.concat(
        fn.col("metric"), fn.coalesce(fn.concat(fn.lit("{"), "other", fn.lit("}")), fn.lit(""))
    )
    number = fn.concat(metric, fn.lit("="), fn.col("value").cast("string"))
    return fn.concat_ws(" ", fn.unix_seconds("time").cast("string"), worker, task, number)
