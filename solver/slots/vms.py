"""Which VMs hold a number of slots: the lowest price, then the fewest VMs; exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from slotwise.models.allocation.vm import Vm, VmSize
from slotwise.models.errors import InputError

_Best = tuple[Fraction, int, tuple[int, ...]]
"""Price, number of VMs, indices of the sizes or VMs taken."""


def cheapest(slots: int, sizes: Sequence[VmSize]) -> tuple[Vm, ...]:
    """Return the cheapest VMs with at least `slots` slots, of sizes that can be had in any number.

    A dynamic program over the slots that are still missing. Largest VMs first, named ``vm-1`` on.

    Raises
    ------
    InputError
        Where there is no size.
    """
    if not sizes:
        raise InputError("needs at least one VM size", field="sizes")
    best: list[_Best] = [(Fraction(0), 0, ())]
    for missing in range(1, slots + 1):
        best.append(
            min(
                _with(best[max(0, missing - size.slots)], index, size)
                for index, size in enumerate(sizes)
            )
        )
    taken = Counter(best[slots][2])
    order = sorted(taken, key=lambda index: (-sizes[index].slots, index))
    acquired = [sizes[index] for index in order for _ in range(taken[index])]
    return tuple(Vm(f"vm-{number}", size) for number, size in enumerate(acquired, 1))


def choose(slots: int, vms: Sequence[Vm]) -> tuple[Vm, ...]:
    """Return the cheapest of `vms` that have at least `slots` slots together, as they are listed.

    Raises
    ------
    InputError
        Where all of them have fewer.
    """
    held = sum(vm.size.slots for vm in vms)
    if held < slots:
        raise InputError(
            f"have fewer than the {slots} slots that are needed", field="vms", value=held
        )
    best: list[_Best | None] = [(Fraction(0), 0, ()), *[None] * slots]
    for index, vm in enumerate(vms):
        for missing in range(slots, 0, -1):
            before = best[max(0, missing - vm.size.slots)]
            if before is not None:
                with_it = _with(before, index, vm.size)
                here = best[missing]
                best[missing] = with_it if here is None else min(here, with_it)
    found = best[slots]
    assert found is not None, "all of them would do"
    return tuple(vms[index] for index in found[2])


def _with(best: _Best, index: int, size: VmSize) -> _Best:
    return best[0] + size.price, best[1] + 1, (*best[2], index)
