"""How many tasks a Spark session runs at a time, and what each may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNTOLD = 16
"""Tasks at a time where Spark Connect hides how many there are."""


def slots_of(spark: SparkSession) -> int:
    """Return how many tasks run at a time; `UNTOLD` where nobody says."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return UNTOLD
    cores = int(spark.sparkContext.defaultParallelism)
    return max(1, cores // task_cpus(spark))


def task_cpus(spark: SparkSession) -> int:
    """Return the cores that Spark gives one task: the threads of an exact engine."""
    return int(spark.conf.get("spark.task.cpus", "1") or 1)


def tasks_done(spark: SparkSession, tasks: int) -> int:
    """Return how many are done of a running stage of `tasks`; 0 where Connect hides it."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return 0
    tracker = spark.sparkContext.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    done = [one.numCompletedTasks for one in stages if one is not None and one.numTasks == tasks]
    return max(done, default=0)
