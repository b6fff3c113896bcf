"""Rounds: some thousand tasks at a time run and are written, while the progress is shown.

One job of all tasks would do, but for the driver: Spark remembers something of every task of a job
that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.arrivals import arrivals
from slotwise.benchmarks.grading.batch.folder import Written, append
from slotwise.benchmarks.grading.batch.runs import Work, in_partitions, numbered
from slotwise.benchmarks.grading.batch.slots import slots_of
from slotwise.benchmarks.grading.progress.watching import Watcher
from slotwise.benchmarks.grading.store import ROWS

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
    watcher: Watcher,
) -> None:
    """Run all of `runs` and add their rows to the folder; `watcher` learns which are there.

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
    watcher.begin(work.kinds, slots)
    written, arrived = Written(address, ROWS), arrivals(spark, address)

    def show() -> None:
        watcher.ended(arrived.during_round())
        watcher.tick()

    for first in range(0, tasks, size):
        end = min(first + size, tasks)
        rows = in_partitions(ready, first, end).transform(graded)
        _run_round(spark, rows, address, show)
        written.check()
        watcher.ended(arrived.after_round())


def _run_round(
    spark: SparkSession, rows: DataFrame, address: str, show: Callable[[], None]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(append, rows, address, ROWS)
        try:
            while not wait([job], timeout=POLL_S).done:
                show()
            job.result()
        finally:
            _stop(spark, job)


def _stop(spark: SparkSession, job: Future[None]) -> None:
    """Cancel the job where it still runs."""
    if not job.done():
        spark.interruptAll()
        wait([job], timeout=STOP_S)
