"""An allocation case: a dataflow, performance models and a rate, in one file that can be graded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from slotwise.models.allocation.demand import task_demands
from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.dataflow.file import DataflowFile, dataflow_document, dataflow_from_data
from slotwise.models.errors import at, in_file
from slotwise.models.formats.fields import FileObject, Name, Number
from slotwise.models.formats.json_text import canonical_json, parse_json, pretty_json
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.performance.file import ModelsFile, models_document, models_from_data
from slotwise.models.performance.rows import Models
from slotwise.models.values import as_decimal, name

FORMAT = "slotwise.allocation-case/1"


@dataclass(frozen=True, slots=True)
class AllocationCase:
    """What is to run at which rate; slots, threads and VMs are to be found.

    Parameters
    ----------
    name
        For people.
    dataflow
        The DAG.
    models
        Name -> performance model of every task that is allocated.
    rate
        Of the dataflow's sources, tuples/s, above 0.

    Raises
    ------
    InputError
        For what nothing can be found for, as `task_demands` does.
    """

    name: str
    dataflow: Dataflow
    models: Models
    rate: Fraction

    def __post_init__(self) -> None:
        """Refuse rates and models that no slots can serve."""
        task_demands(self.dataflow, self.models, self.rate)


class AllocationCaseFile(FileObject):
    """A file with one case."""

    format: Literal["slotwise.allocation-case/1"] = Field(description="Names this format.")
    name: Name = Field(description="For people.")
    rate: Number = Field(description="Rate of the dataflow's sources, tuples/s, above 0.")
    dataflow: DataflowFile = Field(description="The DAG, as in a dataflow file.")
    models: ModelsFile = Field(
        description="Models of its tasks, as in a file of performance models."
    )


def is_allocation_case(data: Any) -> bool:
    """Whether the data of a file say that they are an allocation case."""
    return isinstance(data, dict) and data.get("format") == FORMAT


def read_allocation_case(source: str | Path) -> AllocationCase:
    """Return the case of a JSON or YAML file; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    data, file = read_data(source)
    with in_file(file):
        return case_from_data(data)


def case_from_text(text: str) -> AllocationCase:
    """Return the case in a JSON text."""
    return case_from_data(parse_json(text))


def case_from_data(data: Any) -> AllocationCase:
    """Return the case in the data of a file."""
    file = validated(AllocationCaseFile, data)
    with at("dataflow"):
        dataflow = dataflow_from_data(data["dataflow"])
    with at("models"):
        models = models_from_data(data["models"])
    return AllocationCase(name(file.name, "name"), dataflow, models, Fraction(file.rate))


def case_document(case: AllocationCase) -> dict[str, Any]:
    """Return a case as the data of a file, with the models that its dataflow uses."""
    used = {task.model for task in case.dataflow.allocated}
    return {
        "format": FORMAT,
        "name": case.name,
        "rate": as_decimal(case.rate),
        "dataflow": dataflow_document(case.dataflow),
        "models": models_document({key: one for key, one in case.models.items() if key in used}),
    }


def case_text(case: AllocationCase) -> str:
    """Return a case as the text of a JSON file."""
    return pretty_json(case_document(case)) + "\n"


def case_hash(case: AllocationCase) -> str:
    """Return ``sha256:`` and the hash of the canonical document without the case's name."""
    document = case_document(case)
    del document["name"]
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()
