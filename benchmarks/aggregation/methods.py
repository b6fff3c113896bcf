"""Counts and seconds of each method, and why it failed."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.arrays import collected, mean_of
from slotwise.benchmarks.aggregation.runs.judged import is_player, is_right_refusal
from slotwise.benchmarks.analysis.measures import TIME_SHIFT_S
from slotwise.benchmarks.grading.rows import RunStatus

COUNTS = (
    *("runs", "instances", "solved", "valid", "infeasible", "rightly_refused", "refused"),
    *("failed", "timeouts", "proven", "optimal", "common", "wins", "ties", "losses"),
    *("common_wins", "common_ties", "common_losses", "contradictions"),
)
"""Columns of `method_counts` that are numbers of runs (``instances``: of instances)."""


def method_counts(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return what the runs of each method come to, in each group of `by` (`with_common`).

    ``solved`` = valid + infeasible + rightly_refused; ``proven`` = runs of an exact engine that
    ended with a proof; ``optimal`` = runs at the proven optimum of every term; ``wins``, ``ties``,
    ``losses`` = cases in which the method alone is the virtual best, shares it, or is not (a
    failure is a loss; instances proven infeasible do not count), ``common_...`` the same on the
    cases that every method placed; ``contradictions`` = values below a proven bound, or placements
    of instances proven infeasible; ``seconds``, ``common_seconds`` = geometric means shifted by
    `TIME_SHIFT_S`, timeouts and crashes at the limit.
    """
    status, placed, common = fn.col("status"), fn.col("placed"), fn.col("common")
    right = is_right_refusal()
    infeasible, refused = status == RunStatus.INFEASIBLE, (status == RunStatus.REFUSED) & ~right
    succeeded = placed | infeasible | right
    counted = is_player() & ~fn.col("impossible")
    is_best = fn.coalesce(fn.col("values") == fn.col("best"), fn.lit(False))
    win, tie = is_best & (fn.col("holders") == 1), is_best & (fn.col("holders") > 1)
    complete = placed & (fn.col("reached") == fn.size("names"))
    counts = {
        "solved": succeeded,
        "valid": placed,
        "infeasible": infeasible,
        "rightly_refused": right,
        "refused": refused,
        "failed": ~succeeded & ~refused,
        "timeouts": status == RunStatus.TIMEOUT,
        "proven": status.isin(str(RunStatus.OPTIMAL), str(RunStatus.INFEASIBLE)),
        "optimal": complete,
        "common": common,
        "wins": counted & win,
        "ties": counted & tie,
        "losses": counted & ~is_best,
        "common_wins": counted & common & win,
        "common_ties": counted & common & tie,
        "common_losses": counted & common & ~is_best,
        "contradictions": placed & (fn.col("impossible") | _is_below_bound()),
    }
    grouped = runs.groupBy(*by, "kind", "method").agg(
        fn.count("*").alias("runs"),
        fn.countDistinct("instance_hash").alias("instances"),
        *(fn.count_if(what).alias(name) for name, what in counts.items()),
        _geometric_mean(fn.col("seconds")).alias("seconds"),
        _geometric_mean(fn.when(common, fn.col("seconds"))).alias("common_seconds"),
    )
    return grouped.select(*by, "kind", "method", *COUNTS, "seconds", "common_seconds")


def _is_below_bound() -> Column:
    value, bound = fn.get("values", fn.col("reached")), fn.get("bounds", fn.col("reached"))
    return fn.coalesce(value < bound, fn.lit(False))


def _geometric_mean(seconds: Column) -> Column:
    logs = collected(fn.log(seconds + TIME_SHIFT_S))
    return fn.greatest(fn.exp(mean_of(logs)) - TIME_SHIFT_S, fn.lit(0.0))


def failures(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return how often each method gave no placement, by status and reason in words.

    A refusal that was right and a proof that there is none are no failures.
    """
    failed = ~fn.col("placed") & (fn.col("status") != RunStatus.INFEASIBLE) & ~is_right_refusal()
    told = runs.where(failed).withColumn("why", _reason())
    return told.groupBy(*by, "kind", "method", "status", "why").agg(fn.count("*").alias("runs"))


def _reason() -> Column:
    """Return why there is no placement, as `benchmarks.analysis.measures.reason_of` has it."""
    rules = fn.transform("violations", lambda text: fn.substring_index(text, ":", 1))
    broken = fn.array_join(fn.array_sort(fn.array_distinct(rules)), ", ")

    def said(column: str) -> Column:
        return fn.coalesce(fn.col(column), fn.lit("None"))

    status = fn.col("status")
    return (
        fn.when(
            status == RunStatus.INVALID,
            fn.concat(fn.lit("breaks "), fn.coalesce(broken, fn.lit(""))),
        )
        .when(status == RunStatus.REFUSED, fn.concat(fn.lit("refused: "), said("reason")))
        .when(status == RunStatus.UNKNOWN, "nothing found within the limit")
        .otherwise(fn.concat(status, fn.lit(": "), said("error")))
    )
