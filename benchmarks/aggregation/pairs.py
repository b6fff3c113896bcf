"""Every two methods against each other: win, tie, loss, and by how much in each term."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.arrays import collected, leading_equal, mean_of
from slotwise.benchmarks.aggregation.runs.judged import CASE, is_player
from slotwise.benchmarks.aggregation.runs.terms import each_term

PAIR = ("method", "rival")
"""Columns that name a pair; each pair has one row, the first in the alphabet is ``method``."""


def meetings(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return the cases that two methods of a subject both ran on, one row for each two.

    Instances that are proven infeasible are left out. ``placed`` and ``values`` are of ``method``,
    ``rival_placed`` and ``rival_values`` of the other one.
    """
    keys = [*by, "subject", *CASE]
    players = runs.where(is_player() & ~fn.col("impossible"))
    mine = players.select(*keys, "names", "ranks", "common", "method", "placed", "values")
    other = players.select(
        *keys,
        fn.col("method").alias("rival"),
        fn.col("placed").alias("rival_placed"),
        fn.col("values").alias("rival_values"),
    )
    return mine.join(other, keys).where("method < rival")


def pair_counts(met: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return how often each of two methods is better: on all cases that both ran on, and common.

    Whoever places wins against a failure; ``neither`` = both failed.
    """
    a, b = fn.col("placed"), fn.col("rival_placed")
    better = fn.coalesce(fn.col("values") < fn.col("rival_values"), fn.lit(False))
    equal = fn.coalesce(fn.col("values") == fn.col("rival_values"), fn.lit(False))
    win = a & (~b | better)
    loss = b & ~win & ~equal
    ended = {"wins": win, "ties": equal, "losses": loss}
    common = {f"common_{name}": fn.col("common") & what for name, what in ended.items()}
    counts = {**ended, "neither": ~a & ~b, **common}
    return met.groupBy(*by, *PAIR).agg(
        fn.count("*").alias("cases"),
        *(fn.count_if(what).alias(name) for name, what in counts.items()),
    )


def pair_differences(met: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return the differences of each two methods in each term, one number per instance, sorted.

    The difference is (value - rival's value) / the greater of the two, from -1 to 1: negative where
    ``method`` is better. It needs no optimum. A term counts where both placed and agree in
    all earlier terms; over seeds it is the mean.
    """
    both = met.where("placed and rival_placed")
    agreed = leading_equal(fn.col("values"), fn.col("rival_values"))
    each = each_term(both.withColumn("_agreed", agreed))
    differences = each.where("_agreed >= at").withColumn("difference", _difference())
    per_instance = differences.groupBy(*by, *PAIR, "position", "term", "instance_hash").agg(
        mean_of(collected(fn.col("difference"))).alias("difference")
    )
    return per_instance.groupBy(*by, *PAIR, "position", "term").agg(
        collected(fn.col("difference")).alias("differences")
    )


def _difference() -> Column:
    value = fn.get("values", fn.col("at"))
    rival = fn.get("rival_values", fn.col("at"))
    apart = (value - rival).cast("double") / fn.greatest(value, rival).cast("double")
    return fn.when(value == rival, 0.0).otherwise(apart)
