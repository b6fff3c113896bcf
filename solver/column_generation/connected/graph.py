"""Kinds that share places of one size, their flows as a forest: what dynamic programming needs.

A few kinds, a feedback vertex set of the flow graph, are set aside and all combinations of their
counts (assignments) tried. Edges that close further cycles are relaxed:
``2 u v <= p u^2 + v^2 / p`` bounds the flow of u and v tasks by terms of one kind each, and is
exact where the tasks stand in the ratio p of all tasks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS
from slotwise.solver.structure.task_types import flow_inside

Admits = Callable[[IntArray], BoolArray]
"""Whether configurations [Y, K] keep all rules of a place, not only that on `weights`."""


@dataclass(frozen=True, eq=False)
class FlowGraph:
    """K kinds on places that all hold the same.

    Parameters
    ----------
    sizes, flow
        [K] number of tasks; [K, K] symmetric: flow of a pair of tasks.
    weights, capacity
        [K] whole units that a task takes of a place, and the units of a place: every
        configuration that a place can hold keeps this rule.
    most
        [K] most tasks of a kind in a place.
    feedback
        Kinds whose counts are tried one by one: a feedback vertex set of the flows that are not
        relaxed.
    relaxed
        Edges between other kinds whose flow is only bounded; without them and the feedback kinds
        the flows have no cycle.
    order
        The other kinds, parents before children.
    parent, children
        [K] parent of each kind in the forest, -1 for roots and feedback kinds; its children.
    admits
        The rules of a place in full.
    """

    sizes: IntArray
    flow: IntArray
    weights: IntArray
    capacity: int
    most: IntArray
    feedback: tuple[int, ...]
    relaxed: tuple[tuple[int, int], ...]
    order: tuple[int, ...]
    parent: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    admits: Admits

    @property
    def count(self) -> int:
        """Number of kinds."""
        return len(self.sizes)

    @property
    def total_units(self) -> int:
        """Units that all tasks take."""
        return int(self.weights @ self.sizes)

    def gains(self, counts: IntArray) -> IntArray:
        """Return, for each row [.., K] of counts, the flow inside a place that holds them."""
        return flow_inside(self.flow, counts)

    @cached_property
    def tight_flow(self) -> IntArray:
        """[K, K] the flows that are not relaxed."""
        flow = self.flow.copy()
        for a, b in self.relaxed:
            flow[a, b] = flow[b, a] = 0
        return flow

    def relaxed_gain(self, scale: int, k: int) -> IntArray:
        """Return [most + 1] what its relaxed edges add for each number of tasks of k, scaled."""
        squares = np.arange(int(self.most[k]) + 1, dtype=np.int64) ** 2
        gain = np.zeros_like(squares)
        for pair in self.relaxed:
            if k in pair:
                other = pair[0] if pair[1] == k else pair[1]
                above = scale * int(self.flow[k, other]) * int(self.sizes[other]) * squares
                gain += -(-above // (2 * int(self.sizes[k])))
        return gain

    def gain_bounds(self, scale: int, counts: IntArray) -> IntArray:
        """Return [Y] what the configurations [Y, K] hold inside at most, times `scale`."""
        gains = scale * flow_inside(self.tight_flow, counts)
        for k in {k for pair in self.relaxed for k in pair}:
            gains = gains + self.relaxed_gain(scale, k)[counts[..., k]]
        return np.asarray(gains, dtype=np.int64)

    def assignments(self) -> Iterator[IntArray]:
        """Yield [K] every choice of counts of the feedback kinds, 0 elsewhere, that fits."""
        ranges = (range(int(self.most[k]) + 1) for k in self.feedback)
        for counts in itertools.product(*ranges):
            assignment = np.zeros(self.count, dtype=np.int64)
            assignment[list(self.feedback)] = counts
            if int(assignment @ self.weights) <= self.capacity:
                yield assignment

    def is_connected(self, counts: IntArray) -> bool:
        """Return whether flows connect the kinds that are present."""
        present = np.flatnonzero(counts).tolist()
        graph = nx.from_numpy_array(self.flow[np.ix_(present, present)] > 0)
        return bool(present) and nx.is_connected(graph)


def make_flow_graph(
    sizes: IntArray,
    flow: IntArray,
    weights: IntArray,
    capacity: int,
    most: IntArray,
    admits: Admits,
    token: CancellationToken,
    max_assignments: int = CONNECTED_DEFAULTS.max_assignments,
) -> FlowGraph:
    """Return the graph; see `FlowGraph`. Its feedback kinds have few combinations of counts."""
    whole = nx.from_numpy_array((flow > 0) & ~np.eye(len(sizes), dtype=np.bool_))
    rest = whole.copy()
    feedback = _feedback_types(whole, most, max_assignments, token)
    rest.remove_nodes_from(feedback)
    for a, b in rest.edges:
        rest.edges[a, b]["pairs"] = int(flow[a, b] * sizes[a] * sizes[b])
    forest = nx.maximum_spanning_tree(rest, weight="pairs")
    relaxed = tuple(sorted((a, b) for a, b in rest.edges if not forest.has_edge(a, b)))
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
    return FlowGraph(
        sizes=sizes,
        flow=flow,
        weights=weights,
        capacity=capacity,
        most=most,
        feedback=feedback,
        relaxed=relaxed,
        order=tuple(order),
        parent=tuple(parent),
        children=tuple(tuple(group) for group in children),
        admits=admits,
    )


def with_relaxed_cycles(graph: FlowGraph, token: CancellationToken) -> FlowGraph:
    """Return the same kinds without feedback kinds."""
    rule = graph.weights, graph.capacity
    return make_flow_graph(graph.sizes, graph.flow, *rule, graph.most, graph.admits, token, 0)


def _feedback_types(
    flows: nx.Graph[int], most: IntArray, max_assignments: int, token: CancellationToken
) -> tuple[int, ...]:
    """Return kinds on many cycles, as long as their counts have few combinations."""
    rest, feedback, assignments = flows.copy(), [], 1
    while len(core := nx.k_core(rest, 2)):
        token.check()
        joints = [k for k in core if core.degree(k) > 2] or list(core)
        chosen = min(joints, key=lambda k: (_cost(int(most[k]), core.degree(k)), k))
        assignments *= int(most[chosen]) + 1
        if assignments > max_assignments:
            break
        feedback.append(chosen)
        rest.remove_node(chosen)
    return tuple(feedback)


def _cost(most: int, degree: int) -> float:
    """Return what trying all counts of a kind costs per cycle it closes, at a guess."""
    return math.log(most + 1) / (degree - 1)
