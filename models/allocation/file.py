"""Reading the sizes of VMs that can be had: JSON or YAML."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.models.allocation.vm import VmSize
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.nouns import Noun, check_fields
from slotwise.models.values import distinct


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
