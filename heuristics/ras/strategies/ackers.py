"""Ackers that are bound to workers (``SchedulingSearcherState``, ``assignBoundAckers...``).

With the first executor that a call puts into a worker come ackers, as many as the topology's
``ackers.per_worker``, as the worker's heap has room for, and as are valid there. (Storm says "a
new worker" and means one without ackers bound by this call.) What is left is placed at the end
like any other executor.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from slotwise.heuristics.ras.state.assignment_tables import Slot
from slotwise.heuristics.ras.strategies.fit import Fit


class BoundAckers:
    """The ackers of one strategy call.

    Parameters
    ----------
    fit
        The rules of the call.
    waiting
        Ackers without a place, in the order in which they are bound.

    Attributes
    ----------
    bound
        Ackers that came with another executor.
    """

    def __init__(self, fit: Fit, waiting: Sequence[int]) -> None:
        self.bound: set[int] = set()
        self._fit = fit
        self._waiting = deque(waiting)
        self._at: dict[Slot, list[int]] = {}
        self._bringers: set[int] = set()
        ackers = fit.view.topology.ackers
        self._per_worker = 1 if ackers is None else ackers.per_worker

    def bind(self, task: int, slot: Slot) -> None:
        """Assign the ackers that come with `task`, which was just put into `slot`."""
        if not self._waiting:
            return
        fit = self._fit
        node, label = slot
        for _ in range(self._count(task, slot)):
            acker = self._waiting[0]
            if not fit.could_ever_fit(node, fit.view.component_of[acker]):
                return
            after = fit.join(node, label, acker)
            if after is None:
                return
            fit.state.replace(slot, after)
            self._at.setdefault(slot, []).append(self._waiting.popleft())
            self.bound.add(acker)
            self._bringers.add(task)

    def release(self, task: int, slot: Slot) -> None:
        """Take back the ackers that came with `task`, which has just left `slot`.

        Storm frees the whole worker; whoever else was in it (an executor from before the ackers
        came) loses its place without a word.
        """
        if task in self._bringers:
            self._bringers.remove(task)
            ackers = self._at.pop(slot, None)
            if ackers:
                self.bound.difference_update(ackers)
                self._waiting.extendleft(reversed(ackers))
                self._fit.state.free_slot(slot)

    def _count(self, task: int, slot: Slot) -> int:
        """Return how many ackers are to come with `task`."""
        view = self._fit.view
        topology = view.topology
        c = view.component_of[task]
        if topology.one_task_per_worker or topology.one_component_per_worker:
            return 0
        if c == view.acker or slot in self._at:
            return 0
        room = view.heap_limit - view.components[c].need.onheap
        asked = view.components[view.component_of[self._waiting[0]]].need.onheap
        return min(_times(room, asked), len(self._waiting), self._per_worker)


def _times(room: float, asked: float) -> int:
    """Return floor(room / asked) as Java has it, also for 0: a quotient of 0 by 0 is 0."""
    if asked == 0:
        return 0 if room == 0 else (2**31 - 1 if room > 0 else -(2**31))
    quotient = room / asked
    return 2**31 - 1 if quotient >= 2**31 else math.floor(quotient)
