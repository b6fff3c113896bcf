"""One file of rows: a Parquet file whose columns and cells are checked before anything uses them.

A report is made of files that anybody may have made. Each check of a cell raises `InputError` for a
value that breaks its rule; whoever calls it names the place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from slotwise.benchmarks.grading.proofs import read_proofs
from slotwise.benchmarks.grading.rows import (
    MEANING,
    OTHER_MEANING,
    SCHEMA,
    SUCCEEDED,
    Kind,
    Row,
    RunStatus,
    read_placement_text,
)
from slotwise.models.errors import InputError, at, in_file
from slotwise.models.formats.json_text import parse_json
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import check_shape
from slotwise.models.problem.problem import Problem
from slotwise.models.values import number_of_text, one_of

TERM_KEYS = ("term", "value", "bound")

_KINDS = dict(re.findall(r"(\w+) (string|int|long|double|array<\w+)", SCHEMA.replace("\n", " ")))
"""Kind of each column, by Spark's name of its type as far as it matters."""

_ARROW = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "array<string": pa.list_(pa.string()),
    "array<struct": pa.list_(pa.struct([(key, pa.string()) for key in TERM_KEYS])),
}

ROW_SCHEMA = pa.schema([(name, _ARROW[kind]) for name, kind in _KINDS.items()])
"""`SCHEMA` in PyArrow's types."""

NOT_PARQUET = (pa.ArrowException, OSError, UnicodeDecodeError)
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
        names = list(columns)
        table = read_table(path, names)
        cells = {name: _cells(table, name) for name in names}
        return [_row(str(path), number, cells) for number in range(table.num_rows)]


def read_table(path: Path, columns: list[str]) -> pa.Table:
    """Return the columns of a file of rows, cells as they are (`row_schema`)."""
    row_schema(path, columns)
    try:
        return pq.read_table(path, columns=columns)
    except NOT_PARQUET as error:
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
    except NOT_PARQUET as error:
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
    actual, expected = schema.field(name).type, _KINDS[name]
    if not _fits(actual, expected):
        raise InputError(
            f"must be of type {expected.replace('<', ' of ')}", field=f"column {name}", value=actual
        )


def _fits(actual: pa.DataType, expected: str) -> bool:
    if types.is_null(actual):
        return True
    if expected == "string":
        return bool(types.is_string(actual) or types.is_large_string(actual))
    if expected == "double":
        return bool(types.is_floating(actual) or types.is_integer(actual))
    if expected in ("int", "long"):
        return bool(types.is_integer(actual))
    if not (types.is_list(actual) or types.is_large_list(actual)):
        return False
    inner = actual.value_type
    if expected == "array<string":
        return _fits(inner, "string")
    if not types.is_struct(inner):
        return bool(types.is_null(inner))
    keys = {inner.field(i).name: inner.field(i).type for i in range(inner.num_fields)}
    return set(keys) == set(TERM_KEYS) and all(_fits(key, "string") for key in keys.values())


def _cells(table: pa.Table, name: str) -> list[Any]:
    column = table.column(name)
    try:
        return list(column.to_pylist())
    except NOT_PARQUET:
        return [_cell(cell, name, number) for number, cell in enumerate(column, 1)]


def _cell(cell: pa.Scalar, name: str, number: int) -> Any:
    try:
        return cell.as_py()
    except NOT_PARQUET as error:
        field = f"row {number}, column {name}"
        raise InputError(f"cannot be read: {error}", field=field, has_value=False) from error


def _row(file: str, number: int, cells: dict[str, list[Any]]) -> Row:
    row = StoredRow({name: values[number] for name, values in cells.items()})
    row.file, row.number = file, number + 1
    try:
        for name, value in row.items():
            check_cell(name, value)
    except InputError:  # Once more, to name the place: naming it before each check takes longer.
        for name, value in row.items():
            with at(row.place(name)):
                check_cell(name, value)
        raise
    checked = cast(Row, row)
    if {"status", "terms"} <= row.keys():
        with at(row.place("terms")):
            check_success(checked)
    return checked


def check_terms_agree(rows: Iterable[Row]) -> None:
    """Refuse a term counted twice in a row, and rows of one instance that count different terms."""
    first: dict[str, tuple[str, ...]] = {}
    for row in _with_terms(rows):
        names = tuple(term["term"] for term in row["terms"])
        rule = None
        if len(set(names)) < len(names):
            rule = "must name each term once"
        elif names != (others := first.setdefault(row["instance_hash"], names)):
            rule = f"must be {', '.join(others)}, as in other rows of this instance"
        if rule is not None:
            field, value = row.place("terms"), ", ".join(names)
            raise InputError(rule, field=field, value=value, file=row.file)


def _with_terms(rows: Iterable[Row]) -> Iterator[StoredRow]:
    yield from (row for row in map(stored, rows) if row is not None and row["terms"])


NEEDED = frozenset(
    (
        *("instance_hash", "instance", "tasks", "nodes", "tightness"),
        *("kind", "method", "seed", "time_limit_s", "version", "versions", "status"),
    )
)
"""Columns whose cells are never null."""

_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def check_cell(column: str, value: Any) -> None:
    """Check one cell that has its column's type."""
    if value is None:
        if column in NEEDED:
            raise InputError("must not be null", value=value)
    elif column in _CHECKS:
        _CHECKS[column](value)


def check_success(row: Row) -> None:
    """Check that the cell ``terms`` of a row has what its status promises."""
    status = row["status"]
    if status not in SUCCEEDED:
        return
    if not row["terms"]:
        raise InputError(f"must have values where status is {status}", value=row["terms"])
    for index, term in enumerate(row["terms"]):
        if term["value"] is None:
            rule = f"must be a number where status is {status}"
            raise InputError(rule, field=f"[{index}].value", value=None)


def _hash(value: str) -> None:
    if _HASH.fullmatch(value) is None:
        raise InputError("must be sha256: and 64 hexadecimal digits", value=value)


def _count(value: int) -> None:
    if value < 0:
        raise InputError("must be 0 or more", value=value)


def _amount(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InputError("must be finite and 0 or more", value=value)


def _tightness(value: float) -> None:
    if math.isnan(value) or value < 0:
        raise InputError("must be 0 or more", value=value)


def _name(text: str) -> None:
    if not text:
        raise InputError("must not be empty", value=text)


@lru_cache(maxsize=1000)
def _version(text: str) -> None:
    if MEANING not in text.split(", "):
        raise InputError(OTHER_MEANING, value=text)


@lru_cache(maxsize=1000)
def _object(text: str) -> None:
    if not isinstance(parse_json(text), dict):
        raise InputError("must be a JSON object", value=text)


@lru_cache(maxsize=1000)
def _versions(text: str) -> None:
    data = parse_json(text)
    if not isinstance(data, dict) or not all(isinstance(one, str) for one in data.values()):
        raise InputError("must be a JSON object of texts", value=text)


def _terms(terms: list[dict[str, Any] | None]) -> None:
    for index, term in enumerate(terms):
        if term is None or term["term"] is None:
            raise InputError("must name its term", field=f"[{index}]", value=term)
        for key in ("value", "bound"):
            if term[key] is not None and number_of_text(term[key], f"[{index}].{key}") < 0:
                raise InputError("must be 0 or more", field=f"[{index}].{key}", value=term[key])


def _texts(values: list[str | None]) -> None:
    if None in values:
        raise InputError("must be text", field=f"[{values.index(None)}]", value=None)


_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "instance_hash": _hash,
    "tasks": _count,
    "nodes": _count,
    "tightness": _tightness,
    "kind": lambda value: one_of(value, tuple(Kind), ""),
    "seed": _count,
    "time_limit_s": _amount,
    "versions": _versions,
    "status": lambda value: one_of(value, tuple(RunStatus), ""),
    "terms": _terms,
    "violation_count": _count,
    "violations": _texts,
    "placement": read_placement_text,
    "wall_s": _amount,
    "gap": _amount,
    "parameters": _object,
    "engine_parameters": _object,
    "work_limit": _amount,
    "work": _amount,
    "proofs": read_proofs,
    "throughput": _amount,
    "latency_ms": _amount,
    "instance": _name,
    "method": _name,
    "version": _version,
}


def placement_of(row: Row, problem: Problem) -> Placement:
    """Return the placement of a row that has one; `problem` is the row's.

    Raises
    ------
    InputError
        Naming file, row and column of the first value that is not part of a placement of `problem`.
    """
    assert row["placement"] is not None, "only rows with a placement are asked for it"
    with _at_placement(row):
        placement = read_placement_text(row["placement"])
        check_shape(problem, placement)
    return placement


@contextmanager
def _at_placement(row: Row) -> Iterator[None]:
    read = stored(row)
    if read is None:
        yield
        return
    with in_file(read.file), at(read.place("placement")):
        yield
