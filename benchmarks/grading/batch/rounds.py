"""Rounds: some thousand tasks at a time run and are written, while the progress is shown.

One job of all tasks would do, but for the driver: Spark remembers something of every task of a job
that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from slotwise.benchmarks.grading.batch.folder import ROWS, append, local_folder
from slotwise.benchmarks.grading.batch.runs import Work, in_partitions, numbered
from slotwise.benchmarks.grading.batch.slots import slots_of, tasks_done
from slotwise.benchmarks.grading.progress import ProgressBar
from slotwise.models.errors import SlotwiseError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROUND_TASKS = 2_000
"""Tasks of a round, or `ROUND_SHARES` for each slot where those are more."""

ROUND_SHARES = 20
"""Tasks of a round for each slot: at the end of a round, slots wait for its longest task."""

POLL_S = 0.5
"""Seconds between two looks at the progress."""

STOP_S = 10.0
"""Seconds that tasks have to end after an interrupt."""


def run_rounds(
    spark: SparkSession,
    address: str,
    runs: DataFrame,
    work: Work,
    graded: Callable[[DataFrame], DataFrame],
    bar: ProgressBar,
) -> None:
    """Run all of `runs` and add their rows to the folder; `bar` learns how many are there.

    On Ctrl-C the running tasks are cancelled, what the others wrote stays, and the interrupt goes
    on.

    Raises
    ------
    SlotwiseError
        When the executors wrote into a folder that the driver does not see.
    """
    slots = slots_of(spark)
    tasks, size = work.tasks(slots), max(ROUND_TASKS, ROUND_SHARES * slots)
    ready = numbered(runs, work, slots)
    folder = local_folder(address)
    written = None if folder is None else _Written(folder / ROWS)
    for first in range(0, tasks, size):
        end = min(first + size, tasks)
        rows = in_partitions(ready, first, end).transform(graded)

        def done(before: int = first, count: int = end - first) -> int:
            if written is not None:
                return written.rows()
            return work.runs * (before + tasks_done(spark, count)) // tasks

        _run_round(spark, rows, address, lambda done=done: bar(done()))
        if written is not None and not written.rows():
            raise unseen(address)
    bar(work.runs)


def unseen(address: str) -> SlotwiseError:
    """Return the error for a folder that the driver has and the executors do not."""
    return SlotwiseError(
        f"what the executors write to {address} does not reach the driver: choose a folder that "
        "all machines share, or one on hdfs:// or s3a://"
    )


def _run_round(
    spark: SparkSession, rows: DataFrame, address: str, show: Callable[[], None]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(append, rows, address, ROWS)
        try:
            while not wait([job], timeout=POLL_S).done:
                show()
            job.result()
            show()
        finally:
            _stop(spark, job)


def _stop(spark: SparkSession, job: Future[None]) -> None:
    """Cancel the job where it still runs."""
    if not job.done():
        spark.interruptAll()
        wait([job], timeout=STOP_S)


class _Written:
    """Counts the rows of files that come into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows = dict.fromkeys(self._names(), 0)

    def _names(self) -> set[str]:
        return {path.name for path in self._folder.glob("*.parquet")}

    def rows(self) -> int:
        """Return how many have come since this was made."""
        for name in self._names() - self._rows.keys():
            self._rows[name] = pq.read_metadata(self._folder / name).num_rows
        return sum(self._rows.values())
