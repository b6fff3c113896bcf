"""Pairs of rows that cannot both be right: a proof, and a placement that it says there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.runs import is_any
from slotwise.benchmarks.grading.oracle.standing_rows import ANSWERED, standing_rows
from slotwise.benchmarks.grading.rows import EXACT_KINDS, KEY, SUCCEEDED, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def contradictions(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the pairs ``proof``, ``placed`` of rows of an instance that contradict each other.

    A valid placement of any run is below a proven bound, all terms before at their optima, or the
    proof says that there is none. Two different proven optima are such a pair: the smaller value is
    below the other's bound.
    """
    from pyspark.sql import functions as fn

    ours = standing_rows(plan, rows)
    whole = fn.struct(*KEY, *(name for name in ours.columns if name not in KEY))
    proofs = ours.where(is_any("kind", EXACT_KINDS) & is_any("status", ANSWERED))
    placed = ours.where(is_any("status", SUCCEEDED))
    pairs = proofs.select("instance_hash", whole.alias("proof")).join(
        placed.select("instance_hash", whole.alias("placed")), "instance_hash"
    )
    bounds, values = fn.col("proof.bounds"), fn.col("placed.values")
    below = (fn.size(bounds) > 0) & (fn.slice(values, 1, fn.size(bounds)) < bounds)
    none = fn.col("proof.status") == str(RunStatus.INFEASIBLE)
    order = ("proof.instance", "proof.kind", "placed.kind", "placed.method")
    return pairs.where(none | below).orderBy(*order)
