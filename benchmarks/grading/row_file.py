"""One file of rows: a Parquet file its columns and cells checked before anything uses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from slotwise.benchmarks.grading.row_check import check_cell, check_success
from slotwise.benchmarks.grading.rows import SCHEMA, Row
from slotwise.models.errors import InputError, at, in_file

TERM_KEYS = ("term", "value", "bound")

_KINDS = dict(re.findall(r"(\w+) (string|int|long|double|array<\w+)", SCHEMA.replace("\n", " ")))
"""Kind of each column, by Spark's name of its type as far as it matters."""

_BROKEN = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What PyArrow raises for files that are no Parquet or damaged."""


class StoredRow(dict[str, Any]):
    """A row that was read; `file` and `number` (from 1) say where it stands."""

    file: str
    number: int

    def place(self, column: str) -> str:
        """Return the place of a cell in its file, for messages."""
        return f"row {self.number}, column {column}"


def stored(row: Row) -> StoredRow | None:
    """Return the row with the place where it stands; ``None`` for one that was not read."""
    read: object = row
    return read if isinstance(read, StoredRow) else None


def read_rows(path: Path, columns: Iterable[str]) -> list[Row]:
    """Return the rows in a file, with these columns.

    Raises
    ------
    InputError
        Naming file, row and column: where it is not a Parquet file, lacks a column, or holds what
        a grading does not write.
    """
    with in_file(str(path)):
        wanted = list(columns)
        table = read_table(path, wanted)
        cells = {name: _cells(table, name) for name in wanted}
        return [_row(str(path), number, cells) for number in range(table.num_rows)]


def read_table(path: Path, columns: list[str]) -> pa.Table:
    """Return the columns of a file of rows, cells as they are (`row_schema`)."""
    row_schema(path, columns)
    try:
        return pq.read_table(path, columns=columns)
    except _BROKEN as error:
        raise _no_rows(str(error)) from error


def row_schema(path: Path, columns: list[str]) -> pa.Schema:
    """Return the schema of a file of rows.

    Raises
    ------
    InputError
        Where it is not a Parquet file, or a column is missing or of another type.
    """
    if not path.is_file():
        raise _no_rows("is not a file")
    try:
        schema = pq.read_schema(path)
    except _BROKEN as error:
        raise _no_rows(str(error)) from error
    for name in columns:
        _check_column(schema, name)
    return schema


def _no_rows(reason: str) -> InputError:
    rule = f"does not hold rows of a grading ({reason}); remove it or choose another folder"
    return InputError(rule, has_value=False)


def _check_column(schema: pa.Schema, name: str) -> None:
    count = len(schema.get_all_field_indices(name))
    if count != 1:
        rule = "is missing" if count == 0 else f"stands {count} times"
        raise InputError(rule, field=f"column {name}", has_value=False)
    found, wanted = schema.field(name).type, _KINDS[name]
    if not _fits(found, wanted):
        raise InputError(
            f"must be of type {wanted.replace('<', ' of ')}", field=f"column {name}", value=found
        )


def _fits(found: pa.DataType, wanted: str) -> bool:
    if types.is_null(found):
        return True
    if wanted == "string":
        return bool(types.is_string(found) or types.is_large_string(found))
    if wanted == "double":
        return bool(types.is_floating(found) or types.is_integer(found))
    if wanted in ("int", "long"):
        return bool(types.is_integer(found))
    if not (types.is_list(found) or types.is_large_list(found)):
        return False
    inner = found.value_type
    if wanted == "array<string":
        return _fits(inner, "string")
    if not types.is_struct(inner):
        return bool(types.is_null(inner))
    keys = {inner.field(i).name: inner.field(i).type for i in range(inner.num_fields)}
    return set(keys) == set(TERM_KEYS) and all(_fits(key, "string") for key in keys.values())


def _cells(table: pa.Table, name: str) -> list[Any]:
    column = table.column(name)
    try:
        return list(column.to_pylist())
    except _BROKEN:
        return [_cell(cell, name, number) for number, cell in enumerate(column, 1)]


def _cell(cell: pa.Scalar, name: str, number: int) -> Any:
    try:
        return cell.as_py()
    except _BROKEN as error:
        field = f"row {number}, column {name}"
        raise InputError(f"cannot be read: {error}", field=field, has_value=False) from error


def _row(file: str, number: int, cells: dict[str, list[Any]]) -> Row:
    row = StoredRow({name: values[number] for name, values in cells.items()})
    row.file, row.number = file, number + 1
    for name, value in row.items():
        with at(row.place(name)):
            check_cell(name, value)
    checked = cast(Row, row)
    if {"status", "terms"} <= row.keys():
        with at(row.place("terms")):
            check_success(checked)
    return checked


def check_terms_agree(rows: Iterable[Row]) -> None:
    """Refuse rows of one instance that count different terms: nothing could compare them."""
    first: dict[str, tuple[str, ...]] = {}
    for row in _with_terms(rows):
        names = tuple(term["term"] for term in row["terms"])
        known = first.setdefault(row["instance_hash"], names)
        if names != known:
            raise InputError(
                f"must be {', '.join(known)}, as in other rows of this instance",
                field=row.place("terms"),
                value=", ".join(names),
                file=row.file,
            )


def _with_terms(rows: Iterable[Row]) -> Iterator[StoredRow]:
    yield from (row for row in map(stored, rows) if row is not None and row["terms"])
