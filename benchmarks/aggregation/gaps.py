"""Quantiles, means and the distribution (ECDF) of the gaps of each method in each term."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.gap_numbers import OF
from slotwise.benchmarks.aggregation.runs.arrays import (
    collected,
    mean_of,
    quantile_of,
    share_within,
)

QUANTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75, "p95": 0.95}
"""Names of the quantiles and their shares."""

ECDF_AT = (
    *(0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4),
    *(0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0),
)
"""Gaps at which the distribution is given."""


def gap_statistics(numbers: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return what `instance_numbers` come to: a row for each of `by` and `OF`.

    ``instances`` = how many numbers; ``reached`` = how many are finite; ``at_optimum`` = how many
    are 0; ``mean`` (null where a number is infinite), `QUANTILES`, ``most``; ``seeds`` = most seeds
    of an instance, ``seed_range`` = mean of its spread over them; ``numbers`` = all, sorted.
    """
    grouped = numbers.groupBy(*by, *OF).agg(
        collected(fn.col("number")).alias("numbers"),
        fn.max("seeds").alias("seeds"),
        mean_of(collected(fn.col("seed_range"))).alias("seed_range"),
    )
    all_numbers = fn.col("numbers")
    finite = fn.filter(all_numbers, lambda number: number < math.inf)
    at = fn.filter(all_numbers, lambda number: number == 0)
    told = grouped.withColumns(
        {
            "instances": fn.size(all_numbers),
            "reached": fn.size(finite),
            "at_optimum": fn.size(at),
            "mean": fn.when(fn.array_max(all_numbers) < math.inf, mean_of(all_numbers)),
            **{name: quantile_of(all_numbers, share) for name, share in QUANTILES.items()},
            "most": fn.array_max(all_numbers),
        }
    )
    names = ("instances", "reached", "at_optimum", "mean", *QUANTILES, "most")
    return told.select(*by, *OF, *names, "seeds", "seed_range", "numbers")


def ecdf(statistics: DataFrame, by: Sequence[str], at: Sequence[float] = ECDF_AT) -> DataFrame:
    """Return the share of instances within each gap of `at`, for each row of `gap_statistics`."""
    points = fn.explode(fn.array(*map(fn.lit, at))).alias("within")
    each = statistics.select(*by, *OF, "instances", "numbers", points)
    share = share_within(fn.col("numbers"), fn.col("within")).alias("share")
    return each.select(*by, *OF, "instances", "within", share)
