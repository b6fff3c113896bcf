"""The loop of ``RoundRobinResourceAwareStrategy``: executors dealt over the nodes in turn.

Nodes are sorted once; those that run another topology are left out, and of the rest the first
``ras.isolated_machines`` are used. Each executor goes on behind the node that took the one
before. Oddities kept: the round starts over where an executor's component is the *same* as that
of the executor before, so that executors of one component fill the first nodes; there is no
stepping back, and an executor for which the rest of the round has no slot ends it, which counts
as a success where it is the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slotwise.heuristics.ras.strategies.ackers import BoundAckers
from slotwise.heuristics.ras.strategies.backtracking import SearchResult
from slotwise.heuristics.ras.strategies.fit import Fit
from slotwise.heuristics.ras.strategies.node_sorter import NodeSorter
from slotwise.models.cancellation import CancellationToken


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
        of = self._fit.view.component_of
        last = len(self._order) - 1
        nodes: Iterator[int] = iter(())
        left = 0
        for at, task in enumerate(self._order):
            self._token.check()
            if self._states > self._max_states or self._token.now() > self._end:
                return SearchResult(False, at, self._states, 0)
            if task in self._ackers.bound:
                continue
            if not left or at == 0 or of[task] == of[self._order[at - 1]]:
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
        found = fit.scan(node, task, 0)
        if found is None:
            return False
        self._states += 1
        self._ackers.bind(task, fit.take(node, *found))
        return True
