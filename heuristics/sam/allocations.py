"""How many threads each task gets: Linear Scaling and Model Based Allocation, section 6.

LSA is Algorithm 2 (section 6.1), MBA Algorithm 3 (section 6.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from slotwise.models.allocation.load import TaskDemand
from slotwise.models.allocation.plan import Bundle, TaskAllocation, Vm
from slotwise.models.cancellation import CancellationToken
from slotwise.models.performance.model import (
    PerformanceModel,
    full_bundle,
    measured_at,
    threads_for,
)


def allocate_lsa(demands: Sequence[TaskDemand]) -> dict[str, TaskAllocation] | Refused:
    """Return task -> threads, CPU and memory as if n threads did n times what one does.

    Line 8 tests ``>=``: a rate that is a multiple of the peak rate gets no trailing thread. Rates
    are exact, so the test needs no tolerance. The loop of lines 8 to 14 is one division.

    Refuses a task with tuples whose single thread supports none: the loop of line 8 would not end.
    """
    allocation = {}
    for task in demands:
        rate = task.rate  # line 3
        one_thread = measured_at(task.model, 1)
        peak = one_thread.peak_rate  # line 4
        if rate > 0 and peak == 0:
            return Refused(f"lsa: one thread of task {task.name!r} supports 0 tuples/s")
        threads = int(rate // peak) if rate > 0 else 0  # lines 5 to 14
        cpu = threads * one_thread.cpu
        memory = threads * one_thread.memory
        rate -= threads * peak
        if rate > 0:  # lines 15 to 20
            threads += 1
            cpu += one_thread.cpu * rate / peak
            memory += one_thread.memory * rate / peak
        allocation[task.name] = TaskAllocation(threads, cpu, memory)
    return allocation


def lsa_thread_demand(task: TaskDemand, allocation: TaskAllocation) -> tuple[Fraction, Fraction]:
    """Return CPU and memory of one thread for RSM: C(1) and M(1) (section 7.3)."""
    one_thread = measured_at(task.model, 1)
    return one_thread.cpu, one_thread.memory


@dataclass(frozen=True, slots=True)
class Refused:
    """A published algorithm gives no plan.

    Parameters
    ----------
    reason
        One line for people: which algorithm, which task, what it lacks.
    """

    reason: str


FULL_SLOT = Fraction(100)
"""What the article writes as 1.00: all CPU or all memory of a slot, in %."""


def allocate_mba(demands: Sequence[TaskDemand]) -> dict[str, TaskAllocation] | Refused:
    """Return task -> threads, CPU and memory: full bundles on slots of their own, and a residual.

    A full bundle is the fewest threads that reach the highest peak rate of one slot. Line 9 tests
    ``>=`` on exact rates, without a tolerance; the loop of lines 9 to 15 is one division. T (line
    17) looks at measured thread counts, and so does everything else here: no value is
    interpolated. Only a residual of a single thread is scaled by its rate (lines 22 to 25).

    Refuses a task with a full bundle that uses more than all CPU or memory of its slot: the slot
    that lines 13 and 14 give it does not hold it.
    """
    allocation = {}
    for task in demands:
        rate = task.rate
        full = full_bundle(task.model)
        bundles = int(rate // full.peak_rate) if rate > 0 else 0  # lines 5 to 15
        if bundles and max(full.cpu, full.memory) > FULL_SLOT:
            return Refused(
                f"mba: a full bundle of task {task.name!r} ({full.threads} threads) uses "
                f"{float(full.cpu):g} % CPU and {float(full.memory):g} % memory of its slot"
            )
        threads = bundles * full.threads
        cpu = memory = bundles * FULL_SLOT
        rate -= bundles * full.peak_rate
        if rate > 0:  # lines 16 to 27
            residual = threads_for(task.model, rate)
            threads += residual
            point = measured_at(task.model, residual)
            part = Fraction(1) if residual > 1 else rate / point.peak_rate
            cpu += point.cpu * part
            memory += point.memory * part
        allocation[task.name] = TaskAllocation(threads, cpu, memory)
    return allocation


def mba_thread_demand(task: TaskDemand, allocation: TaskAllocation) -> tuple[Fraction, Fraction]:
    """Return CPU and memory of one thread for RSM: an equal part of the task's.

    Section 7.3 takes C(1) and M(1), which MBA's threads, dozens to a slot, do not use; with the
    equal part RSM maps MBA's allocations as section 8.5 shows it.
    """
    return allocation.cpu / allocation.threads, allocation.memory / allocation.threads


# What a mapping algorithm takes and returns: threads to map, slots to map them to.


@dataclass(frozen=True, slots=True)
class AllocatedTask:
    """A task with its threads.

    Parameters
    ----------
    name, model, rate
        As in its `TaskDemand`.
    threads
        From the allocation, at least 1.
    cpu, memory
        Of all threads, from the allocation, in % of a slot.
    thread_cpu, thread_memory
        Of one thread as RSM counts it, in % of a slot.
    """

    name: str
    model: PerformanceModel
    rate: Fraction
    threads: int
    cpu: Fraction
    memory: Fraction
    thread_cpu: Fraction
    thread_memory: Fraction


class SlotId(NamedTuple):
    """A slot: the place of its VM in the list of VMs, and its number in the VM."""

    vm: int
    slot: int


@dataclass(frozen=True, slots=True)
class OpenVm:
    """A VM and how many of its slots may be used: the first ones."""

    vm: Vm
    slots: int


@dataclass(frozen=True, slots=True)
class NoRoom:
    """No slot has what a bundle (for RSM a thread) needs.

    Parameters
    ----------
    task
        Whose.
    threads
        Of the bundle.
    cpu, memory
        What it needs, in % of a slot.
    """

    task: str
    threads: int
    cpu: Fraction
    memory: Fraction


Mapped: TypeAlias = dict[SlotId, list[Bundle]]


class Map(Protocol):
    """A mapping algorithm; raises `CancelledError` where its token is cancelled."""

    def __call__(
        self,
        tasks: Sequence[AllocatedTask],
        vms: Sequence[OpenVm],
        /,
        *,
        token: CancellationToken = ...,
    ) -> Mapped | NoRoom:
        """Return slot -> bundles, or what no slot has room for."""


def open_slots(vms: Sequence[OpenVm]) -> list[SlotId]:
    """Return the slots that may be used, VM by VM."""
    return [SlotId(v, slot) for v, vm in enumerate(vms) for slot in range(vm.slots)]


def open_vms(vms: Iterable[Vm], slots: int) -> tuple[OpenVm, ...]:
    """Return `vms` with the first `slots` of their slots open."""
    opened = []
    for vm in vms:
        opened.append(OpenVm(vm, min(slots, vm.size.slots)))
        slots -= opened[-1].slots
    return tuple(opened)
