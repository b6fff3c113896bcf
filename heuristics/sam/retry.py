"""VMs for a number of slots (section 7.1), and a slot more until the threads fit (section 8.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from slotwise.heuristics.sam.allocations import Mapped, NoRoom, OpenVm, Refused, open_vms
from slotwise.models.allocation.plan import DEFAULT_SIZES, Vm, VmSize, offered_slots
from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.errors import InputError

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

    For every number VMs are acquired again. Slots that they have beyond it stay closed: otherwise
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


def acquire(slots: int, sizes: Sequence[VmSize] = DEFAULT_SIZES) -> tuple[Vm, ...]:
    """Return VMs with at least `slots` slots.

    As many of the largest size as have no more than `slots` together; then one VM of the smallest
    size that has the rest. Where sizes run out, which they do not in the article, the same goes on
    with what is left: the largest size that is still to be had, and so on. Of two sizes with equal
    slots the cheaper one is taken. All VMs are in one rack.

    Raises
    ------
    InputError
        Where there is no size, and where all VMs together have fewer slots.
    """
    if not sizes:
        raise InputError("must name at least one VM size", field="vm sizes", has_value=False)
    offered = offered_slots(sizes)
    if offered is not None and offered < slots:
        raise InputError(f"have {offered} slots together", field="vm sizes", has_value=False)
    chosen: list[VmSize] = []
    rest = slots
    for largest in sorted(sizes, key=lambda size: (-size.slots, size.price)):
        number = rest // largest.slots
        if largest.available is not None:
            number = min(number, largest.available)
        chosen += [largest] * number
        rest -= number * largest.slots
        enough = [
            size for size in sizes if size.slots >= rest and size.available != chosen.count(size)
        ]
        if rest > 0 and enough:
            chosen.append(min(enough, key=lambda size: (size.slots, size.price)))
            rest = 0
        if rest == 0:
            break
    return tuple(Vm(f"vm{number}", size) for number, size in enumerate(chosen, 1))
