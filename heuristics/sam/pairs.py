"""The five pairs of allocation and mapping that the article compares, and their plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from slotwise.heuristics.sam.allocations import (
    Refused,
    allocate_lsa,
    allocate_mba,
    lsa_thread_demand,
    mba_thread_demand,
)
from slotwise.heuristics.sam.dsm import map_dsm
from slotwise.heuristics.sam.mapping import AllocatedTask, Map, Mapped
from slotwise.heuristics.sam.retry import map_with_retry
from slotwise.heuristics.sam.rsm import RsmWeights, map_rsm
from slotwise.heuristics.sam.sam import map_sam
from slotwise.models.allocation.demand import TaskDemand, task_demands
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.plan import Plan, Slot, TaskAllocation, estimated_slots
from slotwise.models.allocation.vm import DEFAULT_SIZES, Vm, VmSize, offered_slots
from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.performance.model import PerformanceModel
from slotwise.models.suggestion import suggestion


@dataclass(frozen=True, slots=True)
class Allocation:
    """An allocation algorithm.

    Parameters
    ----------
    allocate
        Demands -> task -> allocation.
    thread_demand
        CPU and memory of one thread of an allocated task, for RSM.
    """

    allocate: Callable[[Sequence[TaskDemand]], dict[str, TaskAllocation] | Refused]
    thread_demand: Callable[[TaskDemand, TaskAllocation], tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class Pair:
    """An allocation algorithm with a mapping algorithm.

    Parameters
    ----------
    name
        As users write it.
    allocation
        The former.
    map_threads
        The latter.
    pools_cpu
        Whether it lets a thread use the CPU of all slots of its VM.
    routing
        How the pair expects tuples to be routed: SAM plans a rate for every bundle.
    """

    name: str
    allocation: Allocation
    map_threads: Map
    pools_cpu: bool = False
    routing: Routing = Routing.SHUFFLE

    @property
    def description(self) -> str:
        """What it does, in one sentence."""
        allocation, mapping = self.name.split("+")
        routed = "shuffle grouping" if self.routing is Routing.SHUFFLE else "slot-aware routing"
        return f"{_ALLOCATIONS[allocation]}; {_MAPPINGS[mapping]}; for {routed}."


_ALLOCATIONS = {
    "lsa": "Threads from the rate of a single thread (LSA)",
    "mba": "Threads from the performance model, in full bundles (MBA)",
}
_MAPPINGS = {
    "dsm": "threads dealt to slots in turn (DSM)",
    "rsm": "threads as R-Storm places them (RSM)",
    "sam": "full bundles on separate slots, the rest by best fit (SAM)",
}

LSA = Allocation(allocate_lsa, lsa_thread_demand)
MBA = Allocation(allocate_mba, mba_thread_demand)

PAIRS = {
    pair.name: pair
    for pair in (
        Pair("lsa+dsm", LSA, map_dsm),
        Pair("lsa+rsm", LSA, map_rsm, pools_cpu=True),
        Pair("mba+dsm", MBA, map_dsm),
        Pair("mba+rsm", MBA, map_rsm, pools_cpu=True),
        Pair("mba+sam", MBA, map_sam, routing=Routing.PLANNED),
    )
}
"""Name -> pair. There is no ``lsa+sam``: SAM takes MBA's bundles (section 8.5)."""


def find_pair(name: str, weights: RsmWeights | None = None) -> Pair:
    """Return the pair of that name, RSM with `weights` (default: all 1).

    Raises
    ------
    InputError
        Where there is none, and where weights are given to a pair without RSM.
    """
    if name not in PAIRS:
        raise InputError(suggestion(name, PAIRS), field="method", value=name)
    pair = PAIRS[name]
    if weights is None:
        return pair
    if pair.map_threads is not map_rsm:
        raise InputError("has no weights: only RSM has them", field="method", value=name)
    return Pair(
        pair.name, pair.allocation, partial(map_rsm, weights=weights), pair.pools_cpu, pair.routing
    )


@dataclass(frozen=True, slots=True)
class Planned:
    """A pair's plan. Whether it supports its rate, `models.allocation.check` tells.

    Parameters
    ----------
    pair
        Who planned.
    allocation
        Task -> what the allocation algorithm gives it.
    estimate
        Slots that the allocation estimates.
    needed
        Slots on which the mapping succeeded: the estimate, or more.
    plan
        Bundles on slots; its slots may be fewer than `needed`, its VMs may have more.
    """

    pair: Pair
    allocation: Mapping[str, TaskAllocation]
    estimate: int
    needed: int
    plan: Plan

    @property
    def acquired(self) -> int:
        """Slots of all VMs of the plan."""
        return sum(vm.size.slots for vm in self.plan.vms)


def plan(
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    rate: Fraction,
    pair: Pair,
    *,
    vm_sizes: Sequence[VmSize] = DEFAULT_SIZES,
    max_slots: int | None = None,
    token: CancellationToken = UNLIMITED,
) -> Planned | Refused:
    """Return the plan of `pair` for `rate`, with a slot more wherever its mapping lacks one.

    Nothing is drawn at random and nothing interpolated: all orders that the article leaves open
    are fixed (see the mappings), and the allocations read models at measured points.

    Parameters
    ----------
    models
        By name.
    rate
        Of the dataflow's sources, tuples/s.
    vm_sizes
        Which VMs can be had.
    max_slots
        Most slots to use; ``None`` = all that the VMs have.
    token
        Ends the search for room.

    Raises
    ------
    CancelledError
        Where `token` is cancelled before there is a plan.
    InputError
        As `task_demands` and `acquire` do.
    """
    demands = task_demands(dataflow, models, rate)
    allocation = pair.allocation.allocate(demands)
    if isinstance(allocation, Refused):
        return allocation
    estimate = estimated_slots(allocation)
    tasks = allocated_tasks(demands, allocation, pair)
    if not tasks:  # no task receives anything: no slot
        return Planned(pair, allocation, estimate, 0, Plan(rate, (), ()))
    offered = offered_slots(vm_sizes)
    if offered is not None:
        max_slots = offered if max_slots is None else min(offered, max_slots)
    fitted = map_with_retry(
        partial(pair.map_threads, tasks, token=token),
        estimate,
        vm_sizes,
        max_slots=max_slots,
        pools_cpu=pair.pools_cpu,
        token=token,
    )
    if isinstance(fitted, Refused):
        return Refused(f"{pair.name} at {float(rate):g} tuples/s: {fitted.reason}")
    made = Plan(rate, fitted.vms, in_slots(fitted.mapped, fitted.vms))
    return Planned(pair, allocation, estimate, fitted.slots, made)


def allocated_tasks(
    demands: Sequence[TaskDemand], allocation: Mapping[str, TaskAllocation], pair: Pair
) -> tuple[AllocatedTask, ...]:
    """Return the tasks that have threads, in the order of `demands`, for a mapping algorithm."""
    tasks = []
    for demand in demands:
        allocated = allocation[demand.name]
        if allocated.threads:
            cpu, memory = pair.allocation.thread_demand(demand, allocated)
            tasks.append(
                AllocatedTask(
                    demand.name,
                    demand.model,
                    demand.rate,
                    allocated.threads,
                    allocated.cpu,
                    allocated.memory,
                    cpu,
                    memory,
                )
            )
    return tuple(tasks)


def in_slots(mapped: Mapped, vms: Sequence[Vm]) -> tuple[Slot, ...]:
    """Return what a mapping algorithm found, as slots of a plan."""
    return tuple(Slot(vms[one.vm].name, one.slot, tuple(mapped[one])) for one in sorted(mapped))
