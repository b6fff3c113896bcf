"""From rows to runs: the latest row of each, with what it is compared with.

The references of an instance come from all of its exact rows, whatever their age: a proof stays
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.runs.arrays import leading_equal
from slotwise.benchmarks.aggregation.runs.reading import Exactness
from slotwise.benchmarks.aggregation.runs.stored import WRITTEN
from slotwise.benchmarks.grading.rows import OPTIMUM, SUCCEEDED, Kind, RunStatus, Subject
from slotwise.heuristics.sam.pairs import PAIRS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CASE = ("instance_hash", "seed")
"""Columns that name a case: an instance with a seed."""

RUN = (*CASE, "kind", "method")
"""Columns that name a run; of several rows only the latest counts."""

VIRTUAL = "virtual"
"""The ``kind`` of the virtual best."""

VIRTUAL_BEST = "virtual best"
"""The ``method`` whose values are the best of any heuristic, case by case."""


def judged_runs(rows: DataFrame, exact: Exactness) -> DataFrame:
    """Return the latest row of each run, with columns of its own and of its instance.

    Added: ``subject`` (placement or allocation), ``placed``, ``names`` (of the instance's terms),
    ``values`` (exact decimals; null where nothing is placed), ``bounds`` and ``known`` (the
    reference's: how many of the first terms have a proven optimum), ``reached`` (how many of the
    first terms are at their bound), ``impossible`` (proven infeasible), ``best`` (the virtual best
    of the case) and ``holders`` (how many methods have it), ``seconds``.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    instance, case = Window.partitionBy("instance_hash"), Window.partitionBy(*CASE)
    found = _with_values(rows, exact).withColumns(
        {
            "_strongest": F.max(_strength()).over(instance),
            "names": F.max(F.when(F.size("terms") > 0, F.col("terms.term"))).over(instance),
        }
    )
    latest = found.withColumn(
        "_newest", F.row_number().over(Window.partitionBy(*RUN).orderBy(F.desc(WRITTEN)))
    ).where("_newest = 1")
    infeasible = F.col("status") == RunStatus.INFEASIBLE
    mine = F.when(is_player() & F.col("placed"), F.col("values"))
    told = latest.withColumns(
        {
            "impossible": F.max(infeasible).over(instance),
            "best": F.min(mine).over(case),
            "bounds": F.transform("_strongest.bounds", lambda b: F.when(b >= 0, b)),
            "known": F.coalesce(F.col("_strongest.known"), F.lit(0)),
            "seconds": _seconds(),
        }
    )
    return told.withColumns(
        {
            "holders": F.sum((mine == F.col("best")).cast("int")).over(case),
            "reached": leading_equal(F.col("values"), F.col("bounds")),
        }
    ).drop("_strongest", "_newest", WRITTEN)


def is_player() -> Column:
    """Return whether a run is of a method that is compared: any but the exact engine."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("kind") != Kind.EXACT


def is_right_refusal() -> Column:
    """Return whether a run refused an instance that is proven infeasible."""
    from pyspark.sql import functions as F  # noqa: N812

    return (F.col("status") == RunStatus.REFUSED) & F.col("impossible")


def _with_values(rows: DataFrame, exact: Exactness) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    allocates = F.col("method").isin(*PAIRS, OPTIMUM)
    subject = F.when(allocates, str(Subject.ALLOCATION)).otherwise(str(Subject.PLACEMENT))
    placed = F.col("status").isin(*map(str, SUCCEEDED))

    def numbers(which: str) -> Column:
        return F.transform(F.col("terms")[which], lambda text: text.cast(exact.type))

    return rows.withColumns(
        {
            "subject": subject,
            "placed": placed,
            "values": F.when(placed, numbers("value")),
            "_bounds": numbers("bound"),
        }
    )


def _strength() -> Column:
    """Return what an exact row states, as a struct whose greatest is the strongest statement."""
    from pyspark.sql import functions as F  # noqa: N812

    known = leading_equal(F.col("values"), F.col("_bounds"))
    bounds = F.transform("_bounds", lambda bound: F.coalesce(bound, F.lit(-1)))
    says = ~is_player() & (F.size("terms") > 0)
    return F.when(says, F.struct(known.alias("known"), bounds.alias("bounds")))


def _seconds() -> Column:
    """Return the seconds of a run; one that did not end counts at its limit, at least."""
    from pyspark.sql import functions as F  # noqa: N812

    lost = F.col("status").isin(
        str(RunStatus.TIMEOUT), str(RunStatus.CRASHED), str(RunStatus.OUT_OF_MEMORY)
    )
    least = F.when(lost, F.col("time_limit_s")).otherwise(0.0)
    return F.greatest(least, F.coalesce(F.col("wall_s"), F.lit(0.0)))


def with_common(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Add ``common``: whether every compared method placed the case, in its group of `by`.

    Compared are the methods of a subject that place anything in the group; one that places nothing
    would leave no case.
    """
    from pyspark.sql import functions as F  # noqa: N812

    contest = [*by, "subject"]
    placing = F.when(is_player() & F.col("placed"), F.col("method"))
    rivals = runs.groupBy(*contest).agg(F.countDistinct(placing).alias("_rivals"))
    there = runs.groupBy(*contest, *CASE).agg(F.countDistinct(placing).alias("_there"))
    joined = runs.join(rivals, contest).join(there, [*contest, *CASE])
    common = (F.col("_rivals") > 0) & (F.col("_there") == F.col("_rivals"))
    return joined.withColumn("common", common).drop("_rivals", "_there")


def virtual_best(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return a run of the virtual best for each case that methods ran on (`with_common`)."""
    from pyspark.sql import functions as F  # noqa: N812

    same = ("names", "bounds", "known", "impossible", "best", "common")
    cases = runs.where(is_player()).groupBy(*by, "subject", *CASE)
    found = cases.agg(*(F.max(name).alias(name) for name in same))
    return found.withColumns(
        {
            "kind": F.lit(VIRTUAL),
            "method": F.lit(VIRTUAL_BEST),
            "values": F.col("best"),
            "placed": F.col("best").isNotNull(),
            "reached": leading_equal(F.col("best"), F.col("bounds")),
        }
    )
