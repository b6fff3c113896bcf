"""The rows of performance model files: one measurement each, and how they become models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from pydantic import Field

from slotwise.models.errors import InputError, at
from slotwise.models.formats.fields import FileObject, Number, Positive
from slotwise.models.performance.model import Measurement, PerformanceModel
from slotwise.models.values import as_decimal, name

COLUMNS = ("task", "threads", "peak_rate", "cpu", "memory", "source")
"""Of CSV and Parquet files; ``source`` may be left out."""

UNITS = {"peak_rate": "tuples/s", "cpu": "%", "memory": "%"}
"""The units of all our files: rates per second; shares of one slot above its base load."""

Models = dict[str, PerformanceModel]
"""Name of a kind of task -> its model."""


class MeasurementRow(FileObject):
    """A measurement of a file."""

    threads: Positive = Field(description="Threads of the task on one slot.")
    peak_rate: Number = Field(description="Highest stable input rate, tuples/s.")
    cpu: Number = Field(description="CPU used at that rate, % of the slot above its base load.")
    memory: Number = Field(description="Memory used, % of the slot above its base load.")
    source: str = Field(default="", description="Where the figures come from.")

    def measurement(self) -> Measurement:
        """Return the noun."""
        return Measurement(
            self.threads,
            Fraction(self.peak_rate),
            Fraction(self.cpu),
            Fraction(self.memory),
            self.source,
        )


def models_of(rows: Mapping[str, Iterable[MeasurementRow]], field: str) -> Models:
    """Return name -> model; `field` precedes the name of a model in messages.

    Raises
    ------
    InputError
        For a file without models, or one whose measurements break a rule of `PerformanceModel`.
    """
    if not rows:
        raise InputError("has no models", field=field, has_value=False)
    models = {}
    for task, measured in rows.items():
        with at(f"{field}.{task}"):
            models[task] = PerformanceModel(
                name(task, ""), tuple(row.measurement() for row in measured)
            )
    return models


def row_of(one: Measurement) -> dict[str, Decimal | int | str]:
    """Return a measurement as the row of a file."""
    row: dict[str, Decimal | int | str] = {
        "threads": one.threads,
        "peak_rate": as_decimal(one.peak_rate),
        "cpu": as_decimal(one.cpu),
        "memory": as_decimal(one.memory),
    }
    return row | {"source": one.source} if one.source else row
