"""VM acquisition, DSM, RSM and SAM by hand and by the article's examples."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from sam_cases import model

from slotwise.heuristics.sam.allocations import AllocatedTask, Mapped, NoRoom, OpenVm, open_vms
from slotwise.heuristics.sam.pairs import RsmWeights, map_dsm, map_rsm, map_sam
from slotwise.heuristics.sam.retry import acquire
from slotwise.models.allocation.plan import AZURE_D, Vm, VmSize
from slotwise.models.errors import InputError


def task(name: str, threads: int, cpu: int, memory: int) -> AllocatedTask:
    """A task whose threads each need `cpu` and `memory`."""
    return AllocatedTask(
        name,
        model(name, (1, 1, cpu, memory)),
        Fraction(threads),
        threads,
        Fraction(threads * cpu),
        Fraction(threads * memory),
        Fraction(cpu),
        Fraction(memory),
    )


def vms(*slots: int, racks: str = "") -> tuple[OpenVm, ...]:
    return tuple(
        OpenVm(Vm(f"vm{index}", VmSize("any", count, Fraction(1)), racks[index : index + 1]), count)
        for index, count in enumerate(slots)
    )


def texts(mapped: Mapped | NoRoom) -> dict[tuple[int, int], str]:
    """The bundles of each slot, as in ``2a 1b``."""
    assert not isinstance(mapped, NoRoom)
    return {
        tuple(slot): " ".join(f"{one.threads}{one.task}" for one in bundles)
        for slot, bundles in mapped.items()
    }


@pytest.mark.parametrize(
    ("slots", "names"),
    [
        (1, "D1"),
        (3, "D3"),  # the smallest with 3
        (4, "D3"),
        (5, "D3 D1"),
        (7, "D3 D3"),
        (15, "D3 D3 D3 D3"),
        (0, ""),
    ],
)
def test_acquisition_with_the_sizes_of_the_experiments(slots: int, names: str) -> None:
    assert " ".join(vm.size.name for vm in acquire(slots, AZURE_D[:3])) == names


def test_acquisition_by_default() -> None:
    acquired = acquire(11)
    assert [vm.size.name for vm in acquired] == ["D4", "D3"]
    assert [vm.name for vm in acquired] == ["vm1", "vm2"]
    assert sum(vm.size.price for vm in acquired) == Fraction("1.176")


def test_acquisition_takes_the_cheaper_of_equal_sizes() -> None:
    dear, cheap = VmSize("dear", 2, Fraction(2)), VmSize("cheap", 2, Fraction(1))
    assert [vm.size for vm in acquire(3, (dear, cheap))] == [cheap, cheap]


def test_acquisition_needs_a_size() -> None:
    with pytest.raises(InputError, match="vm sizes: must name at least one VM size"):
        acquire(3, ())


@pytest.mark.parametrize(
    ("slots", "names"),
    [
        (1, "D1"),
        (2, "D2"),  # one of the smallest that has the rest
        (4, "D3"),
        (5, "D3 D1"),
        (6, "D3 D2"),
        (7, "D3 D2 D1"),  # no size has the other 3: the largest that is left, then the rest
        (8, "D3 D2 D1 D1"),
    ],
)
def test_acquired_sizes_run_out(slots: int, names: str) -> None:
    left = tuple(replace(AZURE_D[k], available=count) for k, count in ((0, 2), (1, 1), (2, 1)))
    assert " ".join(vm.size.name for vm in acquire(slots, left)) == names


def test_more_slots_than_there_are() -> None:
    with pytest.raises(InputError, match="vm sizes: have 2 slots together"):
        acquire(3, (VmSize("one", 1, Fraction(1), 2),))


def test_open_slots_are_the_first() -> None:
    assert [vm.slots for vm in open_vms(acquire(7, AZURE_D[:3]), 7)] == [4, 3]


FIGURE_4 = [task(name, threads, 1, 1) for name, threads in zip("BOYG", (5, 4, 3, 5), strict=True)]


def test_dsm_in_figure_4() -> None:
    """Section 7.2: blue on the first 5 slots, orange from the sixth on, round to s12, and so on."""
    assert texts(map_dsm(FIGURE_4, vms(2, 2, 2))) == {
        (0, 0): "1B 1O 1G",
        (0, 1): "1B 1O 1G",
        (1, 0): "1B 1O 1G",
        (1, 1): "1B 1Y 1G",
        (2, 0): "1B 1Y 1G",
        (2, 1): "1O 1Y",
    }


def test_dsm_with_more_threads_than_slots() -> None:
    found = texts(map_dsm([task("a", 5, 1, 1), task("b", 4, 1, 1)], vms(1, 1)))
    assert found == {(0, 0): "3a 2b", (1, 0): "2a 2b"}


def test_sam_in_figure_4() -> None:
    """Section 7.4: full bundles have 2, 3, 3 and 4 threads; what is left shares the last slot."""
    tasks = []
    for one, full in zip(FIGURE_4, (2, 3, 3, 4), strict=True):
        curve = model(one.name, (1, 1, 20, 20), (full, full, 90, 90))
        bundles, rest = divmod(one.threads, full)
        need = Fraction(100 * bundles + 20 * rest)
        tasks.append(replace(one, model=curve, cpu=need, memory=need))
    assert texts(map_sam(tasks, vms(2, 2, 2))) == {
        (0, 0): "2B",
        (0, 1): "3O",
        (1, 0): "3Y",
        (1, 1): "4G",
        (2, 0): "2B",
        (2, 1): "1O 1G 1B",
    }


def test_sam_fits_the_fullest_slot_that_suffices() -> None:
    parts = [task("a", 1, 50, 50), task("b", 1, 60, 60), task("c", 1, 35, 35), task("d", 1, 20, 20)]
    parts = [replace(one, rate=Fraction(1, 2)) for one in parts]  # below a full bundle
    assert texts(map_sam(parts, vms(3))) == {(0, 0): "1a 1d", (0, 1): "1b 1c"}


def test_sam_keeps_residuals_of_one_thread_in_shared_slots() -> None:
    """The literal line 8 would give each a slot of its own: one thread is a full bundle."""
    residuals = [replace(task(name, 1, 10, 10), rate=Fraction(1, 10)) for name in "ab"]
    assert texts(map_sam(residuals, vms(2))) == {(0, 0): "1a 1b"}


def test_sam_says_what_has_no_room() -> None:
    tasks = [replace(task(name, 1, 70, 10), rate=Fraction(1, 2)) for name in "ab"]
    assert map_sam(tasks, vms(1)) == NoRoom("b", 1, Fraction(70), Fraction(10))
    full = task("f", 2, 30, 30)
    assert map_sam([full], vms(1)) == NoRoom("f", 1, Fraction(100), Fraction(100))


def test_rsm_by_hand() -> None:
    """Two threads on the nearer VM; then it lacks the CPU for a third.

    Distances, of vm0 and vm1: 0.49 + 0.36 and 2.89 + 2.56 + 0.5; then 0.16 + 0.04 and the same.
    """
    assert texts(map_rsm([task("a", 3, 40, 30)], vms(1, 2))) == {(0, 0): "2a", (1, 0): "1a"}


def test_rsm_counts_cpu_by_vm_and_memory_by_slot() -> None:
    """Four threads with 50 % CPU each stand on one slot of a VM with two."""
    assert texts(map_rsm([task("a", 4, 50, 25)], vms(2))) == {(0, 0): "4a"}
    assert texts(map_rsm([task("a", 4, 10, 60)], vms(2, 2))) == {
        (0, 0): "1a",
        (0, 1): "1a",
        (1, 0): "1a",
        (1, 1): "1a",
    }


def test_rsm_sweeps_over_the_tasks() -> None:
    """One thread of each per sweep: a and b alternate on the slots."""
    found = texts(map_rsm([task("a", 2, 1, 50), task("b", 2, 1, 50)], vms(2)))
    assert found == {(0, 0): "1a 1b", (0, 1): "1a 1b"}


@pytest.mark.parametrize(("network", "second"), [(0, 1), (100, 2)])
def test_rsm_weighs_the_network(network: int, second: int) -> None:
    """vm1 has fewer free slots but is in another rack than the reference vm0, which is full."""
    found = map_rsm(
        [task("a", 2, 60, 60)],
        vms(1, 2, 3, racks="rsr"),
        RsmWeights(network=Fraction(network)),
    )
    assert texts(found) == {(0, 0): "1a", (second, 0): "1a"}


@pytest.mark.parametrize(("cpu", "memory", "vm"), [(1, 0, 0), (0, 1, 1), (0, 0, 0)])
def test_rsm_weighs_cpu_and_memory(cpu: int, memory: int, vm: int) -> None:
    """After m, vm0 has less CPU left than vm1 (50 and 200) but more memory (290 and 200)."""
    tasks = [task("m", 1, 250, 10), task("a", 1, 10, 10)]
    found = texts(
        map_rsm(tasks, vms(3, 2), RsmWeights(Fraction(memory), Fraction(cpu), Fraction()))
    )
    assert found == ({(0, 0): "1m 1a"} if vm == 0 else {(0, 0): "1m", (1, 0): "1a"})


def test_rsm_says_what_has_no_room() -> None:
    found = map_rsm([task("a", 1, 10, 60), task("b", 1, 10, 50)], vms(1))
    assert found == NoRoom("b", 1, Fraction(10), Fraction(50))


def test_weights_are_not_negative() -> None:
    with pytest.raises(InputError, match=r"weights\.cpu = -1\.0: must be 0 or more"):
        RsmWeights(cpu=Fraction(-1))
