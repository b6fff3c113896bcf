"""One number per instance and method: its gap in a term, the mean over its seeds.

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
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.runs.arrays import collected, mean_of
from slotwise.benchmarks.aggregation.runs.judged import CASE, VIRTUAL, is_player

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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
    from pyspark.sql import functions as F  # noqa: N812

    told = long.where(~F.col("impossible")).transform(lambda rows: _with_common_term(rows, by))
    each = told.select(
        *by, "kind", "method", "position", "term", "instance_hash", F.explode(_numbers()).alias("n")
    )
    found = each.where("n.number is not null").groupBy(
        *by,
        *("kind", "method", "position", "term", "instance_hash"),
        F.col("n.measure").alias("measure"),
        F.col("n.basis").alias("basis"),
    )
    several = found.agg(collected(F.col("n.number")).alias("numbers"))
    greatest = F.array_max("numbers")
    spread = F.when(greatest < math.inf, greatest - F.array_min("numbers"))
    return several.select(
        *(*by, *OF, "instance_hash"),
        mean_of(F.col("numbers")).alias("number"),
        F.size("numbers").alias("seeds"),
        spread.alias("seed_range"),
    )


def _with_common_term(long: DataFrame, by: Sequence[str]) -> DataFrame:
    """Add whether all methods that placed a common case are settled, and have a ratio."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    of_term = Window.partitionBy(*by, "subject", *CASE, "position")
    plays = is_player() & (F.col("kind") != VIRTUAL) & F.col("placed")
    settled = F.min(F.when(plays, F.col("settled"))).over(of_term)
    ratio = F.min(F.when(plays, F.col("gap").isNotNull())).over(of_term)
    common = F.col("common") & F.coalesce(settled, F.lit(False))
    return long.withColumns(
        {"_common": common, "_common_ratio": common & F.coalesce(ratio, F.lit(False))}
    )


def _numbers() -> Column:
    """Return an array of the numbers of a run in a term; null ones do not count."""
    from pyspark.sql import functions as F  # noqa: N812

    proven, zero = F.col("proven"), F.col("proven") & (F.col("bound") == 0)
    distance = F.col("above").cast("double")
    where = {COMMON: F.col("_common_ratio"), PLACED: F.lit(True)}
    numbers = []
    for measure in (GAP, OVER_OPTIMUM):
        number = F.col(measure)
        infinite = F.coalesce(number, F.lit(math.inf))
        numbers.append((measure, ALL, F.when(proven, infinite)))
        numbers += [
            (measure, name, F.when(proven & which, number)) for name, which in where.items()
        ]
    numbers.append((GAP, TO_BOUND, F.when(~proven, F.col(GAP))))
    numbers.append((ABOVE_ZERO, COMMON, F.when(zero & F.col("_common"), distance)))
    numbers.append((ABOVE_ZERO, PLACED, F.when(zero, distance)))
    return F.array(
        *(
            F.struct(
                F.lit(measure).alias("measure"), F.lit(basis).alias("basis"), number.alias("number")
            )
            for measure, basis, number in numbers
        )
    )
