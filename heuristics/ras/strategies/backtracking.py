"""The search of Storm's RAS strategies (``BaseResourceAwareStrategy.scheduleExecutorsOnNodes``).

Depth first over the executors in order: each takes the first slot that is valid, in the order of
nodes; an executor without one sends the search back to the executor before, which goes on with
its next slot. Two oddities are kept. Nodes are sorted again for an executor where its component
is the *same* as that of the executor before (Storm's ``isExecCompDifferentFromPrior`` says the
contrary of its name); else the order made for another executor serves. The place where a search
goes on is a number of slots, though the nodes have been sorted again by then. And a topology of a
single executor counts as scheduled even where no slot takes it (``areAllExecsScheduled`` asks
only whether the last executor is at hand).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slotwise.heuristics.ras.state import Slot
from slotwise.heuristics.ras.strategies.fit import Fit
from slotwise.heuristics.ras.strategies.node_sorter import NodeSorter, SortedNodes
from slotwise.models.cancellation import CancellationToken


class LostExecutorError(Exception):
    """The search came back to an executor that `Ackers.release` took from its worker.

    Storm's search fails there with an exception of its own.
    """


@dataclass(frozen=True, slots=True)
class SearchResult:
    """How a search ended: the position it reached, states and steps back on the way."""

    success: bool
    position: int
    states: int
    backtracked: int


class Search:
    """One search.

    Parameters
    ----------
    fit, sorter, ackers
        The rules, node orders and ackers of the call.
    order
        The executors to place, ackers last.
    token
        Checked with every executor: `CancelledError` where it is cancelled.
    sort_each
        Whether nodes are sorted for each executor.
    max_states, max_seconds
        The search gives up beyond them.
    """

    def __init__(
        self,
        fit: Fit,
        sorter: NodeSorter,
        ackers: BoundAckers,
        order: Sequence[int],
        token: CancellationToken,
        *,
        sort_each: bool,
        max_states: int,
        max_seconds: float,
    ) -> None:
        self._fit, self._sorter, self._ackers = fit, sorter, ackers
        self._order = order
        self._token = token
        self._sort_each = sort_each
        self._max_states = max_states
        self._end = token.now() + max_seconds
        self._tried = [-1] * len(order)
        self._slots: list[Slot | None] = [None] * len(order)
        self._nodes: SortedNodes | None = None if sort_each else sorter.sort(None)
        self._progress = -1
        self._states = 0
        self._backtracked = 0

    def run(self) -> SearchResult:
        """Place all executors, or give up; a search that gives up leaves some of them placed."""
        at = 0
        while True:
            self._token.check()
            if self._states > self._max_states or self._token.now() > self._end:
                return self._found(False, at)
            if self._order[at] in self._ackers.bound or self._place(at):
                if at == len(self._order) - 1:
                    return self._found(True, at)
                at += 1
            else:
                self._nodes = None
                if at == 0:
                    return self._found(len(self._order) == 1, at)
                self._tried[at] = -1
                at = self._step_back(at)

    def _found(self, success: bool, at: int) -> SearchResult:
        return SearchResult(success, at, self._states, self._backtracked)

    def _place(self, at: int) -> bool:
        """Put the executor at position `at` into the next slot that is valid, if there is one."""
        fit, task = self._fit, self._order[at]
        component = fit.view.component_of[task]
        nodes = self._nodes
        if nodes is None or (self._sort_each and self._same_as_before(at)):
            self._progress = -1
            nodes = self._nodes = self._sorter.sort(component)
        for node, passed in nodes.walk(component):
            if passed:
                self._pass(at, passed)
            if node < 0:
                break
            count = fit.slot_counts[node]
            skip = min(count, max(0, self._tried[at] - self._progress))
            candidate = fit.scan(node, task, skip)
            if candidate is None:
                self._pass(at, count)
                if not skip:
                    nodes.reject(node, component)
                continue
            self._pass(at, candidate[0] + 1)
            self._states += 1
            self._slots[at] = slot = fit.take(node, *candidate)
            self._ackers.bind(task, slot)
            return True
        return False

    def _pass(self, at: int, count: int) -> None:
        """Count slots that were come by, those before the place to go on as skipped."""
        skip = min(count, max(0, self._tried[at] - self._progress))
        self._progress += count
        self._tried[at] += count - skip

    def _same_as_before(self, at: int) -> bool:
        component_of = self._fit.view.component_of
        return at == 0 or component_of[self._order[at]] == component_of[self._order[at - 1]]

    def _step_back(self, at: int) -> int:
        """Undo the last executor that was placed by itself; return its position."""
        at -= 1
        while self._order[at] in self._ackers.bound:
            at -= 1
        self._backtracked += 1
        task, slot = self._order[at], self._slots[at]
        assert slot is not None, "an executor behind the present one has a slot"
        if task not in self._fit.state.places[self._fit.topology]:
            raise LostExecutorError
        self._fit.state.free_task(slot, task)
        self._ackers.release(task, slot)
        return at


# Ackers that are bound to workers (``SchedulingSearcherState``, ``assignBoundAckers...``).
#
# With the first executor that a call puts into a worker come ackers, as many as the topology's
# ``ackers.per_worker``, as the worker's heap has room for, and as are valid there. (Storm says "a
# new worker" and means one without ackers bound by this call.) What is left is placed at the end
# like any other executor.


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
        onheap = view.components[view.component_of[self._waiting[0]]].need.onheap
        return min(_times(room, onheap), len(self._waiting), self._per_worker)


def _times(room: float, amount: float) -> int:
    """Return floor(room / amount) as Java has it, also for 0: a quotient of 0 by 0 is 0."""
    if amount == 0:
        return 0 if room == 0 else (2**31 - 1 if room > 0 else -(2**31))
    quotient = room / amount
    return 2**31 - 1 if quotient >= 2**31 else math.floor(quotient)


# The loop of ``RoundRobinResourceAwareStrategy``: executors dealt over the nodes in turn.
#
# Nodes are sorted once; those that run another topology are left out, and of the rest the first
# ``ras.isolated_machines`` are used. Each executor goes on behind the node that took the one
# before. Oddities kept: the round starts over where an executor's component is the *same* as that
# of the executor before, so that executors of one component fill the first nodes; there is no
# stepping back, and an executor for which the rest of the round has no slot ends it, which counts
# as a success where it is the last one.


class RoundRobin:
    """One round; parameters as in `Search`."""

    def __init__(
        self,
        fit: Fit,
        sorter: NodeSorter,
        ackers: BoundAckers,
        order: Sequence[int],
        token: CancellationToken,
        *,
        max_states: int,
        max_seconds: float,
    ) -> None:
        self._fit, self._ackers = fit, ackers
        self._order = order
        self._token = token
        self._max_states = max_states
        self._end = token.now() + max_seconds
        self._nodes = self._own_nodes(sorter)
        self._states = 0

    def run(self) -> SearchResult:
        """Place the executors one after another until one finds no slot."""
        component_of = self._fit.view.component_of
        last = len(self._order) - 1
        nodes: Iterator[int] = iter(())
        left = 0
        for at, task in enumerate(self._order):
            self._token.check()
            if self._states > self._max_states or self._token.now() > self._end:
                return SearchResult(False, at, self._states, 0)
            if task in self._ackers.bound:
                continue
            if not left or at == 0 or component_of[task] == component_of[self._order[at - 1]]:
                nodes, left = iter(self._nodes), len(self._nodes)
            placed = False
            for node in nodes:
                left -= 1
                if self._place(task, node):
                    placed = True
                    break
            if not placed:
                return SearchResult(at == last, at, self._states, 0)
        return SearchResult(True, last, self._states, 0)

    def _own_nodes(self, sorter: NodeSorter) -> list[int]:
        fit = self._fit
        most = fit.view.topology.ras.isolated_machines
        nodes = [
            node
            for node in sorter.sort(None).nodes()
            if all(worker.topology == fit.topology for worker in fit.state.workers[node].values())
        ]
        return nodes if most is None else nodes[:most]

    def _place(self, task: int, node: int) -> bool:
        fit = self._fit
        if not fit.could_ever_fit(node, fit.view.component_of[task]):
            return False
        candidate = fit.scan(node, task, 0)
        if candidate is None:
            return False
        self._states += 1
        self._ackers.bind(task, fit.take(node, *candidate))
        return True
