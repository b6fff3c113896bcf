"""Reading dataflows: JSON or YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.errors import in_file
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated


def read_dataflow(source: str | Path) -> Dataflow:
    """Return the dataflow of a file; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule; so also for a cycle.
    """
    data, file = read_data(source)
    with in_file(file):
        return dataflow_from_data(data)


def dataflow_from_data(data: Any) -> Dataflow:
    """Return the dataflow in the data of a file."""
    return validated(Dataflow, data)
