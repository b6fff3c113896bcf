"""R-Storm Mapping (RSM), Algorithm 5, section 7.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.heuristics.sam.mapping import AllocatedTask, Mapped, NoRoom, OpenVm, SlotId
from slotwise.models.allocation.plan import Bundle
from slotwise.models.errors import InputError

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


class _VmState:
    """What RSM keeps of a VM: CPU and memory left in all, memory left per slot (lines 2 and 3)."""

    def __init__(self, vm: OpenVm) -> None:
        self.rack = vm.vm.rack
        self.cpu = Fraction(100 * vm.slots)
        self.memory = Fraction(100 * vm.slots)
        self.slot_memory = [Fraction(100)] * vm.slots

    def slot_for(self, task: AllocatedTask) -> int | None:
        """Return the first slot with memory for a thread, if the VM has CPU for it (line 14)."""
        if self.cpu < task.thread_cpu:
            return None
        for slot, free in enumerate(self.slot_memory):
            if free >= task.thread_memory:
                return slot
        return None

    def put(self, task: AllocatedTask, slot: int) -> None:
        """Take what a thread needs (line 20)."""
        self.cpu -= task.thread_cpu
        self.memory -= task.thread_memory
        self.slot_memory[slot] -= task.thread_memory


def map_rsm(
    tasks: Sequence[AllocatedTask], vms: Sequence[OpenVm], weights: RsmWeights | None = None
) -> Mapped | NoRoom:
    """Return one thread of each task per sweep on the nearest VM that has room for it.

    CPU is checked for the VM, memory for the slot. Lines 11 to 15 sort the VMs by distance and
    take the first one with a fitting slot; here the fitting ones are compared. Ties: the first VM,
    and the first of its slots that fit. Resources are counted in slots in the distance, as line 2
    does (1.00 = one slot), and a thread's needs are those of its `AllocatedTask`: C(1) and M(1) or
    an equal part, by the allocation.
    """
    weights = weights or RsmWeights()
    states = [_VmState(vm) for vm in vms]
    pending = Counter({task.name: task.threads for task in tasks})  # line 4
    threads: dict[SlotId, Counter[str]] = {}  # line 5
    reference = 0  # line 6
    while pending.total() > 0:  # line 7
        for task in tasks:  # line 8
            if pending[task.name] == 0:  # line 9
                continue
            found = _nearest(task, states, reference, weights)  # lines 10 to 15
            if found is None:  # lines 16 and 17
                return NoRoom(task.name, 1, task.thread_cpu, task.thread_memory)
            states[found.vm].put(task, found.slot)
            threads.setdefault(found, Counter())[task.name] += 1  # lines 18 and 19
            pending[task.name] -= 1  # line 21
            reference = found.vm  # line 22
    return {
        slot: [Bundle(name, count) for name, count in threads[slot].items()]
        for slot in sorted(threads)
    }


def _nearest(
    task: AllocatedTask, states: Sequence[_VmState], reference: int, weights: RsmWeights
) -> SlotId | None:
    """Return a fitting slot on the nearest VM that has one."""
    best: tuple[Fraction, SlotId] | None = None
    for index, vm in enumerate(states):
        slot = vm.slot_for(task)
        if slot is None:
            continue
        network = Fraction(0)
        if index != reference:
            network = SAME_RACK if vm.rack == states[reference].rack else OTHER_RACK
        distance = (
            weights.memory * ((vm.memory - task.thread_memory) / 100) ** 2
            + weights.cpu * ((vm.cpu - task.thread_cpu) / 100) ** 2
            + weights.network * network
        )
        if best is None or distance < best[0]:
            best = distance, SlotId(index, slot)
    return best and best[1]
