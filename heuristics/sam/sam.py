"""Slot Aware Mapping (SAM), Algorithm 6, section 7.4."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from slotwise.heuristics.sam.allocations import FULL_SLOT
from slotwise.heuristics.sam.mapping import (
    AllocatedTask,
    Mapped,
    NoRoom,
    OpenVm,
    SlotId,
    open_slots,
)
from slotwise.models.allocation.plan import Bundle
from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.performance.curves import full_bundle


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
                cpu[slot] = memory[slot] = Fraction(0)
                bundle = task.take_full_bundle()
            else:  # lines 16 to 24
                slot = _best_fit(slots, cpu, memory, task)
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
    slots: Sequence[SlotId],
    cpu: dict[SlotId, Fraction],
    memory: dict[SlotId, Fraction],
    task: _Pending,
) -> SlotId | None:
    """Return the slot with the least left that suffices for all that is pending of `task`."""
    enough = (slot for slot in slots if cpu[slot] >= task.cpu and memory[slot] >= task.memory)
    return min(enough, key=lambda slot: cpu[slot] + memory[slot], default=None)
