"""What follows what in a grading: methods, then exact runs, those that are checked first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.runs import is_any
from slotwise.benchmarks.grading.batch.start import Stage
from slotwise.benchmarks.grading.oracle.disagreement import stop_where_rows_disagree
from slotwise.benchmarks.grading.oracle.standing_rows import ANSWERED, standing_rows
from slotwise.benchmarks.grading.rows import Kind, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


METHODS = (Kind.HEURISTIC, Kind.EXTERNAL)


def with_hints(runs: DataFrame, plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return exact runs with ``hint`` and ``hint_from``; null where no method has a placement."""
    some = rows.join(runs.select("instance_hash"), "instance_hash", "left_semi")
    return runs.join(best_placements(plan, some), "instance_hash", "left")


def best_placements(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the instance, ``hint`` and ``hint_from`` of the best valid placement of a method.

    By the values of all terms in order, then by the method's name, its seed and version, and the
    placement's text, so that there is no tie. It depends on the plan and its rows alone, not on
    when they came, nor on rows of other plans in the folder.
    """
    from pyspark.sql import functions as fn

    methods = plan.where(is_any("kind", METHODS))
    valid = standing_rows(methods, rows).where(
        is_any("status", (RunStatus.VALID,)) & fn.col("placement").isNotNull()
    )
    best = fn.min_by(
        fn.struct(fn.col("placement").alias("hint"), fn.col("method").alias("hint_from")),
        fn.struct("values", "method", "seed", "version", "placement"),
    )
    return valid.groupBy("instance_hash").agg(best.alias("best")).select("instance_hash", "best.*")


def grading_stages(crosscheck: float, seed: int) -> tuple[Stage, ...]:
    """Return the stages of a grading that cross-checks this share of the instances.

    The exact runs of the sample come before the others, so that a disagreement stops the batch
    early.
    """
    methods = Stage(of_kinds(*METHODS))
    exact = of_kinds(Kind.EXACT)
    if not crosscheck:
        return methods, Stage(exact, with_hints)

    def of_sample(plan: DataFrame) -> DataFrame:
        return exact(plan).where(is_sampled(crosscheck, seed))

    def of_others(plan: DataFrame) -> DataFrame:
        return exact(plan).where(~is_sampled(crosscheck, seed))

    return (
        methods,
        Stage(of_sample, with_hints),
        Stage(of_kinds(Kind.CROSSCHECK), with_proofs, then=stop_where_rows_disagree),
        Stage(of_others, with_hints, then=stop_where_rows_disagree),
    )


def of_kinds(*kinds: Kind) -> Callable[[DataFrame], DataFrame]:
    """Return the choice of the plan's runs of these kinds."""
    return lambda plan: plan.where(is_any("kind", kinds))


def with_proofs(runs: DataFrame, plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the cross-checks of exact runs that have an answer, with what was proven there."""
    from pyspark.sql import functions as fn

    some = rows.join(runs.select("instance_hash"), "instance_hash", "left_semi")
    exact = standing_rows(plan.where(is_any("kind", (Kind.EXACT,))), some)
    answered = exact.where(is_any("status", ANSWERED) & fn.col("proofs").isNotNull())
    against = answered.select("instance_hash", "method", fn.col("proofs").alias("against"))
    return runs.join(against, ["instance_hash", "method"])


DIGITS = 8
"""Hexadecimal digits of the hash that decide."""


def is_sampled(share: float, seed: int) -> Column:
    """Return whether an instance is in the sample: whatever else is graded, and in what order."""
    from pyspark.sql import functions as fn

    drawn = fn.sha2(fn.concat("instance_hash", fn.lit(f":{seed}")), 256)
    number = fn.conv(fn.substring(drawn, 1, DIGITS), 16, 10).cast("double")
    return number < fn.lit(share * 16.0**DIGITS)


def without_unsampled(plan: DataFrame, share: float, seed: int) -> DataFrame:
    """Return the plan with the cross-checks of the sample only."""
    from pyspark.sql import functions as fn

    return plan.where((fn.col("kind") != str(Kind.CROSSCHECK)) | is_sampled(share, seed))
