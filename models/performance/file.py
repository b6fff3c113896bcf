"""Reading and writing performance models: JSON, YAML, CSV or Parquet, by the file's ending."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.formats.fields import FileObject
from slotwise.models.formats.json_text import pretty_json
from slotwise.models.formats.text import YAML_SUFFIXES, read_data
from slotwise.models.formats.validation import validated
from slotwise.models.formats.yaml_text import yaml_text
from slotwise.models.performance.rows import UNITS, MeasurementRow, Models, models_of, row_of
from slotwise.models.performance.tables import read_table, table_bytes

FORMAT = "slotwise.performance/1"
TABLES = (".csv", ".parquet")


class UnitsObject(FileObject):
    """The units, for readers; others than ours are refused."""

    peak_rate: str = Field(default=UNITS["peak_rate"], description="Must be tuples/s.")
    cpu: str = Field(default=UNITS["cpu"], description="Must be %.")
    memory: str = Field(default=UNITS["memory"], description="Must be %.")


class ModelsFile(FileObject):
    """A file of performance models."""

    format: Literal["slotwise.performance/1"] = Field(description="Names this format.")
    source: str = Field(default="", description="Where all models come from.")
    units: UnitsObject = Field(default=UnitsObject(), description="Units of the figures.")
    models: dict[str, list[MeasurementRow]] = Field(
        description="Name of a kind of task -> its measurements, by rising threads."
    )


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
    if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
        raise InputError(f"must be {FORMAT}", field="format", value=data["format"])
    file = validated(ModelsFile, data)
    for key, unit in UNITS.items():
        if getattr(file.units, key) != unit:
            raise InputError(
                f"must be {unit}; convert the figures",
                field=f"units.{key}",
                value=getattr(file.units, key),
            )
    return models_of(file.models, "models")


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
    return {
        "format": FORMAT,
        **({"source": source} if source else {}),
        "units": UNITS,
        "models": {
            name: [row_of(one) for one in model.measurements] for name, model in models.items()
        },
    }
