"""Quantiles, means and the distribution (ECDF) of the gaps of each method in each term.

They are taken over one number per instance and method: its gap in a term, the mean over its seeds.
Which instances count is the ``basis``:

- ``all``: every instance whose optimum of the term is proven. No valid placement, an earlier term
  above its optimum, and a value above an optimum of 0 count as infinity, so failing more never
  looks better;
- ``common``: instances on which every compared method is settled in the term, with a ratio;
- ``placed``: those where the method itself is. It compares nothing: others may have been placed on
  harder ones;
- ``to bound``: like ``placed``, where only a bound is proven (the true gap lies below).

Which number it is, the ``measure``: ``gap`` and ``over_optimum`` (`terms`), and ``above_zero``, the
distance in the user's unit where the optimum is 0 (``common`` and ``placed`` only).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.arrays import (
    collected,
    mean_of,
    quantile_of,
    share_within,
)
from slotwise.benchmarks.aggregation.runs.judged import CASE, VIRTUAL, is_player

ALL, COMMON, PLACED, TO_BOUND = BASES = ("all", "common", "placed", "to bound")
"""Names of the sets of instances."""

GAP, OVER_OPTIMUM, ABOVE_ZERO = MEASURES = ("gap", "over_optimum", "above_zero")
"""Names of the numbers."""

OF = ("kind", "method", "position", "term", "measure", "basis")
"""Columns that say whose numbers these are, besides those of `by`."""


def instance_numbers(long: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return the numbers of `run_terms` with ``common``: one row per `by`, `OF` and instance.

    ``number`` is the mean over the seeds, ``seeds`` their number, ``seed_range`` the greatest less
    the least of them (null where that is not finite).
    """
    told = _with_common_term(long.where(~fn.col("impossible")), by)
    whose = (*by, "kind", "method", "position", "term", "instance_hash")
    each = told.select(*whose, fn.explode(_numbers()).alias("n"))
    found = each.where("n.number is not null").groupBy(
        *whose,
        fn.col("n.measure").alias("measure"),
        fn.col("n.basis").alias("basis"),
    )
    several = found.agg(collected(fn.col("n.number")).alias("numbers"))
    greatest = fn.array_max("numbers")
    spread = fn.when(greatest < math.inf, greatest - fn.array_min("numbers"))
    return several.select(
        *(*by, *OF, "instance_hash"),
        mean_of(fn.col("numbers")).alias("number"),
        fn.size("numbers").alias("seeds"),
        spread.alias("seed_range"),
    )


def _with_common_term(long: DataFrame, by: Sequence[str]) -> DataFrame:
    """Add whether all methods that placed a common case are settled, and have a ratio."""
    of_term = Window.partitionBy(*by, "subject", *CASE, "position")
    plays = is_player() & (fn.col("kind") != VIRTUAL) & fn.col("placed")
    settled = fn.min(fn.when(plays, fn.col("settled"))).over(of_term)
    ratio = fn.min(fn.when(plays, fn.col("gap").isNotNull())).over(of_term)
    common = fn.col("common") & fn.coalesce(settled, fn.lit(False))
    return long.withColumns(
        {"_common": common, "_common_ratio": common & fn.coalesce(ratio, fn.lit(False))}
    )


def _numbers() -> Column:
    """Return an array of the numbers of a run in a term; null ones do not count."""
    proven, zero = fn.col("proven"), fn.col("proven") & (fn.col("bound") == 0)
    distance = fn.col("above").cast("double")
    where = {COMMON: fn.col("_common_ratio"), PLACED: fn.lit(True)}
    numbers = []
    for measure in (GAP, OVER_OPTIMUM):
        number = fn.col(measure)
        infinite = fn.coalesce(number, fn.lit(math.inf))
        numbers.append((measure, ALL, fn.when(proven, infinite)))
        numbers += [
            (measure, name, fn.when(proven & which, number)) for name, which in where.items()
        ]
    numbers.append((GAP, TO_BOUND, fn.when(~proven, fn.col(GAP))))
    numbers.append((ABOVE_ZERO, COMMON, fn.when(zero & fn.col("_common"), distance)))
    numbers.append((ABOVE_ZERO, PLACED, fn.when(zero, distance)))
    return fn.array(
        *(
            fn.struct(
                fn.lit(measure).alias("measure"),
                fn.lit(basis).alias("basis"),
                number.alias("number"),
            )
            for measure, basis, number in numbers
        )
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
