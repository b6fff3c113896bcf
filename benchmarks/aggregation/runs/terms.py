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

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from slotwise.models.values import GAP_FLOOR


def each_term(runs: DataFrame) -> DataFrame:
    """Return `judged_runs` (or some of their columns) with a row for each term of the instance.

    Added: ``at``, where the instance's arrays have the term (from 0); ``term``, its name; and
    ``position``, its rank among the terms of all instances, some of which have fewer.
    """
    spread = runs.select("*", fn.posexplode("names").alias("at", "term"))
    return spread.withColumn("position", fn.get("ranks", fn.col("at")))


def run_terms(runs: DataFrame) -> DataFrame:
    """Return `judged_runs` (or some of their columns) with a row for each term of the instance.

    Added: what `each_term` adds, ``value``, ``bound``, ``proven`` (the bound is the optimum),
    ``settled``, ``above`` (value - bound, exact), ``gap``, ``over_optimum``; what does not exist is
    null.
    """
    at = fn.col("at")
    told = each_term(runs).withColumns(
        {
            "value": fn.get("values", at),
            "bound": fn.get("bounds", at),
            "proven": at < fn.col("known"),
            "settled": fn.col("placed") & (fn.col("reached") >= at),
        }
    )
    value, bound = fn.col("value"), fn.col("bound")
    comparable = fn.col("settled") & bound.isNotNull()
    above = fn.when(comparable, value - bound)
    size = fn.greatest(fn.abs(value).cast("double"), fn.lit(float(GAP_FLOOR)))
    is_at, has_ratio = above == 0, bound != 0
    distance = above.cast("double")
    gap = fn.when(is_at, 0.0).when(has_ratio, distance / size)
    over = fn.when(is_at, 0.0).when(has_ratio, distance / bound.cast("double"))
    return told.withColumns(
        {"above": above, "gap": gap, "over_optimum": fn.when(fn.col("proven"), over)}
    )
