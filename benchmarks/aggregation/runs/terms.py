"""One row for each run and term: its value, bound and gaps, never mixed with other terms'.

A term counts only where all earlier ones are at their proven optimum (``settled``): its bound holds
only then. Of a settled term with a bound

- ``gap`` = (value - bound) / max(|value|, 10^-6), as solvers and `slotwise report` have it: below
  100 %, also to a bound that is not the optimum;
- ``over_optimum`` = (value - optimum) / optimum, as papers have it, where the optimum is proven:
  twice the optimum is 100 %.

Where the optimum or bound is 0, both are 0 at it and null above it, for there is no ratio; the
distance in the user's unit is ``above``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.models.values import GAP_FLOOR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def run_terms(runs: DataFrame) -> DataFrame:
    """Return `judged_runs` (or some of their columns) with a row for each term of the instance.

    Added: ``position`` (from 0), ``term``, ``value``, ``bound``, ``proven`` (the bound is the
    optimum), ``settled``, ``above`` (value - bound, exact), ``gap``, ``over_optimum``; what does
    not exist is null.
    """
    from pyspark.sql import functions as F  # noqa: N812

    spread = runs.select("*", F.posexplode("names").alias("position", "term"))
    position = F.col("position")
    told = spread.withColumns(
        {
            "value": F.get("values", position),
            "bound": F.get("bounds", position),
            "proven": position < F.col("known"),
            "settled": F.col("placed") & (F.col("reached") >= position),
        }
    )
    value, bound = F.col("value"), F.col("bound")
    comparable = F.col("settled") & bound.isNotNull()
    above = F.when(comparable, value - bound)
    size = F.greatest(F.abs(value).cast("double"), F.lit(float(GAP_FLOOR)))
    is_at, has_ratio = above == 0, bound != 0
    distance = above.cast("double")
    gap = F.when(is_at, 0.0).when(has_ratio, distance / size)
    over = F.when(is_at, 0.0).when(has_ratio, distance / bound.cast("double"))
    return told.withColumns(
        {"above": above, "gap": gap, "over_optimum": F.when(F.col("proven"), over)}
    )
