"""How many tasks a Spark session runs at a time, and what each may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def slots_of(spark: SparkSession) -> int:
    """Return how many tasks run at a time."""
    from pyspark.sql.utils import is_remote

    cores = _default_partitions(spark) if is_remote() else spark.sparkContext.defaultParallelism
    return max(1, int(cores) // task_cpus(spark))


def _default_partitions(spark: SparkSession) -> int:
    """Return the cores behind Spark Connect: by default a range has a partition for each."""
    from pyspark.sql.functions import spark_partition_id

    return spark.range(100_000).select(spark_partition_id()).distinct().count()


def task_cpus(spark: SparkSession) -> int:
    """Return the cores that Spark gives one task: the threads of an exact engine."""
    return int(spark.conf.get("spark.task.cpus", "1") or 1)
