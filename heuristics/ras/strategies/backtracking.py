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

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.heuristics.ras.state.assignment_tables import Slot
from slotwise.heuristics.ras.strategies.ackers import BoundAckers
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
        Whether nodes are sorted for single executors.
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
            found = fit.scan(node, task, skip)
            if found is None:
                self._pass(at, count)
                if not skip:
                    nodes.reject(node, component)
                continue
            self._pass(at, found[0] + 1)
            self._states += 1
            self._slots[at] = slot = fit.take(node, *found)
            self._ackers.bind(task, slot)
            return True
        return False

    def _pass(self, at: int, count: int) -> None:
        """Count slots that were come by, those before the place to go on as skipped."""
        skip = min(count, max(0, self._tried[at] - self._progress))
        self._progress += count
        self._tried[at] += count - skip

    def _same_as_before(self, at: int) -> bool:
        of = self._fit.view.component_of
        return at == 0 or of[self._order[at]] == of[self._order[at - 1]]

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
