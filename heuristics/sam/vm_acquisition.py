"""VMs for a number of slots, section 7.1."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.allocation.vm import AZURE_D, Vm, VmSize
from slotwise.models.errors import InputError


def acquire(slots: int, sizes: Sequence[VmSize] = AZURE_D) -> tuple[Vm, ...]:
    """Return VMs with at least `slots` slots.

    As many of the largest size as have no more than `slots` together; then one VM of the smallest
    size that has the rest. Of two sizes with equal slots the cheaper one is taken. All VMs are in
    one rack.

    Raises
    ------
    InputError
        Where there is no size.
    """
    if not sizes:
        raise InputError("must name a size of VM at least", field="vm sizes", has_value=False)
    largest = min(sizes, key=lambda size: (-size.slots, size.price))
    chosen = [largest] * (slots // largest.slots)
    rest = slots - len(chosen) * largest.slots
    if rest > 0:
        enough = [size for size in sizes if size.slots >= rest]
        chosen.append(min(enough, key=lambda size: (size.slots, size.price)))
    return tuple(Vm(f"vm{number}", size) for number, size in enumerate(chosen, 1))
