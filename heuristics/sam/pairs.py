"""The five pairs of allocation and mapping that the article compares, and their plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm

from slotwise.heuristics.sam.allocations import (
    FULL_SLOT,
    AllocatedTask,
    Map,
    Mapped,
    NoRoom,
    OpenVm,
    Refused,
    SlotId,
    allocate_lsa,
    allocate_mba,
    lsa_thread_demand,
    mba_thread_demand,
    open_slots,
)
from slotwise.heuristics.sam.retry import map_with_retry
from slotwise.models.allocation.load import Routing, TaskDemand, task_demands
from slotwise.models.allocation.plan import (
    DEFAULT_SIZES,
    Bundle,
    Plan,
    Slot,
    TaskAllocation,
    Vm,
    VmSize,
    estimated_slots,
    offered_slots,
)
from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError, suggestion
from slotwise.models.performance.model import PerformanceModel, full_bundle

# Default Storm Mapping (DSM), Algorithm 4, section 7.2.


def map_dsm(
    tasks: Sequence[AllocatedTask],
    vms: Sequence[OpenVm],
    *,
    token: CancellationToken = UNLIMITED,
) -> Mapped:
    """Return the threads dealt out over the slots in turn, whatever they need.

    Line 3 takes the slots, and line 5 the threads, in arbitrary order. Here they are in that of
    the example in section 7.2: all threads of the first task in topological order, then those of
    the next; the slots of the first VM, then those of the next; the first thread on the first slot
    (line 6 counts the slots from 1, slot 0 being the last).

    Raises `CancelledError` where `token` is cancelled.
    """
    slots = open_slots(vms)
    counts: list[Counter[str]] = [Counter() for _ in slots]
    place = 0
    for task in tasks:
        token.check()
        rounds, rest = divmod(task.threads, len(slots))
        for step in range(min(task.threads, len(slots))):
            counts[(place + step) % len(slots)][task.name] = rounds + (step < rest)
        place += task.threads
    return {
        slot: [Bundle(task, threads) for task, threads in counted.items()]
        for slot, counted in zip(slots, counts, strict=True)
        if counted
    }


# R-Storm Mapping (RSM), Algorithm 5, section 7.3.

SAME_RACK, OTHER_RACK = Fraction(1, 2), Fraction(1)
"""NWDist to another VM in the rack of the reference VM, and in another rack; to itself it is 0."""


@dataclass(frozen=True, slots=True)
class RsmWeights:
    """w_M, w_C and w_N of the distance, each at least 0. The article names no values; here 1."""

    memory: Fraction = Fraction(1)
    cpu: Fraction = Fraction(1)
    network: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse negative weights."""
        for name in self.__slots__:
            if getattr(self, name) < 0:
                value = float(getattr(self, name))
                raise InputError("must be 0 or more", field=f"weights.{name}", value=value)


def map_rsm(
    tasks: Sequence[AllocatedTask],
    vms: Sequence[OpenVm],
    weights: RsmWeights | None = None,
    *,
    token: CancellationToken = UNLIMITED,
) -> Mapped | NoRoom:
    """Return one thread of each task per sweep on the nearest VM that has room for it.

    CPU is checked for the VM, memory for the slot. Lines 11 to 15 sort the VMs by distance and
    take the first one with a fitting slot; here the fitting ones are compared. Ties: the first VM,
    and the first of its slots that fit. Resources are counted in slots in the distance, as line 2
    does (1.00 = one slot), and a thread's needs are those of its `AllocatedTask`: C(1) and M(1) or
    an equal part, by the allocation.

    Raises `CancelledError` where `token` is cancelled.
    """
    state = _State(tasks, vms, weights or RsmWeights())  # lines 2, 3 and 6
    pending = Counter({task.name: task.threads for task in tasks})  # line 4
    threads: dict[SlotId, Counter[str]] = {}  # line 5
    while pending.total() > 0:  # line 7
        for index, task in enumerate(tasks):  # line 8
            if pending[task.name] == 0:  # line 9
                continue
            token.check()
            vm = state.nearest(index)  # lines 10 to 15
            if vm is None:  # lines 16 and 17
                return NoRoom(task.name, 1, task.thread_cpu, task.thread_memory)
            slot = SlotId(vm, state.put(index, vm))  # lines 18 to 20 and 22
            threads.setdefault(slot, Counter())[task.name] += 1
            pending[task.name] -= 1  # line 21
    return {
        slot: [Bundle(name, count) for name, count in threads[slot].items()]
        for slot in sorted(threads)
    }


class _State:
    """What is left of the VMs and slots, and the distance of every VM from every task.

    A thread changes the free capacity of one VM, so that the distances of the others need no new
    computation. All numbers are exact: resources are whole multiples of 1 / `unit` of a slot.
    """

    def __init__(
        self, tasks: Sequence[AllocatedTask], vms: Sequence[OpenVm], weights: RsmWeights
    ) -> None:
        needs = [(task.thread_cpu / 100, task.thread_memory / 100) for task in tasks]
        unit = lcm(*(part.denominator for need in needs for part in need))
        self.needs = [(int(cpu * unit), int(memory * unit)) for cpu, memory in needs]
        factors = (weights.memory, weights.cpu, weights.network * SAME_RACK)
        whole = lcm(*(weight.denominator for weight in factors))
        self.weight_memory, self.weight_cpu, half = (int(one * whole) for one in factors)
        self.same_rack = half * unit**2
        self.other_rack = int(self.same_rack * OTHER_RACK / SAME_RACK)
        self.racks = [vm.vm.rack for vm in vms]
        self.slots = [[unit] * vm.slots for vm in vms]  # memory left, line 3
        self.cpu = [unit * vm.slots for vm in vms]  # line 2
        self.memory = list(self.cpu)
        self.reference = 0  # line 6
        self.distances = [
            [self._distance(task, vm) for vm in range(len(vms))] for task in range(len(tasks))
        ]

    def nearest(self, task: int) -> int | None:
        """Return the nearest VM with room for a thread; ``None`` where none has any."""
        best: int | None = None
        least = 0
        rack = self.racks[self.reference]
        for vm, distance in enumerate(self.distances[task]):
            if distance is None:
                continue
            if vm != self.reference:
                distance += self.same_rack if self.racks[vm] == rack else self.other_rack
            if best is None or distance < least:
                best, least = vm, distance
        return best

    def put(self, task: int, vm: int) -> int:
        """Take what a thread needs from `vm`, and return its slot (lines 20 and 22)."""
        slot = self._fitting_slot(task, vm)
        assert slot is not None
        cpu, memory = self.needs[task]
        self.cpu[vm] -= cpu
        self.memory[vm] -= memory
        self.slots[vm][slot] -= memory
        self.reference = vm
        for other, distances in enumerate(self.distances):
            if distances[vm] is not None:
                distances[vm] = self._distance(other, vm)
        return slot

    def _fitting_slot(self, task: int, vm: int) -> int | None:
        """Return the first slot with memory for a thread, if the VM has CPU for it (line 14)."""
        cpu, memory = self.needs[task]
        if self.cpu[vm] < cpu:
            return None
        return next((slot for slot, left in enumerate(self.slots[vm]) if left >= memory), None)

    def _distance(self, task: int, vm: int) -> int | None:
        """Return the distance without its network term; ``None`` where there is no room."""
        if self._fitting_slot(task, vm) is None:
            return None
        cpu, memory = self.needs[task]
        return (
            self.weight_memory * (self.memory[vm] - memory) ** 2
            + self.weight_cpu * (self.cpu[vm] - cpu) ** 2
        )


# Slot Aware Mapping (SAM), Algorithm 6, section 7.4.


class _Pending:
    """What is not mapped yet of a task: threads, and what the allocation gives them."""

    def __init__(self, task: AllocatedTask) -> None:
        self.task = task
        self.full = full_bundle(task.model)
        self.threads = task.threads
        self.cpu, self.memory, self.rate = task.cpu, task.memory, task.rate

    def has_full_bundle(self) -> bool:
        """Line 8, see `map_sam`."""
        return self.threads >= self.full.threads and self.rate >= self.full.peak_rate

    def take_full_bundle(self) -> Bundle:
        """Lines 12 and 14."""
        self.threads -= self.full.threads
        self.cpu -= FULL_SLOT
        self.memory -= FULL_SLOT
        self.rate -= self.full.peak_rate
        return Bundle(self.task.name, self.full.threads, self.full.peak_rate)

    def take_rest(self) -> Bundle:
        """Lines 21 and 24."""
        bundle = Bundle(self.task.name, self.threads, self.rate)
        self.threads, self.cpu, self.memory = 0, Fraction(0), Fraction(0)
        return bundle


def map_sam(
    tasks: Sequence[AllocatedTask],
    vms: Sequence[OpenVm],
    *,
    token: CancellationToken = UNLIMITED,
) -> Mapped | NoRoom:
    """Return full bundles on slots of their own, partial ones where they fit best.

    `tasks` must come from MBA: a full bundle of it is 100 % CPU and memory. Line 8 asks for a full
    bundle's threads; here also for tuples that fill it, which in MBA's figures is the demand of a
    whole slot. The literal text gives a task whose full bundle is one thread a slot for its scaled
    residual, and drives its demand below 0.

    A slot with a full bundle is exclusive (section 7.4): it takes no partial one, even of threads
    that were measured to need nothing, for which lines 13 and 18 would leave it room.

    GetNextFullSlot (line 9) takes the first empty slot of the VM mapped to last, by either kind of
    bundle, or of the VMs after it in turn; GetBestFitSlot (line 18) the slot with the least CPU +
    memory left that suffices, the first of equals, an empty one too. Bundles carry the rate that
    MBA planned for them: the full bundle's peak rate, or the residual.

    Raises `CancelledError` where `token` is cancelled.
    """
    slots = open_slots(vms)
    cpu = dict.fromkeys(slots, FULL_SLOT)  # line 4
    memory = dict.fromkeys(slots, FULL_SLOT)
    mapped: Mapped = {}  # line 5
    current = 0
    pending = [_Pending(task) for task in tasks]  # lines 2 and 3
    while any(task.threads for task in pending):  # line 6
        for task in pending:  # line 7
            if task.threads == 0:
                continue
            token.check()
            name, whole = task.task.name, task.has_full_bundle()
            if whole:  # lines 8 to 15
                slot = _next_empty_slot(slots, mapped, current, len(vms))
                if slot is None:
                    return NoRoom(name, task.full.threads, FULL_SLOT, FULL_SLOT)
                del cpu[slot], memory[slot]
                bundle = task.take_full_bundle()
            else:  # lines 16 to 24
                slot = _best_fit(cpu, memory, task)
                if slot is None:
                    return NoRoom(name, task.threads, task.cpu, task.memory)
                cpu[slot] -= task.cpu
                memory[slot] -= task.memory
                bundle = task.take_rest()
            mapped.setdefault(slot, []).append(bundle)
            current = slot.vm
    return dict(sorted(mapped.items()))


def _next_empty_slot(
    slots: Sequence[SlotId], mapped: Mapped, current: int, vms: int
) -> SlotId | None:
    """Return the first empty slot from VM `current` on, round the list of VMs."""
    empty = (slot for slot in slots if slot not in mapped)
    return min(empty, key=lambda slot: ((slot.vm - current) % vms, slot.slot), default=None)


def _best_fit(
    cpu: dict[SlotId, Fraction], memory: dict[SlotId, Fraction], task: _Pending
) -> SlotId | None:
    """Return the slot with the least left that suffices for all that is pending of `task`."""
    enough = (slot for slot in cpu if cpu[slot] >= task.cpu and memory[slot] >= task.memory)
    return min(enough, key=lambda slot: cpu[slot] + memory[slot], default=None)


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
        The name by which users select it.
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
    """A pair's plan; `models.allocation.check` checks whether it supports its rate.

    Parameters
    ----------
    pair
        The pair that made it.
    allocation
        Task -> its allocation.
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
        The available sizes of VMs.
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
    planned = Plan(rate, fitted.vms, in_slots(fitted.mapped, fitted.vms))
    return Planned(pair, allocation, estimate, fitted.slots, planned)


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
