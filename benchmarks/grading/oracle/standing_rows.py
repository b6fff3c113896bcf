"""The rows that count for a plan, with their values as numbers that compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.rows import KEY, PROVEN, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NUMBER = "decimal(38,12)"
"""Of values and bounds: at most 2^53 steps, each of at most 12 decimal places."""

ANSWERED = (*PROVEN, RunStatus.FEASIBLE)
"""How exact runs end that found a placement or a proof; their bounds hold."""

USED = (
    *("engine", "status", "terms", "placement", "proofs", "instance", "workers", "hint_from"),
    "batch",
)


def standing_rows(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the newest row of each run of `plan` that has one: `KEY`, `USED`, values, bounds.

    ``values`` is an array with a number for each term, null where one has none; ``bounds`` has
    those of the leading terms that have one.
    """
    from pyspark.sql import functions as fn

    ours = rows.select(*KEY, *USED).join(plan.select(*KEY), list(KEY), "left_semi")
    newest = fn.max_by(fn.struct(*USED), fn.coalesce("batch", fn.lit(""))).alias("row")
    last = ours.groupBy(*KEY).agg(newest).select(*KEY, "row.*")
    numbers = fn.transform("terms", lambda term: term["value"].cast(NUMBER))
    complete = fn.forall(numbers, lambda number: number.isNotNull())
    bounds = fn.transform("terms", lambda term: term["bound"].cast(NUMBER))
    return last.withColumn("values", fn.when(complete, numbers)).withColumn(
        "bounds", fn.filter(bounds, lambda number: number.isNotNull())
    )
