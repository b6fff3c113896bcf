"""The duals of one level of places, nodes or workers, and a knapsack bound on the reduced costs.

At the duals alone a fractional solution may use 5.09 full nodes. But the units that the
configurations take must add up to those of all tasks: either one configuration is small, with a
large reduced cost, or several are not full. The least reduced cost of a configuration of exactly h
units, combined at least total cost to the units of all tasks (a knapsack), is a lower bound on the
reduced cost of every integer solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph, with_relaxed_cycles
from slotwise.solver.column_generation.connected.tree_knapsack import (
    Steps,
    best_configurations,
    best_value,
    make_tables,
    values_by_units,
)
from slotwise.solver.column_generation.connected.worker_rules import coarse
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
)
from slotwise.solver.core.memory import RunToken

# Duals of the tasks such that no configuration of a place has a negative reduced cost.
#
# Column generation: the restricted master, a linear program over the configurations found so far,
# gives duals; dynamic programming prices, that is, finds configurations of negative reduced cost,
# until there are none. At such duals no solution has more flow inside than the duals of all tasks
# add up to, on however many places: a Lagrangian bound, recomputed in integers.

TOLERANCE_BITS = 4
"""Reduced cost that no longer counts while duals are sought: 2^4 steps of their grid."""

ROUGH_UNITS, ROUGHER = 300, 3
"""Units of capacity up to which pricing is quick; beyond, a first pass uses that many times
fewer."""

SPARE = 2.0
"""So much of the time of a whole round must be left, or the next one is whole: it proves duals."""


@dataclass(frozen=True, slots=True, eq=False)
class ProvenDuals:
    """Duals pi [K], proven on the integer grid `scale`, and [Y, K] the columns found on the way."""

    scale: int
    pi: IntArray
    configurations: IntArray

    def total(self, counts: IntArray) -> int:
        """Return ``pi.x`` of tasks [K], times `scale`: no solution of them has more flow inside."""
        return int(self.pi @ counts)


def find_duals(graph: FlowGraph, scale: int, deadline: float, token: RunToken) -> ProvenDuals:
    """Return the least duals found until the deadline; those of every whole round are proven.

    The first such round always runs to its end, because nothing is proven without it. With feedback
    kinds it is one that relaxes all cycles, and with many units of capacity one of rougher units:
    their duals are proven here, too.
    """
    master = ConnectedMaster(graph, scale)
    if graph.feedback:
        master.start_from(find_duals(with_relaxed_cycles(graph, token), scale, deadline, token))
    elif graph.capacity > ROUGH_UNITS:
        weights, capacity = coarse(graph.weights, graph.capacity, graph.capacity // ROUGHER)
        rough = replace(graph, weights=weights, capacity=capacity)
        master.start_from(find_duals(rough, scale, deadline, token))
    master.lp.generate(lambda duals: master.price(duals, deadline, token), token)
    assert master.least is not None, "the first round was ended"
    return ProvenDuals(scale, master.least, master.configurations())


class ConnectedMaster:
    """The restricted master: how often each configuration is used so that all tasks are placed.

    `least` are the least proven duals [K] so far; ``None`` before the first.
    """

    def __init__(self, graph: FlowGraph, scale: int) -> None:
        self._graph = graph
        self._scale = scale
        self._known: dict[bytes, IntArray] = {}
        self._most = scale * int(graph.gains(graph.sizes))
        self.least: IntArray | None = None
        self._assignments = [*graph.assignments()]
        self._next = 0
        self._whole_round_s = 0.0
        self.lp = RestrictedMaster(maximize=True)
        self.lp.add_rows(graph.sizes.tolist())
        for alone in np.eye(graph.count, dtype=np.int64):
            self.add(alone)

    def add(self, configuration: IntArray) -> bool:
        """Add a configuration [K]; return whether it was new."""
        key = configuration.tobytes()
        if key in self._known:
            return False
        self._known[key] = configuration
        gain = float(self._graph.gain_bounds(self._scale, configuration)) / self._scale
        self.lp.add_columns(np.array([gain]), configuration[None, :])
        return True

    def start_from(self, rough: ProvenDuals) -> None:
        """Take over duals of rougher units, and their columns, cut down where they do not fit."""
        graph, rows = self._graph, rough.configurations
        used = np.maximum(rows @ graph.weights, 1)[:, None]
        for row in np.where(used > graph.capacity, rows * graph.capacity // used, rows):
            if row.any():
                self.add(row)
        self.least = rough.pi

    def price(self, lp_duals: FloatArray, deadline: float, token: RunToken) -> bool:
        """Add configurations of negative reduced cost; return whether there were any.

        Partial pricing: the assignments take turns, and the first that adds one ends the round. A
        round through all of them proves duals; so does the first one, and one that the deadline
        leaves just time for.
        """
        # No dual of the optimum exceeds the flow of all tasks together.
        duals = np.maximum(on_grid(lp_duals, self._scale, self._most), 0)
        began, added, violation = token.now(), False, 0
        is_whole = self.least is None or began + SPARE * self._whole_round_s > deadline
        for turn in range(len(self._assignments)):
            token.check()
            if self.least is not None and token.now() > deadline:
                return False
            assignment = self._assignments[self._next]
            tables = make_tables(self._graph, self._scale, duals, assignment, token)
            violation = max(violation, best_value(tables))
            for configuration in best_configurations(tables, token):
                token.check()
                gain = int(self._graph.gain_bounds(self._scale, configuration))
                if gain - int(duals @ configuration) > 1 << TOLERANCE_BITS:
                    added |= self.add(configuration)
            del tables  # before the next are made
            if added and not is_whole and turn + 1 < len(self._assignments):
                return True  # the next round begins with this assignment
            self._next = (self._next + 1) % len(self._assignments)
        self._whole_round_s = token.now() - began
        # Every configuration has a task or more: raising all duals lifts all reduced costs to 0.
        proven = duals + violation
        sizes = self._graph.sizes
        if self.least is None or int(proven @ sizes) < int(self.least @ sizes):
            self.least = proven
        return added

    def configurations(self) -> IntArray:
        """Return [Y, K] the configurations added."""
        return np.array(list(self._known.values()))


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

    def with_listed(self, counts: IntArray, costs: IntArray, room: int) -> LoadBound:
        """Return the bound by reduced costs [Y] of configurations [Y, K], if it is a better one.

        These are all whose reduced cost is at most `room`, at least 0.
        """
        from slotwise.solver.column_generation.connected.kernels import add_up

        by_units = np.full(self.capacity + 1, room + 1, dtype=np.int64)
        np.minimum.at(by_units, counts @ self.weights, np.maximum(costs, 0))
        least = np.zeros_like(self.least)
        add_up(by_units, least)
        return replace(self, least=least) if least[-1] > self.total else self

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
    units = graph.total_units
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
