"""The rows that come into the folder while tasks run, whoever writes them, for the progress."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import pyarrow.parquet as pq

from slotwise.benchmarks.grading.batch.folder import read
from slotwise.benchmarks.grading.progress.run_log import LOGGED
from slotwise.benchmarks.grading.rows import SCHEMA, Row
from slotwise.benchmarks.grading.store import ROWS, local_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Arrivals(Protocol):
    """Each row once, with the columns of `LOGGED`."""

    def during_round(self) -> list[Row]:
        """Return what has come while a round runs."""

    def after_round(self) -> list[Row]:
        """Return what has come when a round is done."""


def arrivals(spark: SparkSession, address: str) -> Arrivals:
    """Return what sees the rows that come from now on."""
    local = local_folder(address)
    return RemoteRows(spark, address) if local is None else _LocalRows(NewRows(local / ROWS))


class _LocalRows:
    """Files that this machine sees too: looked for several times a second."""

    def __init__(self, rows: NewRows) -> None:
        self._rows = rows

    def during_round(self) -> list[Row]:
        return self._rows.take()

    def after_round(self) -> list[Row]:
        return self._rows.take()


class RemoteRows:
    """Files that only Spark reaches: asked for after each round."""

    def __init__(self, spark: SparkSession, address: str) -> None:
        self._spark = spark
        self._address = address
        self._seen = self._files()

    def during_round(self) -> list[Row]:
        """Return nothing: to ask is a job of its own."""
        return []

    def after_round(self) -> list[Row]:
        """Return what has come when a round is done."""
        new = self._files() - self._seen
        if not new:
            return []
        self._seen |= new
        rows = self._spark.read.schema(SCHEMA).parquet(*sorted(new)).select(*LOGGED)
        return cast("list[Row]", rows.toArrow().to_pylist())

    def _files(self) -> set[str]:
        return set(read(self._spark, self._address, ROWS, SCHEMA).inputFiles())


class NewRows:
    """Reads each file of rows once, as soon as it is there.

    Files must appear whole, under names that do not begin with a point or an underscore; those that
    are there now are of earlier calls.

    Parameters
    ----------
    folder
        Of files of rows, on this machine or mounted; it may appear later.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = {path.name for path in self._files()}

    def take(self) -> list[Row]:
        """Return what has appeared since the last call: the columns of `LOGGED`."""
        arrived: list[Row] = []
        for path in self._files():
            if path.name not in self._seen:
                self._seen.add(path.name)
                rows = pq.read_table(path, columns=list(LOGGED)).to_pylist()
                arrived += cast("list[Row]", rows)
        return arrived

    def _files(self) -> Iterator[Path]:
        every = self._folder.glob("*.parquet")
        yield from sorted(path for path in every if path.name[0] not in "._")
