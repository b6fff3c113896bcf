"""The rows of a folder as a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyarrow import types
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn

from slotwise.benchmarks.grading.batch.folder import (
    ROWS,
    address_of,
    check_not_empty,
    local_folder,
    parquet_files,
)
from slotwise.benchmarks.grading.batch.local_frame import arrow_schema
from slotwise.benchmarks.grading.row_file import read_table, row_schema
from slotwise.benchmarks.grading.rows import COLUMNS, SCHEMA, Kind
from slotwise.models.errors import InputError, in_file
from slotwise.pipeline.spark.paths import literal

WRITTEN = "written"
"""Column that says when and where a row was written; of two, the greater is later."""

SPARKS_OWN = "part-"
"""How files begin that executors wrote: their types are ours, and there may be very many."""

_SCHEMA = SCHEMA.replace(" int,", " long,")
"""Spark reads short integers as long ones, but not the other way round."""


def stored_rows(spark: SparkSession, folder: str | os.PathLike[str]) -> DataFrame:
    """Return the rows in ``folder/rows``, here or where Spark reads (``hdfs://``), with `WRITTEN`.

    Those of cross-checks are left out: they confirm a run and are no contestants.

    Raises
    ------
    InputError
        When there are no rows; naming a file of this machine that a grading does not write.
    """
    text = os.fspath(folder)
    local = local_folder(text)
    if local is None:
        return _contestants(_read_by_spark(spark, [literal(f"{address_of(text)}/{ROWS}")], text))
    path = local / ROWS
    files = parquet_files(path)
    if not files:
        raise no_rows(text)
    check_not_empty(files)
    others = [file for file in files if not file.name.startswith(SPARKS_OWN)]
    is_untyped = {file: _has_untyped(file) for file in others}
    untyped = [file for file in others if is_untyped[file]]
    typed = [literal(address_of(file)) for file in others if not is_untyped[file]]
    frames = [_read_by_spark(spark, typed, text)] if typed else []
    frames += [_shipped(spark, untyped)] if untyped else []
    if len(others) < len(files):
        frames.append(_read_by_spark(spark, [f"{literal(address_of(path))}/{SPARKS_OWN}*"], text))
    return _contestants(reduce(lambda a, b: a.unionByName(b), frames))


def _contestants(rows: DataFrame) -> DataFrame:
    return rows.where(fn.col("kind") != str(Kind.CROSSCHECK))


def _read_by_spark(spark: SparkSession, paths: Sequence[str], folder: str) -> DataFrame:
    try:
        found = spark.read.schema(_SCHEMA).parquet(*paths)
        assert found.schema  # Spark Connect looks for the files when it is asked something.
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        raise no_rows(folder) from error
    written = _written(fn.col("_metadata.file_name"), fn.col("_metadata.row_index"))
    return found.withColumn(WRITTEN, written)


def _written(file_name: Column, row_index: Column) -> Column:
    batch = fn.coalesce("batch", fn.lit(""))
    return fn.struct(
        batch.alias("batch"), file_name.alias("file_name"), row_index.alias("row_index")
    )


def no_rows(folder: str) -> InputError:
    """Return the error of a folder that holds no rows."""
    rule = "holds no rows of a grading; write some with slotwise grade --out DIR"
    return InputError(rule, field="folder", value=folder)


def _has_untyped(path: Path) -> bool:
    """Return whether columns of a file are of types that Spark does not read as ours.

    PyArrow writes a column without any value as one of no type.
    """
    with in_file(str(path)):
        schema = row_schema(path, list(COLUMNS))
    return any(_is_untyped(schema.field(name).type) for name in COLUMNS)


def _is_untyped(kind: pa.DataType) -> bool:
    if types.is_struct(kind):
        return any(_is_untyped(kind.field(i).type) for i in range(kind.num_fields))
    if types.is_list(kind) or types.is_large_list(kind):
        return _is_untyped(kind.value_type)
    return bool(types.is_null(kind) or types.is_float32(kind) or types.is_unsigned_integer(kind))


def _shipped(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """Return the rows of files that are read here and handed to Spark."""
    wanted = arrow_schema(spark, f"{_SCHEMA}, file_name string, row_index long")
    tables = []
    for path in paths:
        with in_file(str(path)):
            found = read_table(path, list(COLUMNS))
        cells = {name: found.column(name) for name in found.column_names}
        cells |= {"file_name": [path.name] * len(found), "row_index": range(len(found))}
        tables.append(pa.table({name: cells[name] for name in wanted.names}).cast(wanted))
    rows = spark.createDataFrame(pa.concat_tables(tables))
    written = _written(fn.col("file_name"), fn.col("row_index"))
    return rows.withColumn(WRITTEN, written).drop("file_name", "row_index")
