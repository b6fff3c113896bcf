"""The folder of a grading as Spark sees it: frames to read, and files to add by executors.

A task's rows appear whole or not at all, and once. Spark's own writer does it, with version 2 of
Hadoop's file output committer, for this call alone: a task writes below ``_temporary``, and when it
is done and the driver agrees, its one file is renamed into the folder. So a killed driver loses
the tasks that were running and no more (version 1 renames when the whole job is done), of tasks
that run twice (retried, speculative) one is let through, and should its executor die right then,
the file of the next attempt has the same name and replaces it. The doubts about version 2 are
about tasks that write several files; ours write one. On an object store the rename is a copy of
one object, which appears whole as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from slotwise.benchmarks.grading.batch.local_frame import local_frame
from slotwise.benchmarks.grading.store import local_folder, parquet_files
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark.paths import literal, local_address
from slotwise.pipeline.spark.session import IS_DAMAGED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WRITING = {
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "compression": "zstd",
}


def address_of(out: str | os.PathLike[str]) -> str:
    """Return the folder as Spark takes it, whatever the cluster's own file system is."""
    local = local_folder(out)
    return os.fspath(out).rstrip("/") if local is None else local_address(local)


def read(spark: SparkSession, address: str, part: str, schema: str) -> DataFrame:
    """Return the columns of `schema` of one part of the folder; no rows where it has no such part.

    Columns that a file lacks are null there.

    Raises
    ------
    InputError
        Naming a file without any content, which Spark would pass over.
    """
    from pyspark.errors import AnalysisException

    local = local_folder(address)
    if local is not None:
        check_not_empty(parquet_files(local / part))
    try:
        frame = spark.read.schema(schema).parquet(literal(f"{address}/{part}"))
        assert frame.schema  # Spark Connect looks for the folder when it is asked something.
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return local_frame(spark, (), schema)
    return frame


def check_not_empty(files: Iterable[Path]) -> None:
    """Refuse files without any content: machines that lose power leave such, Spark skips them.

    Raises
    ------
    InputError
        Naming the first one.
    """
    for file in files:
        if file.stat().st_size == 0:
            raise InputError(IS_DAMAGED, file=str(file), has_value=False)


def append(frame: DataFrame, address: str, part: str) -> None:
    """Add the rows of `frame`, a file for each of its partitions that has any."""
    frame.write.options(**_WRITING).mode("append").parquet(f"{address}/{part}")


def replace(frame: DataFrame, address: str, part: str) -> None:
    """Let the rows of `frame` take the place of what the part holds."""
    frame.write.options(**_WRITING).mode("overwrite").parquet(f"{address}/{part}")


class Written:
    """Counts the rows of files that come into a part of the folder; nothing where it is remote."""

    def __init__(self, address: str, part: str) -> None:
        local = local_folder(address)
        self._folder = None if local is None else local / part
        self._rows = dict.fromkeys(self._names(), 0)

    def rows(self) -> int | None:
        """Return how many have come since this was made; ``None`` where nobody can say."""
        if self._folder is None:
            return None
        for name in self._names() - self._rows.keys():
            self._rows[name] = pq.read_metadata(self._folder / name).num_rows
        return sum(self._rows.values())

    def check(self) -> None:
        """Refuse a folder in which nothing came.

        Raises
        ------
        SlotwiseError
            When the executors wrote into a folder that the driver does not see.
        """
        if self.rows() == 0:
            raise SlotwiseError(
                f"what the executors write to {self._folder} does not reach the driver: choose a "
                "folder that all machines share, or one on hdfs:// or s3a://"
            )

    def _names(self) -> set[str]:
        return set() if self._folder is None else {p.name for p in self._folder.glob("*.parquet")}
