"""R-Storm Mapping (RSM), Algorithm 5, section 7.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from slotwise.heuristics.sam.mapping import AllocatedTask, Mapped, NoRoom, OpenVm, SlotId
from slotwise.models.allocation.plan import Bundle
from slotwise.models.cancellation import UNLIMITED, CancellationToken
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

    A thread changes what is left of one VM, so that the distances of the others need no new
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
