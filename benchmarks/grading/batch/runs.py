"""The runs of a grading as a frame: all of them, those without a row, the task of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.local_frame import local_frame
from slotwise.benchmarks.grading.plan import Setting
from slotwise.benchmarks.grading.rows import FAILED, KEY, MEANING, PROVEN, Kind, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

KEY_TYPES = (
    "instance_hash string, kind string, method string, version string, seed long, "
    "time_limit_s double"
)
"""The columns of `KEY` with their types, in Spark's notation."""

CONFIRMED, UNCONFIRMED = "confirmed", "not confirmed"
"""How cross-checks end, but for failures: with the optimum, or at the limit without it."""

MOST_WORK = 5_000_000
"""Of the cheap runs in one task; a unit is about a microsecond, so a killed task loses seconds."""

RUN_WORK = 2_000
"""Of any run, besides that of its tasks and nodes."""

SHARES = 4
"""Tasks of cheap runs for each slot, at least, as long as there are enough runs."""


def settings_frame(spark: SparkSession, settings: Sequence[Setting]) -> DataFrame:
    """Return the settings by their position: what they are for, and their part of the key."""
    rows = [
        (
            *(position, str(setting.subject), str(setting.kind), setting.method),
            *(setting.version, setting.seed, setting.time_limit_s),
        )
        for position, setting in enumerate(settings)
    ]
    key = KEY_TYPES.partition(", ")[2]
    return local_frame(spark, rows, f"setting int, subject string, {key}")


def planned(cases: DataFrame, settings: DataFrame) -> DataFrame:
    """Return every case with every setting that is for it."""
    return cases.join(settings, "subject")


def means_other() -> Column:
    """Return whether the columns of a row say something else than those of this slotwise."""
    from pyspark.sql import functions as fn

    return ~fn.array_contains(fn.split("version", ", "), MEANING)


def newest(rows: DataFrame) -> DataFrame:
    """Return one row for each key: that of the last call; rows of before there were calls first."""
    from pyspark.sql import functions as fn

    last = fn.max(fn.struct("batch", "status")).alias("last")
    return rows.groupBy(*KEY).agg(last).select(*KEY, "last.*")


def standing(rows: DataFrame, retry_failed: bool) -> DataFrame:
    """Return the keys whose rows stand: all, or those of runs that did not fail."""
    if not retry_failed:
        return rows.select(*KEY)
    return newest(rows).where(~is_any("status", FAILED)).select(*KEY)


def remaining(plan: DataFrame, standing: DataFrame) -> DataFrame:
    """Return the runs of `plan` that no row stands for: an anti-join on `rows.KEY`."""
    return plan.join(standing, list(KEY), "left_anti")


@dataclass(frozen=True, slots=True)
class Work:
    """What a frame of runs amounts to.

    Parameters
    ----------
    kinds
        `Kind` -> how many there are.
    alone
        How many of them have a task of their own.
    shared
        The work of the others, in the unit of `MOST_WORK`.
    """

    kinds: Mapping[str, int]
    alone: int
    shared: int

    @property
    def runs(self) -> int:
        """How many there are of all kinds."""
        return sum(self.kinds.values())

    def share(self, slots: int) -> int:
        """Return the work of one task of cheap runs."""
        return max(1, min(MOST_WORK, -(-self.shared // (SHARES * slots))))

    def tasks(self, slots: int) -> int:
        """Return how many tasks `numbered` makes."""
        return self.alone + -(-self.shared // self.share(slots))


def work_of(runs: DataFrame) -> Work:
    """Return what `runs` amount to; this is the one function here that asks Spark to compute."""
    from pyspark.sql import functions as fn

    alone = fn.sum(fn.when(_alone(), 1).otherwise(0)).alias("alone")
    shared = fn.sum(_work()).alias("shared")
    rows = runs.groupBy("kind").agg(fn.count("*").alias("runs"), alone, shared).collect()
    kinds = {row["kind"]: row["runs"] for row in rows}
    return Work(kinds, sum(row["alone"] for row in rows), sum(row["shared"] for row in rows))


def numbered(runs: DataFrame, work: Work, slots: int) -> DataFrame:
    """Return the runs with their task, from 0, hardest first.

    One exact solve or external command each; of the others, which come after them, as many as
    amount to a share of the work.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as fn

    order = Window.orderBy(*hardest_first())
    before = fn.sum(_work()).over(order.rowsBetween(Window.unboundedPreceding, -1))
    shared = work.alone + fn.floor(fn.coalesce(before, fn.lit(0)) / work.share(slots))
    task = fn.when(_alone(), fn.row_number().over(order) - 1).otherwise(shared)
    return runs.withColumn("task", task.cast("int"))


def hardest_first() -> list[Column]:
    """Return the order of the runs: no two are equal in it, and an instance's come together."""
    from pyspark.sql import functions as fn

    return [
        _alone().desc(),
        _size().desc(),
        fn.desc("tasks"),
        fn.asc("instance_hash"),
        fn.asc("setting"),
    ]


def in_partitions(numbered: DataFrame, first: int, end: int) -> DataFrame:
    """Return the runs of the tasks from `first` to before `end`, each task a partition.

    By the number itself: neither hashes nor sampled ranges give every task its own partition.
    """
    from pyspark.sql import functions as fn

    some = numbered.where((fn.col("task") >= first) & (fn.col("task") < end))
    placed = some.repartitionById(end - first, fn.col("task") - first)
    return placed.sortWithinPartitions(*hardest_first())


def statuses(plan: DataFrame, rows: DataFrame, rightly_refused: str) -> DataFrame:
    """Return status -> count over the newest rows of `plan`'s runs.

    A method that refuses what is proven infeasible counts as `rightly_refused`, a cross-check as
    `CONFIRMED` or `UNCONFIRMED` where it did not fail.
    """
    from pyspark.sql import functions as fn

    ours = newest(rows).join(plan.select(*KEY), list(KEY), "left_semi")
    impossible = ours.where(fn.col("status") == str(RunStatus.INFEASIBLE))
    proven = impossible.select("instance_hash").distinct().withColumn("impossible", fn.lit(True))
    right = fn.col("impossible") & (fn.col("status") == str(RunStatus.REFUSED))
    check = fn.col("kind") == str(Kind.CROSSCHECK)
    status = (
        fn.when(right, rightly_refused)
        .when(check & is_any("status", PROVEN), CONFIRMED)
        .when(check & is_any("status", (RunStatus.FEASIBLE, RunStatus.UNKNOWN)), UNCONFIRMED)
        .otherwise(fn.col("status"))
    )
    judged = ours.join(proven, "instance_hash", "left").select(status.alias("status"))
    return judged.groupBy("status").count()


def _alone() -> Column:
    from pyspark.sql import functions as fn

    return fn.col("kind") != str(Kind.HEURISTIC)


def _work() -> Column:
    """Return a guess at the work of a cheap run, in the unit of `MOST_WORK`; 0 for the others."""
    from pyspark.sql import functions as fn

    return fn.when(_alone(), fn.lit(0)).otherwise(RUN_WORK + _size())


def _size() -> Column:
    from pyspark.sql import functions as fn

    return fn.col("tasks").cast("long") * fn.col("nodes")


def is_any(column: str, values: Sequence[str]) -> Column:
    """Return whether a column is one of these."""
    from pyspark.sql import functions as fn

    return fn.col(column).isin([str(one) for one in values])
