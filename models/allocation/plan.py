"""A plan: which bundles of threads run on which slot of which VM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from slotwise.models.nouns import Exact, Name, Noun, Positive

# Virtual machines: sizes with slots and prices.


@dataclass(frozen=True, slots=True)
class VmSize(Noun):
    """An available size of VM.

    Parameters
    ----------
    name
        For example ``D3``; unique in a file.
    slots
        Slots of one such VM: cores with their share of memory.
    price
        Price of one such VM per hour.
    available
        Number available, at least 1; ``None`` = any number.
    """

    name: Name
    slots: Positive
    price: Exact
    available: Positive | None = None


AZURE_D = tuple(
    VmSize(f"D{index}", 2 ** (index - 1), Fraction(98, 1000) * 2 ** (index - 1))
    for index in (1, 2, 3, 4)
)
"""All sizes that the article describes (sections 5.2 and 7.1), D1 to D4, at USD per hour.

D-i has 2**(i-1) slots. Section 7.1 gives them 1, 2, 3 and 4 cores; its prices, and everywhere else
in the article, say 1, 2, 4 and 8. Tests and reproductions that need these VMs name them; the
default is `DEFAULT_SIZES`.
"""

DEFAULT_SIZES = AZURE_D
"""The default sizes of all callers, for example without ``--vms``."""

ARTICLE_VMS = AZURE_D[:3]
"""D1, D2 and D3: those that the article's own experiments run on (section 8.2), without D4.

For comparison with the article's figures; with D4 as well the plans have fewer, larger VMs.
"""


def offered_slots(sizes: Sequence[VmSize]) -> int | None:
    """Return the slots of all VMs of these sizes; ``None`` = the number of one is not limited."""
    counts = [size.available for size in sizes]
    if None in counts:
        return None
    return sum(size.slots * (size.available or 0) for size in sizes)


@dataclass(frozen=True, slots=True)
class Vm:
    """One VM of a plan; its slots are numbered from 0.

    Parameters
    ----------
    name
        Unique in its plan.
    size
        Its size.
    rack
        Name of its rack; by default all VMs are in one rack.
    """

    name: str
    size: VmSize
    rack: str = ""


@dataclass(frozen=True, slots=True)
class TaskAllocation:
    """The allocation of one task (Algorithms 2 and 3).

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
