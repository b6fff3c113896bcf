"""VMs for a number of slots: against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.models.allocation.plan import AZURE_D, Vm, VmSize
from slotwise.models.errors import InputError
from slotwise.solver.slots.solve import cheapest, choose

SIZES = st.lists(
    st.builds(
        VmSize, st.just("s"), st.integers(1, 5), st.integers(0, 6).map(lambda n: Fraction(n, 2))
    ),
    min_size=1,
    max_size=3,
)


def cost(vms: tuple[Vm, ...]) -> tuple[Fraction, int]:
    return sum((vm.size.price for vm in vms), Fraction(0)), len(vms)


@settings(deadline=None)
@given(SIZES, st.integers(1, 8))
def test_sizes_in_any_number(sizes: list[VmSize], slots: int) -> None:
    bought = cheapest(slots, sizes)
    assert sum(vm.size.slots for vm in bought) >= slots
    assert len({vm.name for vm in bought}) == len(bought)
    purchases = (
        tuple(Vm("v", one) for n, one in zip(counts, sizes, strict=True) for _ in range(n))
        for counts in product(range(slots + 1), repeat=len(sizes))
    )
    enough = [one for one in purchases if sum(vm.size.slots for vm in one) >= slots]
    assert cost(bought) == min(map(cost, enough))


@settings(deadline=None)
@given(SIZES, st.integers(1, 8))
def test_given_vms(sizes: list[VmSize], slots: int) -> None:
    vms = [Vm(f"v{k}", size) for k, size in enumerate(sizes * 2)]
    enough = [
        chosen
        for count in range(len(vms) + 1)
        for chosen in combinations(vms, count)
        if sum(vm.size.slots for vm in chosen) >= slots
    ]
    if not enough:
        with pytest.raises(InputError, match="fewer than the"):
            choose(slots, vms)
        return
    bought = choose(slots, vms)
    assert bought in enough
    assert cost(bought) == min(map(cost, enough))


def test_equal_prices_per_slot_make_few_large_vms() -> None:
    assert [vm.size.name for vm in cheapest(13, AZURE_D)] == ["D4", "D3", "D1"]


def test_thousands_of_vms() -> None:
    """One step per VM and slot took minutes."""
    vms = [Vm(f"v{k}", AZURE_D[k % 4]) for k in range(4_000)]
    assert len(choose(8_001, vms)) == 1_001
    assert len(cheapest(80_001, AZURE_D)) == 10_001
