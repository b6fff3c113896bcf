"""An allocation case: a dataflow, performance models and a rate, in one file that can be graded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from slotwise.models.allocation.load import task_demands
from slotwise.models.allocation.plan import VmSize
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.json_text import canonical_json, parse_json, pretty_json
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.nouns import Exact, FromFile, Name, Noun, check_fields
from slotwise.models.performance.file import ModelsFile, models_document
from slotwise.models.performance.model import Models
from slotwise.models.values import as_decimal, distinct


@dataclass(frozen=True, slots=True)
class AllocationCase(Noun):
    """A dataflow and a rate for which slots, threads and VMs are to be found.

    Parameters
    ----------
    name
        For people.
    dataflow
        The DAG, as in a dataflow file.
    models
        Models of its tasks by name, as in a file of performance models.
    rate
        Rate of the dataflow's sources, tuples/s, above 0.

    Raises
    ------
    InputError
        For a case without a solution, as `task_demands` does.
    """

    FORMAT = "slotwise.allocation-case/1"

    name: Name
    dataflow: Dataflow
    models: Annotated[Models, FromFile(ModelsFile, ModelsFile.by_name)]
    rate: Exact

    def __post_init__(self) -> None:
        """Raise `InputError` for rates and models that no slots can serve."""
        check_fields(self)
        task_demands(self.dataflow, self.models, self.rate)

    def to_document(self) -> dict[str, Any]:
        """Return a case as the data of a file, with the models that its dataflow uses."""
        used = {task.model for task in self.dataflow.allocated}
        return {
            "format": self.FORMAT,
            "name": self.name,
            "rate": as_decimal(self.rate),
            "dataflow": self.dataflow.to_document(),
            "models": models_document({k: one for k, one in self.models.items() if k in used}),
        }


def is_allocation_case(data: Any) -> bool:
    """Whether the data of a file are an allocation case, by their format."""
    return isinstance(data, dict) and data.get("format") == AllocationCase.FORMAT


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
    return validated(AllocationCase, data)


def case_text(case: AllocationCase) -> str:
    """Return a case as the text of a JSON file."""
    return pretty_json(case.to_document()) + "\n"


def case_hash(case: AllocationCase) -> str:
    """Return ``sha256:`` and the hash of the canonical document without the case's name."""
    document = case.to_document()
    del document["name"]
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


# Reading the available sizes of VMs: JSON or YAML.


@dataclass(frozen=True, slots=True)
class VmsFile(Noun):
    """A file of VM sizes.

    Parameters
    ----------
    sizes
        The available VM sizes, at least one.
    """

    FORMAT = "slotwise.vms/1"

    sizes: tuple[VmSize, ...]

    def __post_init__(self) -> None:
        """Check that there are some, and that their names differ."""
        check_fields(self)
        if not self.sizes:
            raise InputError("must have at least one size", field="sizes", value=[])
        distinct((one.name for one in self.sizes), "sizes[].name")


def read_vm_sizes(source: str | Path) -> tuple[VmSize, ...]:
    """Return the VM sizes of a file; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    data, file = read_data(source)
    with in_file(file):
        return vm_sizes_from_data(data)


def vm_sizes_from_data(data: Any) -> tuple[VmSize, ...]:
    """Return the VM sizes in the data of a file."""
    return validated(VmsFile, data).sizes
