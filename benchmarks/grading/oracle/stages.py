"""What follows what in a grading: methods, then exact runs, those that are checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.stages import Stage
from slotwise.benchmarks.grading.oracle.disagreement import stop_where_rows_disagree
from slotwise.benchmarks.grading.oracle.hints import METHODS, best_placements
from slotwise.benchmarks.grading.oracle.sample import is_sampled
from slotwise.benchmarks.grading.oracle.standing_rows import is_any, standing_rows
from slotwise.benchmarks.grading.rows import Kind, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ANSWERED = (RunStatus.OPTIMAL, RunStatus.FEASIBLE, RunStatus.INFEASIBLE)


def grading_stages(crosscheck: float, seed: int) -> tuple[Stage, ...]:
    """Return the stages of a grading that cross-checks this share of the instances.

    The exact runs of the sample come before the others, so that a disagreement stops the batch
    early.
    """
    methods = Stage("methods", lambda plan, rows: plan.where(is_any("kind", METHODS)))
    if not crosscheck:
        return methods, Stage("optima", exact_runs)

    def of_sample(plan: DataFrame, rows: DataFrame) -> DataFrame:
        return exact_runs(plan, rows).where(is_sampled(crosscheck, seed))

    return (
        methods,
        Stage("optima of the sample", of_sample),
        Stage("cross-checks", cross_checks, stop_where_rows_disagree),
        Stage("optima", exact_runs, stop_where_rows_disagree),
    )


def exact_runs(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the exact runs with the placement that each starts from, null where there is none."""
    exact = plan.where(is_any("kind", (Kind.EXACT,)))
    return exact.join(best_placements(plan, rows), "instance_hash", "left")


def cross_checks(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the cross-checks of exact runs that have an answer, with what was proven there."""
    from pyspark.sql import functions as fn

    exact = standing_rows(plan.where(is_any("kind", (Kind.EXACT,))), rows)
    answered = exact.where(is_any("status", ANSWERED) & fn.col("proofs").isNotNull())
    against = answered.select("instance_hash", "method", fn.col("proofs").alias("against"))
    checks = plan.where(is_any("kind", (Kind.CROSSCHECK,)))
    return checks.join(against, ["instance_hash", "method"])
