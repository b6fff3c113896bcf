"""Kinds that share places of one size, as a forest and a few kinds that close its cycles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import networkx as nx
import numpy as np

from slotwise.models.problem import BoolArray, IntArray
from slotwise.solver.engine import NotTakenError

MOST_CASES = 5_000
"""Combinations of counts of the kinds that close cycles."""

Admits = Callable[[IntArray], BoolArray]
"""Whether contents [Y, K] keep all rules of a place, not only that on `weights`."""


@dataclass(frozen=True, slots=True, eq=False)
class PieceGraph:
    """K kinds on places that all hold the same.

    Parameters
    ----------
    sizes, flow
        [K] number of tasks; [K, K] symmetric: flow of a pair of tasks.
    weights, capacity
        [K] whole units that a task takes of a place, and the units of a place: every content that
        a place can hold keeps this rule.
    most
        [K] most tasks of a kind in a place.
    closing
        Kinds without which the flows have no cycle.
    order
        The other kinds, parents before children.
    parent, children
        [K] parent of each kind in the forest, -1 for roots and closing kinds; its children.
    admits
        The rules of a place in full.
    """

    sizes: IntArray
    flow: IntArray
    weights: IntArray
    capacity: int
    most: IntArray
    closing: tuple[int, ...]
    order: tuple[int, ...]
    parent: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    admits: Admits

    @property
    def count(self) -> int:
        """Number of kinds."""
        return len(self.sizes)

    def gains(self, counts: IntArray) -> IntArray:
        """Return, for each row [.., K] of counts, the flow inside a place that holds them."""
        both = np.einsum("...i,ij,...j->...", counts, self.flow, counts, optimize=True)
        return np.asarray(both // 2, dtype=np.int64)

    def cases(self) -> Iterator[IntArray]:
        """Yield [K] every choice of counts of the closing kinds, 0 elsewhere, that fits."""
        ranges = (range(int(self.most[k]) + 1) for k in self.closing)
        for counts in itertools.product(*ranges):
            case = np.zeros(self.count, dtype=np.int64)
            case[list(self.closing)] = counts
            if int(case @ self.weights) <= self.capacity:
                yield case

    def connected(self, counts: IntArray) -> bool:
        """Return whether the kinds present hang together by flows."""
        present = np.flatnonzero(counts).tolist()
        graph = nx.from_numpy_array(self.flow[np.ix_(present, present)] > 0)
        return bool(present) and nx.is_connected(graph)


def piece_graph(
    sizes: IntArray,
    flow: IntArray,
    weights: IntArray,
    capacity: int,
    most: IntArray,
    admits: Admits,
) -> PieceGraph:
    """Return the graph; see `PieceGraph`.

    Raises
    ------
    NotTakenError
        When the flows have too many cycles.
    """
    whole = nx.from_numpy_array((flow > 0) & ~np.eye(len(sizes), dtype=np.bool_))
    forest, closing = whole.copy(), []
    while len(core := nx.k_core(forest, 2)):
        joints = [k for k in core if core.degree(k) > 2] or list(core)
        closing.append(
            min(joints, key=lambda k: (math.log(int(most[k]) + 1) / (core.degree(k) - 1), k))
        )
        forest.remove_node(closing[-1])
    if math.prod(int(most[k]) + 1 for k in closing) > MOST_CASES:
        raise NotTakenError(f"the flows have too many cycles ({len(closing)} kinds close them)")
    order: list[int] = []
    parent = [-1] * len(sizes)
    for group in nx.connected_components(forest):
        root = max(group, key=lambda k: (int(most[k]), -k))
        order.append(root)
        for above, below in nx.dfs_edges(forest, root):
            parent[below] = above
            order.append(below)
    children: list[list[int]] = [[] for _ in sizes]
    for k in order:
        if parent[k] >= 0:
            children[parent[k]].append(k)
    return PieceGraph(
        sizes=sizes,
        flow=flow,
        weights=weights,
        capacity=capacity,
        most=most,
        closing=tuple(closing),
        order=tuple(order),
        parent=tuple(parent),
        children=tuple(tuple(group) for group in children),
        admits=admits,
    )
