"""Performance models as tables: CSV and Parquet, one measurement a row.

PyArrow is loaded only where a Parquet file is read or written.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, at
from slotwise.models.formats.csv_text import csv_cell, text_of_cell
from slotwise.models.formats.file_bytes import read_bytes
from slotwise.models.formats.validation import validated
from slotwise.models.performance.rows import COLUMNS, MeasurementRow, Models, models_of, row_of
from slotwise.models.values import number_of_text

_NEEDED = COLUMNS[:-1]
_TEXTS = ("task", "source")
_HOLE = "is empty: measure this point or leave the row out"


def read_table(path: Path) -> Models:
    """Return name -> model of a CSV or Parquet file.

    Raises
    ------
    InputError
        Naming the line (CSV) or row (Parquet) and the column.
    """
    content = read_bytes(path)
    rows = _parquet_rows(content) if path.suffix.lower() == ".parquet" else _csv_rows(content)
    by_task: dict[str, list[MeasurementRow]] = {}
    for place, row in rows:
        with at(place):
            task = row.pop("task")
            if not isinstance(task, str):
                raise InputError("must be text", field="task", value=task)
            by_task.setdefault(task, []).append(validated(MeasurementRow, row))
    return models_of(by_task, "models")


def table_bytes(models: Models, suffix: str) -> bytes:
    """Return models as the content of a ``.csv`` or ``.parquet`` file."""
    rows = [
        {"task": name, **row_of(one)}
        for name, model in models.items()
        for one in model.measurements
    ]
    if suffix == ".csv":
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        texts = [{**row, **{n: csv_cell(str(row[n])) for n in _TEXTS if n in row}} for row in rows]
        writer.writerows(texts)
        return text.getvalue().encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = pa.decimal128(38, 6)
    kinds = (pa.string(), pa.int64(), number, number, number, pa.string())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), buffer)
    return buffer.getvalue()


def _csv_rows(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "is not UTF-8 text", field=f"byte {error.start}", has_value=False
        ) from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        _check_columns(list(reader.fieldnames or ()))
        for row in reader:
            place = f"line {reader.line_num}"
            if None in row or None in row.values():
                raise InputError(
                    f"must have {len(reader.fieldnames or ())} cells, as the head",
                    field=place,
                    has_value=False,
                )
            with at(place):
                yield place, {key: _cell(key, text) for key, text in row.items()}
    except csv.Error as error:
        raise InputError(
            f"is not valid CSV: {error}", field=f"line {reader.line_num}", has_value=False
        ) from error


def _cell(column: str, text: str) -> int | Decimal | str:
    if column in _TEXTS:
        return text_of_cell(text)
    if not text.strip():
        raise InputError(_HOLE, field=column, value="")
    return number_of_text(text.strip(), column)


def _parquet_rows(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a Parquet file ({error})", has_value=False) from error
    _check_columns(table.column_names)
    for number, row in enumerate(table.to_pylist(), 1):
        for column in _NEEDED:
            if row[column] is None:
                raise InputError(
                    _HOLE,
                    field=f"row {number}.{column}",
                    has_value=False,
                )
        yield f"row {number}", {key: value for key, value in row.items() if value is not None}


def _check_columns(names: list[str]) -> None:
    for column in _NEEDED:
        if column not in names:
            raise InputError(
                f"is missing; the required columns are {', '.join(_NEEDED)}",
                field=column,
                has_value=False,
            )
    for name in names:
        if name not in COLUMNS or names.count(name) > 1:
            raise InputError(
                f"is an unknown or duplicate column; known are {', '.join(COLUMNS)} (rates in "
                "tuples/s, cpu and memory in % of a slot)",
                field="columns",
                value=name,
            )
