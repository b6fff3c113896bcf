"""A plan on the best of the VMs that are left."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from slotwise.models.allocation.plan import Bundle, Plan, Slot, Vm, VmSize
from slotwise.solver.allocation import seated, unlimited


def plan_of(slots: int) -> Plan:
    vm = Vm("vm-1", VmSize("any", slots, Fraction(0)))
    return Plan(
        Fraction(1), (vm,), tuple(Slot("vm-1", k, (Bundle("x", k + 1),)) for k in range(slots))
    )


def size(name: str, slots: int, price: int, available: int | None = None) -> VmSize:
    return VmSize(name, slots, Fraction(price), available)


def test_sizes_without_limits_leave_the_plan_as_it_is() -> None:
    plan = plan_of(3)
    assert seated(plan, (size("a", 2, 1),)) is plan


def test_too_few_slots() -> None:
    assert seated(plan_of(8), (size("a", 4, 1, 1), size("b", 1, 1, 3))) is None
    assert seated(plan_of(8), (size("a", 4, 1, 1), size("b", 1, 1))) is not None


def test_unlimited() -> None:
    assert unlimited([size("a", 4, 1, 1)]) == (size("a", 4, 1),)


SIZES = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=3
)


@given(SIZES, st.integers(1, 9))
def test_the_cheapest_then_the_fewest_vms(rows: list[tuple[int, int, int]], slots: int) -> None:
    sizes = tuple(size(f"s{k}", *row) for k, row in enumerate(rows))
    taken = [
        (sum(n * one.price for n, one in zip(counts, sizes, strict=True)), sum(counts))
        for counts in product(*(range((one.available or 0) + 1) for one in sizes))
        if sum(n * one.slots for n, one in zip(counts, sizes, strict=True)) >= slots
    ]
    found = seated(plan_of(slots), sizes)
    if not taken:
        assert found is None
        return
    assert found is not None
    assert (found.price, len(found.vms)) == min(taken)
    assert [slot.bundles for slot in found.slots] == [slot.bundles for slot in plan_of(slots).slots]
    by_name = {vm.name: vm.size for vm in found.vms}
    assert len(by_name) == len(found.vms)
    places = {(slot.vm, slot.index) for slot in found.slots}
    assert len(places) == slots
    assert all(index < by_name[vm].slots for vm, index in places)
    used = [vm.size.name for vm in found.vms]
    assert all(used.count(one.name) <= (one.available or 0) for one in sizes)
