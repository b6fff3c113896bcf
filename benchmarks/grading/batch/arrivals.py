"""The rows that come into the folder while tasks run, for the progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from slotwise.benchmarks.grading.batch.folder import ROWS, local_folder, read
from slotwise.benchmarks.grading.progress.new_rows import NewRows
from slotwise.benchmarks.grading.progress.run_log import LOGGED
from slotwise.benchmarks.grading.rows import SCHEMA, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Arrivals(Protocol):
    """Each row once, with the columns of `LOGGED`."""

    def early(self) -> list[Row]:
        """Return what has come while a round runs."""

    def late(self) -> list[Row]:
        """Return what has come when a round is done."""


def arrivals(spark: SparkSession, address: str) -> Arrivals:
    """Return what sees the rows that come from now on."""
    local = local_folder(address)
    return RemoteRows(spark, address) if local is None else _LocalRows(NewRows(local / ROWS))


class _LocalRows:
    """Files that this machine sees too: looked for several times a second."""

    def __init__(self, rows: NewRows) -> None:
        self._rows = rows

    def early(self) -> list[Row]:
        return self._rows.take()

    def late(self) -> list[Row]:
        return self._rows.take()


class RemoteRows:
    """Files that only Spark reaches: asked for after each round."""

    def __init__(self, spark: SparkSession, address: str) -> None:
        self._spark = spark
        self._address = address
        self._seen = self._files()

    def early(self) -> list[Row]:
        """Return nothing: to ask is a job of its own."""
        return []

    def late(self) -> list[Row]:
        """Return what has come when a round is done."""
        new = self._files() - self._seen
        if not new:
            return []
        self._seen |= new
        rows = self._spark.read.schema(SCHEMA).parquet(*sorted(new)).select(*LOGGED)
        return cast("list[Row]", rows.toArrow().to_pylist())

    def _files(self) -> set[str]:
        return set(read(self._spark, self._address, ROWS, SCHEMA).inputFiles())
