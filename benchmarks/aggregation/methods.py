"""Counts and seconds of each method, and why it failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.runs.arrays import collected, mean_of
from slotwise.benchmarks.aggregation.runs.judged import is_player, is_right_refusal
from slotwise.benchmarks.analysis.measures import TIME_SHIFT_S
from slotwise.benchmarks.grading.rows import RunStatus

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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
    from pyspark.sql import functions as F  # noqa: N812

    status, placed, common = F.col("status"), F.col("placed"), F.col("common")
    right = is_right_refusal()
    infeasible, refused = status == RunStatus.INFEASIBLE, (status == RunStatus.REFUSED) & ~right
    succeeded = placed | infeasible | right
    counted = is_player() & ~F.col("impossible")
    is_best = F.coalesce(F.col("values") == F.col("best"), F.lit(False))
    win, tie = is_best & (F.col("holders") == 1), is_best & (F.col("holders") > 1)
    complete = placed & (F.col("reached") == F.size("names"))
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
        "contradictions": placed & (F.col("impossible") | _is_below_bound()),
    }
    grouped = runs.groupBy(*by, "kind", "method").agg(
        F.count("*").alias("runs"),
        F.countDistinct("instance_hash").alias("instances"),
        *(F.count_if(what).alias(name) for name, what in counts.items()),
        _geometric_mean(F.col("seconds")).alias("seconds"),
        _geometric_mean(F.when(common, F.col("seconds"))).alias("common_seconds"),
    )
    return grouped.select(*by, "kind", "method", *COUNTS, "seconds", "common_seconds")


def _is_below_bound() -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    value, bound = F.get("values", F.col("reached")), F.get("bounds", F.col("reached"))
    return F.coalesce(value < bound, F.lit(False))


def _geometric_mean(seconds: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    logs = collected(F.log(seconds + TIME_SHIFT_S))
    return F.greatest(F.exp(mean_of(logs)) - TIME_SHIFT_S, F.lit(0.0))


def failures(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return how often each method gave no placement, by status and reason in words.

    A refusal that was right and a proof that there is none are no failures.
    """
    from pyspark.sql import functions as F  # noqa: N812

    failed = ~F.col("placed") & (F.col("status") != RunStatus.INFEASIBLE) & ~is_right_refusal()
    told = runs.where(failed).withColumn("why", _reason())
    return told.groupBy(*by, "kind", "method", "status", "why").agg(F.count("*").alias("runs"))


def _reason() -> Column:
    """Return why there is no placement, as `benchmarks.analysis.measures.reason_of` has it."""
    from pyspark.sql import functions as F  # noqa: N812

    rules = F.transform("violations", lambda text: F.substring_index(text, ":", 1))
    broken = F.array_join(F.array_sort(F.array_distinct(rules)), ", ")

    def said(column: str) -> Column:
        return F.coalesce(F.col(column), F.lit("None"))

    status = F.col("status")
    return (
        F.when(
            status == RunStatus.INVALID, F.concat(F.lit("breaks "), F.coalesce(broken, F.lit("")))
        )
        .when(status == RunStatus.REFUSED, F.concat(F.lit("refused: "), said("reason")))
        .when(status == RunStatus.UNKNOWN, "nothing found within the limit")
        .otherwise(F.concat(status, F.lit(": "), said("error")))
    )
