"""VMs for a number of slots, section 7.1."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.allocation.vm import DEFAULT_SIZES, Vm, VmSize, offered_slots
from slotwise.models.errors import InputError


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
