"""The duals of one level of places, nodes or workers, and a knapsack bound on the reduced costs.

At the duals alone a fractional solution may use 5.09 full nodes. But the units that the
configurations take must add up to those of all tasks: either one configuration is small, with a
large reduced cost, or several are not full. The least reduced cost of a configuration of exactly h
units, combined at least total cost to the units of all tasks (a knapsack), is a lower bound on the
reduced cost of every integer solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.pricing import ProvenDuals, find_duals
from slotwise.solver.column_generation.connected.tree_knapsack import (
    Steps,
    make_tables,
    values_by_units,
)
from slotwise.solver.column_generation.neg_inf import NEG_INF
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.memory import RunToken


@dataclass(frozen=True, slots=True, eq=False)
class LoadBound:
    """Lower bounds on the reduced cost of solutions by load, on the grid of the duals.

    Parameters
    ----------
    weights, capacity
        [K] units of a task; those of a place.
    least
        [W + 1] least reduced cost of configurations that take h units together; W = units
        of all tasks.
    """

    weights: IntArray
    capacity: int
    least: IntArray

    @property
    def total(self) -> int:
        """Lower bound on the reduced cost of every solution."""
        return int(self.least[-1])

    @property
    def min_of_others(self) -> int:
        """The same of all configurations but one, whichever that is."""
        return int(self.least[-1 - self.capacity :].min())

    def of_others(self, counts: IntArray) -> IntArray:
        """Return [Y] the same of all other configurations where one holds counts [Y, K]."""
        return np.asarray(self.least[len(self.least) - 1 - counts @ self.weights])


def make_load_bound(
    graph: FlowGraph,
    duals: ProvenDuals,
    token: RunToken,
    deadline: float = math.inf,
    params: ConnectedParams = CONNECTED_DEFAULTS,
    steps: Steps | None = None,
) -> LoadBound:
    """Return the load bound at proven duals and steps; zeros where its tables take too long."""
    units = int(graph.weights @ graph.sizes)
    least = np.zeros(units + 1, dtype=np.int64)
    load_bound = LoadBound(graph.weights, min(graph.capacity, units), least)
    assignments = sum(1 for _ in graph.assignments())
    if assignments * _steps(graph) + units * graph.capacity > params.max_load_bound_steps:
        return load_bound
    from slotwise.solver.column_generation.connected.kernels import add_up

    reduced_costs = np.full(graph.capacity + 1, -NEG_INF, dtype=np.int64)
    for assignment in graph.assignments():
        token.check()
        if token.now() > deadline:
            return load_bound
        tables = make_tables(
            graph, duals.scale, duals.pi, assignment, token, exactly=True, steps=steps
        )
        used = int(assignment @ graph.weights)
        values = values_by_units(tables)
        reduced_costs[used:] = np.minimum(reduced_costs[used:], np.maximum(-values, 0))
        del tables  # before the next are made
    add_up(np.minimum(reduced_costs, -NEG_INF // 2), least)
    return load_bound


def _steps(graph: FlowGraph) -> int:
    """Return the steps that combining the subtrees of an assignment takes at most."""
    children = sum((int(graph.most[k]) + 1) * len(graph.children[k]) for k in graph.order)
    roots = sum(graph.parent[k] < 0 for k in graph.order)
    return (children + roots) * graph.capacity**2 // 2


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The places of one level, their proven duals, and the load bound at these."""

    graph: FlowGraph
    duals: ProvenDuals
    load_bound: LoadBound

    @property
    def flow_bound(self) -> int:
        """Upper bound of the flow that the places can hold inside."""
        return (self.duals.total(self.graph.sizes) - self.load_bound.total) // self.duals.scale

    def reduced_costs(self, counts: IntArray, inside: IntArray) -> IntArray:
        """Return [Y] lower bounds of solutions that use configurations [Y, K] with this flow."""
        own = counts @ self.duals.pi - self.duals.scale * inside
        return np.asarray(own + self.load_bound.of_others(counts))


def make_level(
    graph: FlowGraph, scale: int, deadline: float, params: ConnectedParams, token: RunToken
) -> Level:
    """Find the duals of a graph until the deadline, and their load bound."""
    duals = find_duals(graph, scale, deadline, token)
    return Level(graph, duals, make_load_bound(graph, duals, token, deadline, params))
