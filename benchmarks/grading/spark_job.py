"""The Spark job: runs in, rows out. No RDD, no broadcast: it works on Spark Connect too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, cast

from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.progress import ProgressBar
from slotwise.benchmarks.grading.rows import COLUMNS, SCHEMA, Row

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Partition = tuple[PlannedRun, ...]

IN_FLIGHT = 2
"""Chunks that Spark works on at a time: the next one fills the slots that stragglers leave."""

POLL_S = 0.5
"""Seconds between two looks at the progress."""


def indices(spark: SparkSession, count: int) -> DataFrame:
    """Return the indices 0..count-1 in the column ``id``, each in a partition of its own."""
    return spark.range(0, count, 1, count)


def graded(chunk: Sequence[Partition]) -> Callable[[DataFrame], DataFrame]:
    """Return the step from indices of `chunk` to rows: each task runs the runs of its index."""
    shipped = tuple(chunk)

    def run_indices(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for frame in frames:
            for index in frame["id"]:
                rows = _rows(shipped[index])
                yield pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)

    return lambda frame: frame.mapInPandas(run_indices, SCHEMA)


def _rows(runs: Partition) -> list[Row]:
    from slotwise.benchmarks.grading.children.supervisor import answers

    blank = cast(Row, dict.fromkeys(COLUMNS))
    return [
        {**blank, **run.columns(), **answer}
        for run, answer in zip(runs, answers(runs), strict=True)
    ]


def grade_partitions(
    spark: SparkSession,
    partitions: Sequence[Partition],
    slots: int,
    keep: Callable[[pa.Table], None],
    bar: ProgressBar,
) -> None:
    """Run all partitions in chunks and hand the rows of each chunk to `keep`.

    On Ctrl-C the running tasks are cancelled, the finished chunks kept, and the interrupt goes on.
    """
    chunks = [partitions[i : i + slots] for i in range(0, len(partitions), slots)]
    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        waiting = {pool.submit(_run_chunk, spark, chunk): len(chunk) for chunk in chunks}
        try:
            _collect(spark, waiting, keep, bar)
        finally:
            if waiting:
                _stop(spark, waiting, keep)


def _run_chunk(spark: SparkSession, chunk: Sequence[Partition]) -> pa.Table:
    return indices(spark, len(chunk)).transform(graded(chunk)).toArrow()


def _collect(
    spark: SparkSession,
    waiting: dict[Future[pa.Table], int],
    keep: Callable[[pa.Table], None],
    bar: ProgressBar,
) -> None:
    finished, shown = 0, 0
    while waiting:
        ready, _ = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
        for future in ready:
            keep(future.result())
            finished += waiting.pop(future)
        shown = max(shown, finished + (0 if ready else _tasks_done(spark)))
        bar(shown)


def _stop(
    spark: SparkSession,
    waiting: dict[Future[pa.Table], int],
    keep: Callable[[pa.Table], None],
) -> None:
    """Cancel what is not done; keep the chunks that are."""
    for future in waiting:
        future.cancel()
    spark.interruptAll()
    deadline = time.monotonic() + 10
    for future in waiting:
        if not future.cancelled():
            wait([future], timeout=max(0.0, deadline - time.monotonic()))
            if future.done() and future.exception() is None:
                keep(future.result())


def _tasks_done(spark: SparkSession) -> int:
    """Return how many tasks of unfinished chunks are done; 0 where Spark Connect hides it."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return 0
    tracker = spark.sparkContext.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def slots_of(spark: SparkSession, fallback: int = 16) -> int:
    """Return how many tasks run at a time; `fallback` where nobody says."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return fallback
    cores = int(spark.sparkContext.defaultParallelism)
    return max(1, cores // task_cpus(spark))


def task_cpus(spark: SparkSession) -> int:
    """Return the cores that Spark gives one task: the threads of an exact engine."""
    return int(spark.conf.get("spark.task.cpus", "1") or 1)
