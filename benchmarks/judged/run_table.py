"""The runs of a grading as one DataFrame: the newest row of each, with its terms judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from slotwise.benchmarks.grading.row_file import ROW_SCHEMA
from slotwise.benchmarks.grading.rows import COLUMNS as OF_ROWS
from slotwise.benchmarks.judged.judging import Judged, judge_runs, terms_in_order
from slotwise.benchmarks.judged.reading import (
    ARROW,
    named,
    row_files,
    rows_of_spark,
    tables_of,
)
from slotwise.benchmarks.judged.runs import COLUMNS, FILE, NONE, joined, newest, part_of
from slotwise.models.errors import InputError, in_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DECIMAL = pa.decimal128(38, 12)

OF_TERM = {
    "value": _DECIMAL,
    "best_known": _DECIMAL,
    "bound": _DECIMAL,
    "proven": pa.bool_(),
    "gap_low": pa.float64(),
    "gap_high": pa.float64(),
}
"""What each term has columns of, ``network_value`` and so on."""

_KEPT = [name for name in OF_ROWS if name not in ("terms", "gap", "batch")]
"""Columns of the rows that stay as they are."""

_ALL = pa.schema([*ROW_SCHEMA, (FILE, pa.string())])


def run_table(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Return one row per run of a folder of this machine; see `slotwise.read_rows`.

    Raises
    ------
    InputError
        For a folder without rows, or rows that cannot be compared.
    """
    tables, parts = [], []
    for file in row_files(folder):
        with named(file):
            for table in tables_of(file, _ALL):
                parts.append(part_of(_judged_columns(table)))
                tables.append(table)
    with in_file(os.fspath(folder)):
        judged = judge_runs(newest(joined(parts)))
        return _frame(pa.concat_tables(tables), judged, judged.terms)


def spark_run_table(spark: SparkSession, folder: str | os.PathLike[str]) -> DataFrame:
    """Return the same as a DataFrame of Spark's: each task judges the instances of its partition.

    Raises
    ------
    InputError
        For a folder without rows.
    """
    from pyspark.sql import functions as fn

    rows = rows_of_spark(spark, folder)
    if rows is None:
        raise InputError("holds no rows of a grading", field="folder", value=os.fspath(folder))
    objectives = rows.select(fn.col("terms.term").alias("terms")).distinct().collect()
    terms = terms_in_order([row["terms"] for row in objectives if row["terms"]])
    schema = _schema(terms)
    named = rows.withColumn(FILE, fn.col("_metadata.file_name")).repartition("instance_hash")
    types = ", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in schema)
    return named.select(*_ALL.names).mapInArrow(_judge_batches(terms, schema), types)


def _judge_batches(
    terms: Sequence[str], schema: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = list(batches)
        if rows:
            table = pa.Table.from_batches(rows).cast(_ALL)
            judged = judge_runs(newest(joined([part_of(_judged_columns(table))])))
            frame = _frame(table, judged, terms)
            yield from pa.Table.from_pandas(frame, schema, preserve_index=False).to_batches()

    return judge


def _schema(terms: Sequence[str]) -> pa.Schema:
    judged = [(f"{term}_{what}", kind) for term in terms for what, kind in OF_TERM.items()]
    fields = [ROW_SCHEMA.field(name) for name in _KEPT]
    return pa.schema([*fields, ("rightly_refused", pa.bool_()), *judged])


def _spark_type(kind: pa.DataType) -> str:
    names = {
        pa.string(): "string", pa.int32(): "int", pa.int64(): "bigint", pa.float64(): "double",
        pa.bool_(): "boolean", pa.list_(pa.string()): "array<string>", _DECIMAL: "decimal(38,12)",
    }  # fmt: skip
    return names[kind]


def _frame(table: pa.Table, judged: Judged, terms: Sequence[str]) -> pd.DataFrame:
    """Return the newest row of each run of `table`, with columns for these terms."""
    frame = table.select(_KEPT).take(pa.array(judged.runs["row"])).to_pandas()
    frame["rightly_refused"] = judged.rightly_refused
    columns: dict[str, Any] = {}
    for term in terms:
        columns |= {f"{term}_{what}": cells for what, cells in _of_term(judged, term).items()}
    return pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1)


def _judged_columns(table: pa.Table) -> pa.Table:
    return table.select([*COLUMNS, FILE]).cast(ARROW)


def _of_term(judged: Judged, term: str) -> dict[str, NDArray[Any]]:
    """Return the cells of `OF_TERM`."""
    count = len(judged.runs)
    empty = np.full(count, None, dtype=object)
    cells: dict[str, NDArray[Any]] = {name: empty.copy() for name in OF_TERM}
    cells["gap_low"], cells["gap_high"] = np.full(count, np.nan), np.full(count, np.nan)
    if term not in judged.terms:
        return cells
    term_index, instance = judged.terms.index(term), judged.instance
    for p in range(judged.term_at.shape[1]):
        here = np.flatnonzero(judged.term_at[instance, p] == term_index)
        instances = instance[here]
        cells["value"][here] = _decimals(judged.values[here, p], judged.decimals)
        cells["best_known"][here] = _decimals(judged.best[instances, p], judged.decimals)
        cells["bound"][here] = _decimals(judged.bounds[instances, p], judged.decimals)
        cells["proven"][here] = judged.proven_terms[instances] > p
        cells["gap_low"][here] = judged.low[here, p]
        cells["gap_high"][here] = judged.high[here, p]
    return cells


def _decimals(numbers: NDArray[Any], digits: int) -> NDArray[np.object_]:
    decimals = [None if n == NONE else Decimal(f"{n}e-{digits}") for n in numbers.tolist()]
    return np.array(decimals, dtype=object)
