"""From what is asked for to rows: the cases, the plan, the rounds of each stage, the sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch import cases as of_cases
from slotwise.benchmarks.grading.batch import runs as of_runs
from slotwise.benchmarks.grading.batch.folder import Written, append, read, replace
from slotwise.benchmarks.grading.batch.rounds import run_rounds
from slotwise.benchmarks.grading.batch.slots import slots_of
from slotwise.benchmarks.grading.batch.task import graded
from slotwise.benchmarks.grading.plan import Setting
from slotwise.benchmarks.grading.progress.watching import Watcher
from slotwise.benchmarks.grading.rows import OTHER_MEANING, SCHEMA
from slotwise.benchmarks.grading.sources import Sources
from slotwise.benchmarks.grading.store import INSTANCES, PLAN, ROWS
from slotwise.models.errors import InputError
from slotwise.pipeline.spark.paths import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the plan that runs by itself.

    Parameters
    ----------
    runs
        Plan -> its runs that belong to this stage.
    known
        (runs without a row, plan, rows) -> these runs, or those of them that can run, with what
        rows of earlier stages say: the columns ``hint``, ``hint_from`` and ``against`` of
        `PlannedRun`. ``None`` = they need nothing.
    then
        (session, folder, plan, rows) -> what is done when the stage has run; an error ends the
        batch.
    """

    runs: Callable[[DataFrame], DataFrame]
    known: Callable[[DataFrame, DataFrame, DataFrame], DataFrame] | None = None
    then: Callable[[SparkSession, str, DataFrame, DataFrame], None] | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call of `grade` runs.

    Parameters
    ----------
    address
        The folder, as Spark takes it.
    sources, settings
        The cases, and what is done with each.
    seed
        Of the families.
    retry_failed
        Whether runs whose newest row is a failure run again.
    stages
        What runs after what.
    narrowed
        All cases with all settings -> the plan; ``None`` = that is the plan.
    """

    address: str
    sources: Sources
    settings: Sequence[Setting]
    seed: int
    retry_failed: bool
    stages: Sequence[Stage]
    narrowed: Callable[[DataFrame], DataFrame] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """How many instances and runs there were, how many of the runs had rows, and how all ended."""

    instances: int
    planned: int
    skipped: int
    statuses: dict[str, int]


def run_batch(spark: SparkSession, batch: Batch, rightly_refused: str, watcher: Watcher) -> Done:
    """Run what has no row yet.

    Raises
    ------
    InputError
        When the folder has rows whose columns mean something else.
    SlotwiseError
        When the executors write into a folder that the driver does not see.
    """
    with watcher.waiting("finding what is to be run"):
        _check_meaning(_rows(spark, batch), batch.address)
        cases = known_cases(spark, batch)
        every = of_runs.planned(cases, of_runs.settings_frame(spark, batch.settings))
        plan = every if batch.narrowed is None else batch.narrowed(every)
        counts = {
            row["subject"]: row["count"] for row in cases.groupBy("subject").count().collect()
        }
    ran = sum(_run_stage(spark, batch, stage, plan, watcher) for stage in batch.stages)
    if batch.narrowed is None:
        planned = sum(counts.get(setting.subject, 0) for setting in batch.settings)
    else:
        planned = plan.count()
    ended = of_runs.statuses(plan, _rows(spark, batch), rightly_refused).collect()
    return Done(
        instances=sum(counts.values()),
        planned=planned,
        skipped=planned - ran,
        statuses=dict(sorted((row["status"], row["count"]) for row in ended)),
    )


def _check_meaning(rows: DataFrame, folder: str) -> None:
    other = rows.where(of_runs.means_other()).select("version").first()
    if other is not None:
        rule = f"has rows of version '{other['version']}': {OTHER_MEANING}"
        raise InputError(rule, field="out", value=folder)


def known_cases(spark: SparkSession, batch: Batch) -> DataFrame:
    """Return the cases; those that the folder does not know are made and kept there first."""
    requested = of_cases.addresses(spark, batch.sources)
    files = of_cases.read_files(spark, batch.sources)
    cases = read(spark, batch.address, INSTANCES, of_cases.KNOWN)
    unknown = of_cases.unknown(requested, of_cases.of_this_version(cases, batch.seed))
    if not unknown.isEmpty():
        parts = min(batch.sources.most, of_runs.SHARES * slots_of(spark))
        describe = of_cases.describe(spark, batch.seed)
        _keep(batch, unknown.repartition(parts).transform(describe))
    if batch.sources.files and not (unkept := of_cases.unkept(files, cases)).isEmpty():
        _keep(batch, unkept)
    cases = read(spark, batch.address, INSTANCES, of_cases.KNOWN)
    return of_cases.chosen(requested, of_cases.of_this_version(cases, batch.seed), files)


def _keep(batch: Batch, instances: DataFrame) -> None:
    written = Written(batch.address, INSTANCES)
    append(instances, batch.address, INSTANCES)
    written.check()


def plan_stage(spark: SparkSession, batch: Batch, stage: Stage, plan: DataFrame) -> DataFrame:
    """Return the stage's runs without a row, from a file.

    From a file, so that rows that come meanwhile change nothing: Spark Connect works out a frame
    again each time that it is used.
    """
    rows = _rows(spark, batch)
    standing = of_runs.standing(rows, batch.retry_failed)
    todo = of_runs.remaining(stage.runs(plan), standing)
    if stage.known is not None:
        todo = stage.known(todo, plan, rows)
    replace(todo, batch.address, PLAN)
    return spark.read.parquet(literal(f"{batch.address}/{PLAN}"))


def _run_stage(
    spark: SparkSession, batch: Batch, stage: Stage, plan: DataFrame, watcher: Watcher
) -> int:
    """Run the stage's runs without a row; return how many there were."""
    with watcher.waiting("finding what is to be run"):
        todo = plan_stage(spark, batch, stage, plan)
        work = of_runs.work_of(todo)
    if work.runs:
        began = datetime.now(UTC).isoformat(timespec="microseconds")
        texts = read(spark, batch.address, INSTANCES, of_cases.KEPT)
        step = graded(spark, batch.settings, began)
        runs = of_cases.with_texts(todo, texts)
        run_rounds(spark, batch.address, runs, work, step, watcher)
    if stage.then is not None:
        stage.then(spark, batch.address, plan, _rows(spark, batch))
    return work.runs


def _rows(spark: SparkSession, batch: Batch) -> DataFrame:
    return read(spark, batch.address, ROWS, SCHEMA)
