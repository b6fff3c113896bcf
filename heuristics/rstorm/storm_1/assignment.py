"""What runs where, as Apache Storm 1.0.6 keeps it: ``SchedulerAssignmentImpl`` (tag v1.0.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from slotwise.heuristics.ras.java.hash_codes import executor_hash
from slotwise.heuristics.ras.java.hash_map import JavaTable
from slotwise.heuristics.ras.java.iteration_order import walk
from slotwise.heuristics.rstorm.storm_1.cluster import Slot


class SchedulerAssignment:
    """The slot of each executor of a topology that has one, in the order of Java's map.

    Parameters
    ----------
    slots
        In the order of the map that this one is a copy of.
    java
        Release of Java whose hash tables are followed.
    """

    def __init__(self, slots: dict[int, Slot], java: int) -> None:
        self._slots = dict(slots)
        self._order = JavaTable.copy_of(list(slots), executor_hash, java)
        self._java = java

    def copy(self) -> SchedulerAssignment:
        """Return a copy; its map may have fewer buckets, and so another order."""
        return SchedulerAssignment(self.slots(), self._java)

    def slots(self) -> dict[int, Slot]:
        """Return executor -> slot, in the order of the map."""
        return {executor: self._slots[executor] for executor in self._order}

    def assign(self, slot: Slot, executors: Iterable[int]) -> None:
        """Put `executors` into a slot; they must have none."""
        for executor in executors:
            self._slots[executor] = slot
            self._order.put(executor)

    def executors_in(self, slot: Slot) -> list[int]:
        """Return the executors of a slot, in the order of the map."""
        return [executor for executor in self._order if self._slots[executor] == slot]

    def unassign(self, slot: Slot) -> None:
        """Take all executors out of a slot."""
        for executor in self.executors_in(slot):
            del self._slots[executor]
            self._order.remove(executor)

    def by_slot(self, hash_of: Callable[[Slot], int]) -> list[tuple[Slot, list[int]]]:
        """Return the slots in the order of Java's map of them, each with its executors."""
        held: dict[Slot, list[int]] = {}
        for executor, slot in self.slots().items():
            held.setdefault(slot, []).append(executor)
        return [(slot, held[slot]) for slot in walk(list(held), hash_of)]
