"""The sizes of the nodes there are, for rounding: columns are priced on the largest one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.structure.task_types import TaskTypes

MAX_SHRUNK = 400
"""Most columns that are cut down to smaller nodes."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeSizes:
    """Sizes of nodes, each at most the one before in everything.

    Parameters
    ----------
    kinds
        What they hold.
    capacity
        [T, D] of a node.
    counts
        [T - 1] how many nodes there are of each size but the last and all before it. All together
        are no limit: contents of few tasks share nodes.
    """

    kinds: TaskTypes
    capacity: IntArray
    counts: IntArray

    def smallest(self, contents: IntArray) -> IntArray:
        """Return [Y] the last size that holds each content [Y, K]; -1 where none does."""
        demand = contents @ self.kinds.demand
        fits = (demand[:, None, :] <= self.capacity[None, :, :]).all(axis=2)
        return np.asarray(fits.sum(axis=1) - 1)  # sizes are nested, so the first ones fit

    def entries(self, contents: IntArray) -> BoolArray:
        """Return [Y, T - 1] whether a content needs one of the first sizes, up to each."""
        return np.asarray(self.smallest(contents)[:, None] <= np.arange(len(self.counts)))

    def with_smaller(self, contents: IntArray) -> IntArray:
        """Return the contents that fit, and each cut down to every smaller size."""
        found = [contents[self.smallest(contents) >= 0]]
        for content in contents[:MAX_SHRUNK]:
            for capacity in self.capacity:
                content = self._shrunk(content, capacity)
                found.append(content[None, :])
        rows = np.unique(np.concatenate(found), axis=0)
        return np.asarray(rows[rows.any(axis=1)])

    def _shrunk(self, content: IntArray, capacity: IntArray) -> IntArray:
        """Return the content without the tasks that lose the least flow for what they take."""
        demand, content = self.kinds.demand, content.copy()
        while (over := content @ demand - capacity).max(initial=0) > 0:
            takes = (demand * (over > 0) / np.maximum(capacity, 1)).sum(axis=1)
            loss = (self.kinds.flow @ content + 1) / np.maximum(takes, 1e-9)
            loss[(content == 0) | (takes == 0)] = np.inf
            k = int(np.argmin(loss))
            more = int(over[demand[k] > 0].max()) // max(int(demand[k].max()), 1)
            content[k] -= max(1, min(int(content[k]), more) // 2)
        return content


def node_sizes(problem: Problem, kinds: TaskTypes) -> NodeSizes:
    """Return the sizes of the rack that offers most, or of all nodes where it is too small.

    Sizes that are not nested in those before are left out.
    """
    share = problem.capacity.max(axis=0).clip(1).astype(np.float64)
    size = (problem.capacity / share).sum(axis=1)
    racks = [np.flatnonzero(problem.node_rack == rack) for rack in range(len(problem.racks))]
    nodes = max(racks, key=lambda some: float(size[some].sum()))
    needed = (kinds.sizes @ kinds.demand).astype(np.float64)
    if (problem.capacity[nodes].astype(np.float64).sum(axis=0) < needed).any():
        nodes = np.arange(problem.node_count)
    found, counts = np.unique(problem.capacity[nodes], axis=0, return_counts=True)
    chain: list[IntArray] = []
    many: list[int] = []
    for row in np.argsort(-(found / share).sum(axis=1), kind="stable").tolist():
        if not chain or (found[row] <= chain[-1]).all():
            chain.append(found[row])
            many.append(int(counts[row]) + (many[-1] if many else 0))
    return NodeSizes(kinds, np.array(chain), np.array(many[:-1], dtype=np.int64))
