"""The rows of a grading, read: in this process, or by Spark where it alone reaches them.

On Spark each task turns the rows of its files into columns (`runs.part_of`), a few dozen bytes a
row, and the driver joins these; from there on nothing differs, so the figures are the same.
"""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.grading.batch.folder import address_of, check_not_empty
from slotwise.benchmarks.grading.row_file import NOT_PARQUET, ROW_SCHEMA, read_rows, row_schema
from slotwise.benchmarks.grading.rows import SCHEMA, Row
from slotwise.benchmarks.grading.store import ROWS, local_folder, parquet_files
from slotwise.benchmarks.judged.judging import Judged, judge_runs
from slotwise.benchmarks.judged.runs import COLUMNS, FILE, Runs, joined, newest, part_of
from slotwise.models.errors import InputError, in_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE = 1 << 17
"""Rows of a file that are turned into columns at a time."""

ARROW = pa.schema([*(ROW_SCHEMA.field(name) for name in COLUMNS), (FILE, pa.string())])
"""Types of `COLUMNS` and `FILE`."""


def read_judged(
    folder: str | os.PathLike[str],
    *,
    master: str | None = None,
    starting: AbstractContextManager[object] | None = None,
    solver_gap: bool = False,
) -> Judged:
    """Return the runs of a grading, judged.

    Parameters
    ----------
    folder
        What ``grade`` wrote into, of this machine or of Spark's (``hdfs://...``).
    master
        Spark's master; ``None`` = this process reads a folder of this machine, and Spark on it
        any other.
    starting
        Entered while Spark starts, to say so.
    solver_gap
        See `judging`.

    Raises
    ------
    InputError
        When there are no rows, or rows that cannot be compared, naming the file where it is one of
        this machine.
    """
    if master is None and local_folder(folder) is not None:
        return judge_runs(read_local(folder), solver_gap)
    from slotwise.pipeline.spark.session import session

    with session(master or "local[*]", starting or nullcontext()) as spark:
        return judge_runs(read_by_spark(spark, folder), solver_gap)


def judged_rows(rows: Sequence[Row], solver_gap: bool = False) -> Judged:
    """Return rows judged that are there already, the oldest first; `Judged.runs` has their numbers.

    Raises
    ------
    InputError
        Where they cannot be compared.
    """
    cells = {name: [row.get(name) for row in rows] for name in COLUMNS}
    table = pa.table({**cells, FILE: [""] * len(rows)}, schema=ARROW)
    return judge_runs(newest(joined([part_of(table)])), solver_gap)


def read_local(folder: str | os.PathLike[str]) -> Runs:
    """Return the runs in a folder of this machine."""
    return newest(_joined(_read(row_files(folder)), folder))


def read_by_spark(spark: SparkSession, folder: str | os.PathLike[str]) -> Runs:
    """Return the runs in a folder that Spark reaches.

    Files of this machine that Spark did not write are read here: their types may be others than
    it expects.
    """
    from slotwise.pipeline.spark.session import job_errors

    local = local_folder(folder)
    others = [] if local is None else [f for f in row_files(folder) if not _is_sparks(f)]
    parts = _read(others)
    rows = rows_of_spark(spark, folder, f"{SPARKS_OWN}*" if local is not None else "")
    if rows is not None:
        from pyspark.sql import functions as fn

        selected = rows.select(*COLUMNS, fn.col("_metadata.file_name").alias(FILE))
        with job_errors():
            packed = selected.mapInArrow(_pack, "part binary").collect()
        parts += [pickle.loads(zlib.decompress(row["part"])) for row in packed]
    return newest(_joined(parts, folder))


def rows_of_spark(
    spark: SparkSession, folder: str | os.PathLike[str], pattern: str = ""
) -> DataFrame | None:
    """Return the files of rows as Spark reads them; ``None`` where there is none.

    `pattern` chooses among the files; none = all.
    """
    from pyspark.errors import AnalysisException

    from slotwise.pipeline.spark.paths import literal

    path = literal(f"{address_of(folder)}/{ROWS}") + (f"/{pattern}" if pattern else "")
    try:
        # Spark reads short integers as long ones, but not the other way round.
        rows = spark.read.schema(SCHEMA.replace(" int,", " long,")).parquet(path)
        assert rows.schema  # Spark Connect looks for the files when it is asked something.
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    return rows


SPARKS_OWN = "part-"
"""How files begin that executors wrote."""


def _is_sparks(file: Path) -> bool:
    return file.name.startswith(SPARKS_OWN)


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task as one part, packed."""
    rows = list(batches)
    if rows:
        part = part_of(pa.Table.from_batches(rows).cast(ARROW))
        packed = zlib.compress(pickle.dumps(part), level=1)
        yield pa.RecordBatch.from_pydict({"part": [packed]})


def row_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the files of rows in a folder of this machine, oldest first."""
    local = local_folder(folder)
    assert local is not None, "only folders of this machine have files"
    files = parquet_files(local / ROWS)
    check_not_empty(files)
    return files


def _joined(parts: Sequence[Runs], folder: str | os.PathLike[str]) -> Runs:
    with in_file(os.fspath(folder)):
        return joined(parts)


def _read(files: Sequence[Path]) -> list[Runs]:
    """Return the rows of some files of this machine, in parts."""
    parts = []
    for file in files:
        with named(file):
            parts += [part_of(table) for table in tables_of(file, ARROW)]
    pa.default_memory_pool().release_unused()  # Else Arrow keeps as much as the largest file took.
    return parts


@contextmanager
def named(file: Path) -> Iterator[None]:
    """Let an error say where it is: in which file, and of a cell its row and column."""
    with in_file(str(file)):
        try:
            yield
        except (InputError, *NOT_PARQUET) as error:
            read_rows(file, COLUMNS)
            raise InputError(f"cannot be read: {error}", has_value=False) from error


def tables_of(file: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the columns of `schema` of a file of rows, `AT_ONCE` rows at a time, with `FILE`."""
    names = [name for name in schema.names if name != FILE]
    row_schema(file, names)
    with pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(AT_ONCE, columns=names):
            table = pa.Table.from_batches([batch]).select(names)
            yield table.append_column(FILE, pa.array([file.name] * len(table))).cast(schema)
