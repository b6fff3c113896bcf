"""Reading dataflows: JSON or YAML."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from slotwise.models.dataflow.dataflow import Dataflow, DataflowTask, Stream
from slotwise.models.errors import in_file
from slotwise.models.formats.fields import FileObject, Name, Number
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.values import as_decimal, name

FORMAT = "slotwise.dataflow/1"


class TaskObject(FileObject):
    """A task of a file."""

    name: Name = Field(description="Unique in the file.")
    model: Name | None = Field(
        description="Name of its performance model; null for a source or sink that runs outside "
        "the slots that are allocated."
    )


class StreamObject(FileObject):
    """A stream of a file."""

    source: Name = Field(alias="from", description="Task that sends.")
    target: Name = Field(alias="to", description="Task that receives.")
    selectivity: Number = Field(
        default=as_decimal(Fraction(1)),
        description="Tuples sent for each tuple that the sender takes in.",
    )


class DataflowFile(FileObject):
    """A file with one dataflow."""

    format: Literal["slotwise.dataflow/1"] = Field(description="Names this format.")
    name: Name = Field(description="For people.")
    tasks: list[TaskObject] = Field(description="The vertices of the DAG.")
    streams: list[StreamObject] = Field(description="Its edges; no cycles.")


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
    file = validated(DataflowFile, data)
    return Dataflow(
        name(file.name, "name"),
        tuple(
            DataflowTask(name(task.name, f"tasks[{index}].name"), task.model)
            for index, task in enumerate(file.tasks)
        ),
        tuple(Stream(one.source, one.target, Fraction(one.selectivity)) for one in file.streams),
    )


def dataflow_document(dataflow: Dataflow) -> dict[str, Any]:
    """Return a dataflow as the data of a file."""
    return {
        "format": FORMAT,
        "name": dataflow.name,
        "tasks": [{"name": task.name, "model": task.model} for task in dataflow.tasks],
        "streams": [
            {"from": one.source, "to": one.target, "selectivity": as_decimal(one.selectivity)}
            for one in dataflow.streams
        ],
    }
