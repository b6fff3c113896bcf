"""The rows of performance model files: one measurement each, and how they become models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slotwise.models.errors import InputError, at
from slotwise.models.performance.model import Measurement, PerformanceModel
from slotwise.models.values import name

COLUMNS = ("task", "threads", "peak_rate", "cpu", "memory", "source")
"""Of CSV and Parquet files; ``source`` may be left out."""

UNITS = {"peak_rate": "tuples/s", "cpu": "%", "memory": "%"}
"""The units of all our files: rates per second; shares of one slot above its base load."""

Models = dict[str, PerformanceModel]
"""Name of a kind of task -> its model."""


def models_of(rows: Mapping[str, Iterable[Measurement]], field: str) -> Models:
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
            models[task] = PerformanceModel(name(task, ""), tuple(measured))
    return models
