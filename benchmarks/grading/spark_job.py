"""The Spark job: runs in, rows out. No RDD, no broadcast: it works on Spark Connect too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, cast

from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.progress.run_log import LOGGED
from slotwise.benchmarks.grading.progress.watching import Watcher
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
    from slotwise.benchmarks.grading.supervisor import answers

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
    watcher: Watcher,
) -> None:
    """Run all partitions in chunks and hand the rows of each chunk to `keep`.

    On Ctrl-C the running tasks are cancelled, the finished chunks kept, and the interrupt goes on.
    """
    chunks = [partitions[i : i + slots] for i in range(0, len(partitions), slots)]
    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        waiting = {pool.submit(_run_chunk, spark, chunk) for chunk in chunks}
        try:
            _collect(waiting, keep, watcher)
        finally:
            if waiting:
                _stop(spark, waiting, keep)


def _run_chunk(spark: SparkSession, chunk: Sequence[Partition]) -> pa.Table:
    return indices(spark, len(chunk)).transform(graded(chunk)).toArrow()


def _collect(
    waiting: set[Future[pa.Table]], keep: Callable[[pa.Table], None], watcher: Watcher
) -> None:
    while waiting:
        ready, _ = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
        for future in ready:
            rows = future.result()
            keep(rows)
            waiting.discard(future)
            watcher.ended(rows.select(list(LOGGED)).to_pylist())
        watcher.tick()


def _stop(
    spark: SparkSession,
    waiting: set[Future[pa.Table]],
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


def slots_of(spark: SparkSession) -> int:
    """Return how many tasks run at a time."""
    from pyspark.sql.utils import is_remote

    cores = _default_partitions(spark) if is_remote() else spark.sparkContext.defaultParallelism
    return max(1, int(cores) // task_cpus(spark))


def _default_partitions(spark: SparkSession) -> int:
    """Return the cores behind Spark Connect: by default a range has a partition for each."""
    from pyspark.sql.functions import max as largest
    from pyspark.sql.functions import spark_partition_id

    row = spark.range(100_000).select(largest(spark_partition_id())).first()
    return 1 + (row[0] if row is not None else 0)


def task_cpus(spark: SparkSession) -> int:
    """Return the cores that Spark gives one task: the threads of an exact engine."""
    return int(spark.conf.get("spark.task.cpus", "1") or 1)
