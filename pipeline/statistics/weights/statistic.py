"""One number of many values: the mean, an exact percentile, or the largest, and how sure it is.

The mean is the ratio of all sums; its confidence interval comes from the windows as blocks (the
ratio estimator), because tasks in the same window are not independent. A percentile is the value of
rank ceil(share * number), its interval two of the other values (by the binomial distribution of
ranks, as a normal one).
"""

from __future__ import annotations

import math
from statistics import NormalDist

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.series import REST_CPU

STATISTICS: dict[str, int | None] = {"mean": None, "p50": 50, "p95": 95, "max": 100}
"""Name -> per cent of the values that are at most it; ``None`` = no percentile."""

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

_SUMS = ("y", "x", "ee", "ex", "xx")
_SUBJECT = ("subject", "topology", "source", "a", "b")


MEANS = (
    "subject string, topology string, source string, a string, b string, y decimal(38,0), "
    "x decimal(38,0), n bigint, blocks int, ee double, ex double, xx double, step bigint, "
    "day date"
)
"""Sums of `SERIES` of one day, of `n` samples in `blocks` windows.

With e = y - r x of a window and r = `y` / `x` of the row, the others are sums of products: e e,
e x, and x x. The subjects of `SHOWN` have a row for each step of time, which begins at `step`,
milliseconds since 1970; the step of others is null.
"""

SHOWN = (w.CPU, REST_CPU, w.RECEIVED, w.SENT)
"""Subjects that a report shows over time."""


def means_of_days(series: DataFrame, step_s: int, *apart: str) -> DataFrame:
    """Give `MEANS` from `SERIES`.

    Parameters
    ----------
    series
        `SERIES`.
    step_s
        Length of a step of time, seconds.
    apart
        Columns by which rows are kept apart and partitioned: with them Spark needs no shuffle.
    """
    blocks = series.groupBy(*_SUBJECT, "day", "start", *apart).agg(
        fn.sum("y").alias("y"), fn.sum("x").alias("x"), fn.sum("n").alias("n")
    )
    step = fn.when(fn.col("subject").isin(*SHOWN), step_of(fn.unix_millis("start"), step_s))
    doubles = (fn.col(name).cast("double").alias(name) for name in ("y", "x"))
    # In the order of time, so that the doubles are added in the same order always.
    listed = (
        blocks.withColumn("step", step)
        .groupBy(*_SUBJECT, "day", "step", *apart)
        .agg(
            fn.sum("y").cast("decimal(38,0)").alias("y"),
            fn.sum("x").cast("decimal(38,0)").alias("x"),
            fn.sum("n").alias("n"),
            fn.array_sort(fn.collect_list(fn.struct("start", *doubles))).alias("listed"),
        )
    )
    errors = (
        "transform(listed, one -> struct(one.x as x, one.y - double(y) / double(x) * one.x as e))"
    )
    products = {"ee": "one.e * one.e", "ex": "one.e * one.x", "xx": "one.x * one.x"}
    sums = {
        name: fn.expr(f"aggregate(errors, 0D, (sum, one) -> sum + {product})")
        for name, product in products.items()
    }
    return (
        listed.withColumns({"blocks": fn.size("listed"), "errors": fn.expr(errors)})
        .withColumns(sums)
        .drop("listed", "errors")
    )


def table_of(statistic: str) -> str:
    """Return the name of the table of days that a statistic is computed from."""
    return "means" if STATISTICS[statistic] is None else "series"


def step_of(time_ms: Column, step_s: int) -> Column:
    """Give when the step begins that a time is in, both milliseconds since 1970."""
    length = fn.lit(1000 * step_s)
    return time_ms - fn.pmod(time_ms, length)


def means(days: DataFrame) -> DataFrame:
    """Give the mean of each subject from `MEANS` of all days.

    The columns are the sums `y` and `x`, `n` samples, `blocks` windows, and `error`, the standard
    error of ``y / x`` (null with one block).
    """
    listed = days.groupBy(*_SUBJECT).agg(
        *(fn.sum(name).cast("decimal(38,0)").alias(name) for name in ("y", "x")),
        *(fn.sum(name).alias(name) for name in ("n", "blocks")),
        fn.array_sort(fn.collect_list(fn.struct("day", "step", *_SUMS))).alias("days"),
    )
    # Of a window, y - R x with the ratio R of all days is e + (r - R) x.
    differences = (
        "transform(days, one -> struct(one.ee as ee, one.ex as ex, one.xx as xx, "
        "double(one.y) / double(one.x) - double(y) / double(x) as d))"
    )
    squares = (
        "aggregate(differences, 0D, (sum, one) -> "
        "sum + one.ee + 2 * one.d * one.ex + one.d * one.d * one.xx)"
    )
    error = "case when blocks > 1 then sqrt(squares * blocks / (blocks - 1)) / double(x) end"
    return (
        listed.withColumn("differences", fn.expr(differences))
        .withColumn("squares", fn.expr(squares))
        .withColumn("error", fn.expr(error))
        .drop("days", "differences", "squares")
    )


def percentiles(series: DataFrame, percent: int) -> DataFrame:
    """Give the value of each subject that `percent` of its values do not exceed.

    The columns are `y` and `x` of that value, `low` and `high` (structs of the same; null where
    there are too few values, and both of the largest value), and `n` samples.
    """
    subject = Window.partitionBy(*_SUBJECT)
    value = fn.col("y").cast("double") / fn.col("x").cast("double")
    ranked = series.withColumn(
        "rank", fn.row_number().over(subject.orderBy(value, "y", "x"))
    ).withColumn("count", fn.count(fn.lit(1)).over(subject))
    middle = fn.col("count") * percent / 100
    spread = fn.sqrt(middle * (100 - percent) / 100) * Z
    picks = {
        "at": fn.expr(f"(count * {percent} + 99) div 100"),
        "low": fn.floor(middle - spread),
        "high": fn.ceil(middle + spread) + 1,
    }
    if percent == 100:
        picks |= {"low": fn.lit(0), "high": fn.lit(0)}
    picked = (
        fn.max(fn.when(fn.col("rank") == rank, fn.struct("y", "x"))).alias(name)
        for name, rank in picks.items()
    )
    picked_values = ranked.groupBy(*_SUBJECT).agg(*picked, fn.sum("n").alias("n"))
    return picked_values.select(*_SUBJECT, "at.y", "at.x", "low", "high", "n")


def t_quantile(freedom: int) -> float:
    """Return the quantile of Student's t at the upper end of the confidence interval.

    By the expansion of Cornish and Fisher, from 3 degrees of freedom on within 1 %; exact for 1
    and 2.
    """
    if freedom == 1:
        return 12.7062047
    if freedom == 2:
        return 4.3026527
    z = Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
