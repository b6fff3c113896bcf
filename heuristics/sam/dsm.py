"""Default Storm Mapping (DSM), Algorithm 4, section 7.2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from slotwise.heuristics.sam.mapping import AllocatedTask, Mapped, OpenVm, open_slots
from slotwise.models.allocation.plan import Bundle
from slotwise.models.cancellation import UNLIMITED, CancellationToken


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
