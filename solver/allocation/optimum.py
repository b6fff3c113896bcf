"""The optimum of `solver.slots`, on VMs whose number may be limited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from slotwise.models.allocation.plan import Plan
from slotwise.models.allocation.vm import Vm, VmSize, offered_slots
from slotwise.solver.slots.vms import choose


def unlimited(sizes: Sequence[VmSize]) -> tuple[VmSize, ...]:
    """Return the sizes as if any number of each could be had."""
    return tuple(replace(size, available=None) for size in sizes)


def seated(plan: Plan, sizes: Sequence[VmSize]) -> Plan | None:
    """Return `plan` on the cheapest, then the fewest VMs that can be had.

    The slots keep their bundles and change their places. ``None`` where the VMs have fewer slots.

    Parameters
    ----------
    plan
        Made for `unlimited` sizes.
    """
    if all(size.available is None for size in sizes):
        return plan
    needed = len(plan.slots)
    offered = offered_slots(sizes)
    if offered is not None and offered < needed:
        return None
    vms = _renamed(choose(needed, _all_that_may_serve(needed, sizes)))
    places = chain.from_iterable(((vm.name, k) for k in range(vm.size.slots)) for vm in vms)
    slots = tuple(
        replace(slot, vm=vm, index=index)
        for slot, (vm, index) in zip(plan.slots, places, strict=False)
    )
    return Plan(plan.rate, vms, slots)


def _all_that_may_serve(slots: int, sizes: Sequence[VmSize]) -> list[Vm]:
    """Return VMs among which the best for `slots` slots are, the largest first."""
    vms = []
    for size in sorted(sizes, key=lambda one: -one.slots):
        enough = math.ceil(Fraction(slots, size.slots))
        count = enough if size.available is None else min(enough, size.available)
        vms += [Vm("", size)] * count
    return vms


def _renamed(vms: Sequence[Vm]) -> tuple[Vm, ...]:
    return tuple(replace(vm, name=f"vm-{number}") for number, vm in enumerate(vms, 1))
