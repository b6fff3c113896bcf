"""Search among the contents of the nodes whose reduced cost fits the gap.

A placement gives each node k a content S, and its cost is a Lagrangian bound plus the reduced costs
of its contents (`subset_fixing`), its *loss*. Half of the nodes are joined one after the other to
sets of placed tasks with their least loss, so is the other half, and two sets that complement each
other make a placement. All losses stay within the gap, which starts small and widens: nothing found
within a loss raises the bound to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.assignment.subsets.subset_fixing import Priced
from slotwise.solver.core.memory import RunToken

PAIRS_A_CALL = 10**8
"""Pairs of a set and a content between two looks at the clock, well under a second."""
WIDENING = 4
"""Of the loss, from one search to the next."""
FIRST_SHARE = 64
"""The first loss is this part of the gap."""

Layer = tuple[IntArray, IntArray]
"""Sets of placed tasks, ascending, and the least loss of each."""


class TooManySetsError(Exception):
    """More sets of placed tasks than the search may keep."""


@dataclass(frozen=True, slots=True, eq=False)
class ContentSearch:
    """The search among `priced` contents.

    Parameters
    ----------
    priced
        Contents and reduced costs.
    tasks
        Number of tasks.
    most_sets
        Sets of placed tasks to keep at most.
    """

    priced: Priced
    tasks: int
    most_sets: int
    token: RunToken

    def widening(self, gap: int) -> Iterator[tuple[int, IntArray | None]]:
        """Yield losses up to `gap` and the best placement of at most such a loss, if any.

        Ends with the first placement, the node of each task.

        Raises
        ------
        TooManySetsError
            When a search grows too large.
        """
        loss = gap // FIRST_SHARE
        while True:
            found = self.best_within(loss)
            yield loss, found
            if found is not None or loss >= gap:
                return
            loss = min(gap, max(1, loss * WIDENING))

    def best_within(self, most: int) -> IntArray | None:
        """Return the node of each task in the placement of least loss, if that is within `most`."""
        nodes = sorted(self.priced.losses, key=lambda k: (len(self._within(k, most)[0]), k))
        halves = [nodes[::2], nodes[1::2]]
        first, second = (self._layers(half, most) for half in halves)
        full = (1 << self.tasks) - 1
        (sets, losses), (others, other_losses) = first[-1], second[-1]
        at = np.searchsorted(others, full ^ sets)
        at[at == len(others)] = 0
        both = np.flatnonzero(others[at] == full ^ sets) if len(others) else np.zeros(0, np.int64)
        total = losses[both] + other_losses[at[both]] if len(both) else both
        if not len(both) or total.min() > most:
            return None
        best = both[total.argmin()]
        found = np.zeros(self.tasks, dtype=np.int64)
        for half, layers, placed in zip(
            halves, (first, second), (int(sets[best]), full ^ int(sets[best])), strict=True
        ):
            self._trace(half, layers, placed, found)
        return found

    def _within(self, node: int, most: int) -> tuple[IntArray, IntArray]:
        """Return the contents of a node of at most such a loss, the least loss first."""
        sets, losses = self.priced.sets[node], self.priced.losses[node]
        near = np.flatnonzero(losses <= most)
        near = near[np.argsort(losses[near], kind="stable")]
        return sets[near], losses[near]

    def _layers(self, nodes: list[int], most: int) -> list[Layer]:
        """Return the sets of tasks that the first of these nodes can hold, for each number."""
        layers: list[Layer] = [(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))]
        for node in nodes:
            layers.append(self._joined(layers[-1], self._within(node, most), most))
        return layers

    def _joined(self, placed: Layer, contents: tuple[IntArray, IntArray], most: int) -> Layer:
        from slotwise.solver.assignment.subsets.subset_kernels import join

        nothing = np.zeros(0, dtype=np.int64)
        parts: list[Layer] = [(nothing, nothing)]
        a_call = max(1, PAIRS_A_CALL // max(1, len(contents[0])))
        kept = 0
        for start in range(0, len(placed[0]), a_call):
            self.token.check()
            some = (placed[0][start : start + a_call], placed[1][start : start + a_call])
            count = join(*some, *contents, most, nothing, nothing)
            if kept + count > self.most_sets:
                raise TooManySetsError
            joined = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
            join(*some, *contents, most, *joined)
            parts.append(_least(*joined))
            kept += len(parts[-1][0])
        return _least(*(np.concatenate(one) for one in zip(*parts, strict=True)))

    def _trace(self, nodes: list[int], layers: list[Layer], placed: int, found: IntArray) -> None:
        """Write the nodes of the tasks `placed` into `found`, the last node first."""
        for position in range(len(nodes) - 1, -1, -1):
            node, (sets, losses) = nodes[position], layers[position]
            after_sets, after_losses = layers[position + 1]
            loss = int(after_losses[np.searchsorted(after_sets, placed)])
            contents, content_losses = self.priced.sets[node], self.priced.losses[node]
            inside = np.flatnonzero((contents & ~placed) == 0)
            rest = placed ^ contents[inside]
            at = np.minimum(np.searchsorted(sets, rest), len(sets) - 1)
            fits = (sets[at] == rest) & (losses[at] + content_losses[inside] == loss)
            content = int(contents[inside[np.flatnonzero(fits)[0]]])
            found[[i for i in range(self.tasks) if content >> i & 1]] = node
            placed ^= content


def _least(sets: IntArray, losses: IntArray) -> Layer:
    """Return each set once, with its least loss."""
    order = np.lexsort((losses, sets))
    sets, losses = sets[order], losses[order]
    first = np.ones(len(sets), dtype=np.bool_)
    first[1:] = sets[1:] != sets[:-1]
    return sets[first], losses[first]
