"""From rows to runs: the latest row of each, with what it is compared with.

The references of an instance come from all of its exact rows, whatever their age: a proof stays
one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.arrays import leading_equal
from slotwise.benchmarks.aggregation.runs.reading import Exactness
from slotwise.benchmarks.aggregation.runs.stored import WRITTEN
from slotwise.benchmarks.analysis.measures import KILLED
from slotwise.benchmarks.grading.rows import OPTIMUM, SUCCEEDED, Kind, RunStatus, Subject
from slotwise.heuristics.sam.pairs import PAIRS

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
    ``ranks`` (of these among the terms of all instances, from 0),
    ``values`` (exact decimals; null where nothing is placed), ``bounds`` and ``known`` (the
    reference's: how many of the first terms have a proven optimum), ``reached`` (how many of the
    first terms are at their bound), ``impossible`` (proven infeasible), ``best`` (the virtual best
    of the case) and ``holders`` (how many methods have it), ``seconds``.
    """
    instance, case = Window.partitionBy("instance_hash"), Window.partitionBy(*CASE)
    found = _with_values(rows, exact).withColumns(
        {
            "_strongest": fn.max(_strength()).over(instance),
            "names": fn.max(fn.when(fn.size("terms") > 0, fn.col("terms.term"))).over(instance),
        }
    )
    latest = found.withColumn(
        "_newest", fn.row_number().over(Window.partitionBy(*RUN).orderBy(fn.desc(WRITTEN)))
    ).where("_newest = 1")
    every = fn.array(*map(fn.lit, exact.terms)).cast("array<string>")
    infeasible = fn.col("status") == RunStatus.INFEASIBLE
    mine = fn.when(is_player() & fn.col("placed"), fn.col("values"))
    told = latest.withColumns(
        {
            "impossible": fn.max(infeasible).over(instance),
            "best": fn.min(mine).over(case),
            "ranks": fn.transform(
                "names", lambda name: (fn.array_position(every, name) - 1).cast("int")
            ),
            "bounds": fn.transform("_strongest.bounds", lambda b: fn.when(b >= 0, b)),
            "known": fn.coalesce(fn.col("_strongest.known"), fn.lit(0)),
            "seconds": _seconds(),
        }
    )
    return told.withColumns(
        {
            "holders": fn.sum((mine == fn.col("best")).cast("int")).over(case),
            "reached": leading_equal(fn.col("values"), fn.col("bounds")),
        }
    ).drop("_strongest", "_newest", WRITTEN)


def is_player() -> Column:
    """Return whether a run is of a method that is compared: any but the exact engine."""
    return fn.col("kind") != Kind.EXACT


def is_right_refusal() -> Column:
    """Return whether a run refused an instance that is proven infeasible."""
    return (fn.col("status") == RunStatus.REFUSED) & fn.col("impossible")


def _with_values(rows: DataFrame, exact: Exactness) -> DataFrame:
    allocates = fn.col("method").isin(*PAIRS, OPTIMUM)
    subject = fn.when(allocates, str(Subject.ALLOCATION)).otherwise(str(Subject.PLACEMENT))
    placed = fn.col("status").isin(*map(str, SUCCEEDED))

    def numbers(which: str) -> Column:
        return fn.transform(fn.col("terms")[which], lambda text: text.cast(exact.type))

    return rows.withColumns(
        {
            "subject": subject,
            "placed": placed,
            "values": fn.when(placed, numbers("value")),
            "_bounds": numbers("bound"),
        }
    )


def _strength() -> Column:
    """Return what an exact row states, as a struct whose greatest is the strongest statement."""
    known = leading_equal(fn.col("values"), fn.col("_bounds"))
    bounds = fn.transform("_bounds", lambda bound: fn.coalesce(bound, fn.lit(-1)))
    says = ~is_player() & (fn.size("terms") > 0)
    return fn.when(says, fn.struct(known.alias("known"), bounds.alias("bounds")))


def _seconds() -> Column:
    """Return the seconds of a run; one that did not end counts at its limit, at least."""
    killed = fn.col("status").isin(*map(str, KILLED))
    least = fn.when(killed, fn.col("time_limit_s")).otherwise(0.0)
    return fn.greatest(least, fn.coalesce(fn.col("wall_s"), fn.lit(0.0)))


def with_common(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Add ``common``: whether every compared method placed the case, in its group of `by`.

    Compared are the methods of a subject that place anything in the group; one that places nothing
    would leave no case.
    """
    placing = fn.when(is_player() & fn.col("placed"), fn.col("method"))
    counted = with_rivals(runs, by, placing)
    common = (fn.col("_rivals") > 0) & (fn.col("_there") == fn.col("_rivals"))
    return counted.withColumn("common", common).drop("_rivals", "_there")


def with_rivals(runs: DataFrame, by: Sequence[str], method: Column) -> DataFrame:
    """Add ``_rivals``, the methods of a subject in its group of `by`, and ``_there``, in the case.

    Both are numbers of different values of `method`; null does not count.
    """
    contest = [*by, "subject"]
    rivals = runs.groupBy(*contest).agg(fn.countDistinct(method).alias("_rivals"))
    there = runs.groupBy(*contest, *CASE).agg(fn.countDistinct(method).alias("_there"))
    return runs.join(rivals, contest).join(there, [*contest, *CASE])


def virtual_best(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return a run of the virtual best for each case that methods ran on (`with_common`)."""
    same = ("names", "ranks", "bounds", "known", "impossible", "best", "common")
    cases = runs.where(is_player()).groupBy(*by, "subject", *CASE)
    found = cases.agg(*(fn.max(name).alias(name) for name in same))
    return found.withColumns(
        {
            "kind": fn.lit(VIRTUAL),
            "method": fn.lit(VIRTUAL_BEST),
            "values": fn.col("best"),
            "placed": fn.col("best").isNotNull(),
            "reached": leading_equal(fn.col("best"), fn.col("bounds")),
        }
    )
