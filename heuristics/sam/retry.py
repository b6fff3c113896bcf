"""A slot more until the threads fit: section 8.4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from slotwise.heuristics.sam.mapping import Mapped, NoRoom, OpenVm, open_vms
from slotwise.heuristics.sam.refused import Refused
from slotwise.heuristics.sam.vm_acquisition import acquire
from slotwise.models.allocation.vm import Vm, VmSize
from slotwise.models.cancellation import UNLIMITED, CancellationToken

MapOnto: TypeAlias = Callable[[Sequence[OpenVm]], Mapped | NoRoom]
"""A mapping algorithm with its threads."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Where the threads fit.

    Parameters
    ----------
    slots
        The fewest from the estimate on.
    vms
        Acquired for them; they may have more.
    mapped
        The threads on them.
    """

    slots: int
    vms: tuple[Vm, ...]
    mapped: Mapped


def map_with_retry(
    map_onto: MapOnto,
    estimate: int,
    sizes: Sequence[VmSize],
    *,
    max_slots: int | None = None,
    pools_cpu: bool = False,
    token: CancellationToken = UNLIMITED,
) -> Fitted | Refused:
    """Return the first number of slots from `estimate` on that `map_onto` can use.

    For every number VMs are acquired anew. Slots that they have beyond it stay closed: otherwise
    the numbers between two sizes of VM would be indistinguishable.

    Parameters
    ----------
    max_slots
        Most to try; ``None`` = any number.
    pools_cpu
        Whether a thread may use the CPU of all slots of its VM (RSM), or of its own.

    Refuses where there are not that many slots, and at once where a bundle would not fit an empty
    slot either. Raises `CancelledError` where `token` is cancelled.
    """
    largest = max((size.slots for size in sizes), default=1)
    for slots in count(max(estimate, 1)):
        if max_slots is not None and slots > max_slots:
            return Refused(f"needs {slots} slots or more; there are {max_slots}")
        token.check()
        vms = acquire(slots, sizes)
        mapped = map_onto(open_vms(vms, slots))
        if not isinstance(mapped, NoRoom):
            return Fitted(slots, vms, mapped)
        if mapped.memory > 100 or mapped.cpu > 100 * (largest if pools_cpu else 1):
            return Refused(no_room_text(mapped) + ": more than an empty slot has")
    raise AssertionError("count() does not end")


def no_room_text(lack: NoRoom) -> str:
    """Return what `lack` says, for people."""
    what = "thread needs" if lack.threads == 1 else f"bundle of {lack.threads} threads needs"
    return (
        f"a {what} {float(lack.cpu):.4g} % CPU and {float(lack.memory):.4g} % memory "
        f"for task {lack.task!r}"
    )
