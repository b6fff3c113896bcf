"""Reading and writing performance models: JSON, YAML, CSV or Parquet, by the file's ending.

A table, CSV or Parquet, has one measurement a row. PyArrow is loaded only where a Parquet file is
read or written.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, at, in_file
from slotwise.models.formats.file_bytes import read_bytes, write_atomically
from slotwise.models.formats.json_text import parse_json, pretty_json
from slotwise.models.formats.text import YAML_SUFFIXES, csv_cell, read_data, text_of_cell
from slotwise.models.formats.validation import validated
from slotwise.models.formats.yaml_text import yaml_text
from slotwise.models.nouns import SPARSE, Noun
from slotwise.models.performance.model import COLUMNS, UNITS, Measurement, Models, models_of
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
    by_task: dict[str, list[Measurement]] = {}
    for place, row in rows:
        with at(place):
            task = row.pop("task")
            if not isinstance(task, str):
                raise InputError("must be text", field="task", value=task)
            by_task.setdefault(task, []).append(validated(Measurement, row))
    return models_of(by_task, "models")


def table_bytes(models: Models, suffix: str) -> bytes:
    """Return models as the content of a ``.csv`` or ``.parquet`` file."""
    rows = [
        {"task": name, **one.to_document()}
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


TABLES = (".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class Units(Noun):
    """The units, for readers; others than ours are refused.

    Parameters
    ----------
    peak_rate
        Must be tuples/s.
    cpu
        Must be %.
    memory
        Must be %.
    """

    peak_rate: str = UNITS["peak_rate"]
    cpu: str = UNITS["cpu"]
    memory: str = UNITS["memory"]

    def __post_init__(self) -> None:
        """Refuse other units."""
        for key, unit in UNITS.items():
            if getattr(self, key) != unit:
                rule = f"must be {unit}; convert the figures"
                raise InputError(rule, field=key, value=getattr(self, key))


@dataclass(frozen=True, slots=True)
class ModelsFile(Noun):
    """A file of performance models.

    Parameters
    ----------
    source
        Where all models come from.
    units
        Units of the figures.
    models
        Name of a kind of task -> its measurements, by rising threads.
    """

    FORMAT = "slotwise.performance/1"
    source: str = field(default="", metadata=SPARSE)
    units: Units = field(default_factory=Units)
    models: Mapping[str, tuple[Measurement, ...]] = field(kw_only=True)

    def by_name(self) -> Models:
        """Return name -> model."""
        return models_of(self.models, "models")


def read_models(source: str | Path) -> Models:
    """Read performance models: what threads of a task reach on one slot.

    Parameters
    ----------
    source
        Path of a JSON, YAML, CSV or Parquet file; ``-`` = JSON or YAML from stdin.

    Returns
    -------
    dict
        Name of a kind of task -> `PerformanceModel`.

    Raises
    ------
    InputError
        One line: file, field (of CSV and Parquet: the row), value, rule.

    Examples
    --------
    >>> import slotwise
    >>> models = slotwise.read_models("models.csv")  # doctest: +SKIP
    >>> slotwise.allocate("star", 100, models=models)  # doctest: +SKIP
    Allocated star by optimal, slots by rate: 100: optimal 6
    """
    suffix = Path(source).suffix.lower()
    if suffix in TABLES:
        with in_file(str(source)):
            return read_table(Path(source))
    data, file = read_data(source)
    with in_file(file):
        return models_from_data(data)


def models_from_data(data: Any) -> Models:
    """Return name -> model of the data of a JSON or YAML file."""
    return validated(ModelsFile, data).by_name()


def write_models(path: str | Path, models: Models, source: str = "") -> None:
    """Write performance models, whole or not at all.

    Parameters
    ----------
    path
        Of the file; its ending says the format: ``.json``, ``.yaml``, ``.csv`` or ``.parquet``
        (any other: JSON).
    models
        Name -> model.
    source
        Where they come from; kept in JSON and YAML.

    Raises
    ------
    InputError
        When the file cannot be written.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.write_models("models.csv", slotwise.read_models("models.json"))  # doctest: +SKIP
    """
    suffix = Path(path).suffix.lower()
    if suffix in TABLES:
        write_atomically(path, table_bytes(models, suffix))
        return
    document = models_document(models, source)
    as_yaml = suffix in YAML_SUFFIXES
    write_atomically(path, yaml_text(document) if as_yaml else pretty_json(document) + "\n")


def models_document(models: Models, source: str = "") -> dict[str, Any]:
    """Return models as the data of a file; JSON-ready save for its decimals."""
    rows = {name: model.measurements for name, model in models.items()}
    return ModelsFile(source, models=rows).to_document()


# The five performance models of the article, as packaged data.


@cache
def article_models() -> Models:
    """Return name -> model of the article's tasks ``blob``, ``table``, ``xml``, ``pi``, ``file``.

    Each measurement says where its figures come from: stated in the article, in the authors'
    public scripts, or reconstructed.
    """
    data = files("slotwise.models.performance").joinpath("data/sam.json")
    return models_from_data(parse_json(data.read_text("utf-8")))
