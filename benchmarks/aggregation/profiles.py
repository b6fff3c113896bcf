"""Performance profiles (Dolan and More, Mathematical Programming 91, 2002).

For each method and each tau the share of cases on which it is within tau times the best of all
methods. Every method has the same cases: those that all of its subject ran on, without the
instances proven infeasible; a failure is infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.arrays import collected, leading_equal, share_within
from slotwise.benchmarks.aggregation.runs.judged import CASE, is_player, with_rivals
from slotwise.benchmarks.aggregation.runs.terms import each_term

SECONDS = "seconds"
"""The profile of times; all others are named by their term."""

LEAST_SECONDS = 1e-3
"""Shorter times count as this: below it a clock measures itself."""

TAUS = (
    *(1.0, 1.001, 1.01, 1.02, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.75, 2.0, 2.5, 3.0),
    *(4.0, 5.0, 7.5, 10.0, 20.0, 50.0, 100.0, 1000.0),
)
"""Ratios at which a profile is given."""


def profiles(runs: DataFrame, by: Sequence[str], taus: Sequence[float] = TAUS) -> DataFrame:
    """Return the profile points of each method: of ``seconds``, and of each term as ``profile``.

    In a term a run that is not the best in an earlier one is infinitely far; at a best value of 0
    so is every other value.
    """
    shared = _shared_cases(runs, by)
    agreed = leading_equal(fn.col("values"), fn.col("best"))
    of_terms = each_term(shared.withColumn("_agreed", agreed)).select(
        *by, "method", "position", fn.col("term").alias("profile"), _value_ratio().alias("ratio")
    )
    of_time = shared.select(
        *by, "method", fn.lit(-1).alias("position"), fn.lit(SECONDS).alias("profile"),
        _time_ratio(by).alias("ratio"),
    )  # fmt: skip
    ratios = of_terms.union(of_time).groupBy(*by, "position", "profile", "method")
    all_ratios = ratios.agg(collected(fn.col("ratio")).alias("ratios"))
    points = all_ratios.select("*", fn.explode(fn.array(*map(fn.lit, taus))).alias("tau"))
    share = share_within(fn.col("ratios"), fn.col("tau")).alias("share")
    return points.select(
        *by, "position", "profile", "method", fn.size("ratios").alias("cases"), "tau", share
    )


def _shared_cases(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return the runs of the cases that every method of the subject ran on."""
    players = runs.where(is_player() & ~fn.col("impossible"))
    return with_rivals(players, by, fn.col("method")).where("_there = _rivals")


def _value_ratio() -> Column:
    value, best = fn.get("values", fn.col("at")), fn.get("best", fn.col("at"))
    in_play = fn.col("placed") & (fn.col("_agreed") >= fn.col("at"))
    ratio = fn.when(value == best, 1.0).when(best > 0, value.cast("double") / best.cast("double"))
    return fn.coalesce(fn.when(in_play, ratio), fn.lit(math.inf))


def _time_ratio(by: Sequence[str]) -> Column:
    seconds = fn.when(fn.col("placed"), fn.greatest(fn.col("seconds"), fn.lit(LEAST_SECONDS)))
    fastest = fn.min(seconds).over(Window.partitionBy(*by, "subject", *CASE))
    return fn.coalesce(seconds / fastest, fn.lit(math.inf))
