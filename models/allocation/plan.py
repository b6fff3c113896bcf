"""A plan: which bundles of threads run on which slot of which VM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from slotwise.models.allocation.vm import Vm


@dataclass(frozen=True, slots=True)
class TaskAllocation:
    """What an allocation algorithm gives one task (Algorithms 2 and 3).

    Parameters
    ----------
    threads
        Its threads.
    cpu, memory
        Estimated use of all of them, in % of a slot.
    """

    threads: int
    cpu: Fraction
    memory: Fraction


def estimated_slots(allocation: Mapping[str, TaskAllocation]) -> int:
    """Return the slots that an allocation needs at least, by its own estimates.

    The sum of the tasks' CPU, or of their memory if that is more, in slots, rounded up (end of
    section 6.2; section 6.1 says the same in words).
    """
    cpu = sum((one.cpu for one in allocation.values()), Fraction(0))
    memory = sum((one.memory for one in allocation.values()), Fraction(0))
    return ceil(max(cpu, memory) / 100)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The threads of one task on one slot.

    Parameters
    ----------
    task
        Name of the task.
    threads
        At least 1.
    rate
        Input rate that the plan sends to the bundle, tuples/s; ``None`` where the plan leaves it
        to the routing.
    """

    task: str
    threads: int
    rate: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot in use.

    Parameters
    ----------
    vm
        Name of its VM.
    index
        Its number in the VM, from 0.
    bundles
        At most one per task.
    """

    vm: str
    index: int
    bundles: tuple[Bundle, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Bundles on slots.

    Parameters
    ----------
    rate
        Rate of the dataflow's sources that the plan is made for, tuples/s.
    vms
        All that were acquired.
    slots
        Those in use.
    """

    rate: Fraction
    vms: tuple[Vm, ...]
    slots: tuple[Slot, ...]

    @property
    def threads(self) -> Mapping[str, int]:
        """Task name -> threads on all slots."""
        counts: Counter[str] = Counter()
        for slot in self.slots:
            for bundle in slot.bundles:
                counts[bundle.task] += bundle.threads
        return dict(counts)

    @property
    def price(self) -> Fraction:
        """Price of all VMs per hour."""
        return sum((vm.size.price for vm in self.vms), Fraction(0))
