"""The placement that an exact run starts from: the best of all methods of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.runs import is_any
from slotwise.benchmarks.grading.oracle.standing_rows import standing_rows
from slotwise.benchmarks.grading.rows import Kind, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

METHODS = (Kind.HEURISTIC, Kind.EXTERNAL)


def with_hints(runs: DataFrame, plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return exact runs with ``hint`` and ``hint_from``; null where no method has a placement."""
    some = rows.join(runs.select("instance_hash"), "instance_hash", "left_semi")
    return runs.join(best_placements(plan, some), "instance_hash", "left")


def best_placements(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the instance, ``hint`` and ``hint_from`` of the best valid placement of a method.

    By the values of all terms in order, then by the method's name. It depends on the plan and its
    rows alone, not on when they came, nor on rows of other plans in the folder.
    """
    from pyspark.sql import functions as fn

    methods = plan.where(is_any("kind", METHODS))
    valid = standing_rows(methods, rows).where(
        is_any("status", (RunStatus.VALID,)) & fn.col("placement").isNotNull()
    )
    best = fn.min_by(
        fn.struct(fn.col("placement").alias("hint"), fn.col("method").alias("hint_from")),
        fn.struct("values", "method"),
    )
    return valid.groupBy("instance_hash").agg(best.alias("best")).select("instance_hash", "best.*")
