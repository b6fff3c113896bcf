"""Reading the sizes of VMs that can be had: JSON or YAML."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from slotwise.models.allocation.vm import VmSize
from slotwise.models.errors import in_file
from slotwise.models.formats.fields import FileObject, Name, Number, Positive
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.values import distinct, name

FORMAT = "slotwise.vms/1"


class VmSizeObject(FileObject):
    """A size of a file."""

    name: Name = Field(description="Unique in the file.")
    slots: Positive = Field(description="Slots: cores with their share of memory.")
    price: Number = Field(description="Price of one such VM per hour.")
    available: Positive | None = Field(
        default=None, description="Number available; null or absent = any number."
    )


class VmsFile(FileObject):
    """A file of VM sizes."""

    format: Literal["slotwise.vms/1"] = Field(description="Names this format.")
    sizes: Annotated[list[VmSizeObject], Field(min_length=1)] = Field(
        description="The available VM sizes."
    )


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
    sizes = validated(VmsFile, data).sizes
    distinct((one.name for one in sizes), "sizes[].name")
    return tuple(
        VmSize(
            name(one.name, f"sizes[{index}].name"),
            one.slots,
            Fraction(one.price),
            one.available,
        )
        for index, one in enumerate(sizes)
    )
