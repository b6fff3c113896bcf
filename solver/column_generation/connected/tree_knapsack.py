"""Pricing: the best configurations of a place at given duals, by dynamic programming on a forest.

The value of a configuration y is ``scale * flow inside - pi.y``, minus its reduced cost, or more
where edges are relaxed. With the counts of the feedback kinds fixed (an assignment), what is left
is a forest: a table per kind holds the best value of its subtree by the number of its tasks and the
units taken (the tree knapsack of Johnson and Niemi, 1983).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.core.memory import RunToken

STEPS_AT_ONCE = 500_000_000
"""Steps of a compiled loop, less than a second, between two looks at the token."""

Steps = Mapping[int, IntArray]
"""Kind -> [size + 1] what its number of tasks costs beside the duals; 0 of none."""


@dataclass(frozen=True, slots=True, eq=False)
class KnapsackTables:
    """The tables of one assignment; Y_k = most tasks of kind k, H = units the assignment leaves.

    Parameters
    ----------
    graph, scale, duals
        What they are for; [K] duals on the integer grid `scale`.
    assignment, base
        [K] counts of the feedback kinds, and the value of these alone.
    rewards
        [K] value of a task with the feedback kinds of the assignment.
    own
        Kind -> [Y_k + 1, H + 1] best value of its subtree, with y tasks of the kind and at
        most h units; with exactly h where `exactly`.
    stages
        Kind -> the same before each of its children is counted in.
    lifted
        Kind -> [Y_parent + 1, H + 1] best value of its subtree and its flow with the parent, by
        the tasks of the parent; for a root one row.
    disconnected
        Whether configurations count that are not connected.
    steps
        Prices by the number of tasks on top of the duals.
    """

    graph: FlowGraph
    scale: int
    duals: IntArray
    assignment: IntArray
    base: int
    rewards: IntArray
    exactly: bool
    own: dict[int, IntArray]
    stages: dict[int, list[IntArray]]
    lifted: dict[int, IntArray]
    disconnected: bool = False
    steps: Steps = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """Whether subtrees may begin anywhere: asked for, by the assignment or relaxed edges."""
        return bool(self.disconnected or self.assignment.any() or self.graph.relaxed)

    @property
    def units(self) -> int:
        """Units of a place that the assignment leaves."""
        return self.graph.capacity - int(self.assignment @ self.graph.weights)

    def values(self, k: int) -> IntArray:
        """Return [Y_k + 1] the value of each number of tasks of k with the assignment alone."""
        counts = np.arange(int(self.graph.most[k]) + 1, dtype=np.int64)
        values = counts * int(self.rewards[k]) + self.graph.relaxed_gain(self.scale, k)
        return values - self.steps[k][: len(values)] if k in self.steps else values


def make_tables(
    graph: FlowGraph,
    scale: int,
    duals: IntArray,
    assignment: IntArray,
    token: RunToken,
    *,
    exactly: bool = False,
    disconnected: bool = False,
    steps: Steps | None = None,
) -> KnapsackTables:
    """Fill the tables of an assignment, children before parents.

    With `exactly`, units are those used, not those allowed; such tables give no configurations.
    """
    size = table_bytes(graph)
    token.check_room(size, f"tables of {graph.count:,} kinds in connected configurations")
    inside, steps = int(graph.gains(assignment)), steps or {}
    fixed = int(duals @ assignment) + sum(int(steps[k][assignment[k]]) for k in steps)
    tables = KnapsackTables(
        graph=graph,
        scale=scale,
        duals=duals,
        assignment=assignment,
        base=scale * inside - fixed,
        rewards=scale * (graph.tight_flow @ assignment) - duals,
        exactly=exactly,
        own={},
        stages={},
        lifted={},
        disconnected=disconnected,
        steps=steps,
    )
    for k in reversed(graph.order):
        _fill(tables, k, token)
    return tables


def table_bytes(graph: FlowGraph) -> int:
    """Return the memory that the tables of an assignment take at most."""
    rows = 0
    for k in graph.order:
        above = graph.parent[k]
        lifted = 1 if above < 0 else int(graph.most[above]) + 1
        rows += (int(graph.most[k]) + 1) * (1 + len(graph.children[k])) + lifted
    return 8 * rows * (graph.capacity + 1)


def _fill(tables: KnapsackTables, k: int, token: CancellationToken) -> None:
    from slotwise.solver.column_generation.connected.kernels import lift

    token.check()
    graph, units = tables.graph, tables.units
    table = np.full((int(graph.most[k]) + 1, units + 1), NEG_INF, dtype=np.int64)
    for y, value in enumerate(tables.values(k).tolist()):
        used = y * int(graph.weights[k])
        table[y, used : used + 1 if tables.exactly else None] = value
    tables.stages[k] = []
    for child in graph.children[k]:
        tables.stages[k].append(table)
        table = _combined(tables, table, tables.lifted[child])
    tables.own[k] = table
    parent = graph.parent[k]
    flow = 0 if parent < 0 else tables.scale * int(graph.flow[k, parent])
    rows = 1 if parent < 0 else int(graph.most[parent]) + 1
    lifted = np.empty((rows, units + 1), dtype=np.int64)
    at_once = max(1, STEPS_AT_ONCE // table.size)
    for first in range(0, rows, at_once):
        token.check()
        lift(table, flow, first, tables.is_active, lifted[first : first + at_once])
    tables.lifted[k] = lifted


def _combined(tables: KnapsackTables, first: IntArray, second: IntArray) -> IntArray:
    from slotwise.solver.column_generation.connected.kernels import combine, combine_exactly

    combined = np.empty_like(first)
    (combine_exactly if tables.exactly else combine)(first, second, combined)
    return combined


def values_by_units(tables: KnapsackTables) -> IntArray:
    """Return [H + 1] the best value of a configuration by the units used beside the assignment.

    With at least one task; of tables filled `exactly`. `NEG_INF` or less where there is none.
    """
    if tables.is_active:
        return np.asarray(tables.base + _all_trees(tables)[-1][0])
    tops = [tables.own[k][1:].max(axis=0) for k in tables.graph.order if len(tables.own[k]) > 1]
    none = np.full(tables.units + 1, NEG_INF, dtype=np.int64)
    return np.asarray(np.max([none, *tops], axis=0))


def best_value(tables: KnapsackTables) -> int:
    """Return the largest value of a configuration with this assignment; 0 where none is above 0."""
    graph = tables.graph
    if not tables.is_active:
        return max((_best_top(tables, k)[0] for k in graph.order), default=0)
    return tables.base + int(_all_trees(tables)[-1][0, tables.units])


def best_configurations(tables: KnapsackTables, token: CancellationToken) -> list[IntArray]:
    """Return [K] configurations of value above 0: with each top kind the best one."""
    graph, configurations = tables.graph, []
    if not tables.is_active:
        for k in graph.order:
            token.check()
            value, y = _best_top(tables, k)
            if value > 0:
                configuration = tables.assignment.copy()
                _trace(tables, k, y, tables.units, configuration)
                configurations.append(configuration)
    elif best_value(tables) > 0:
        configuration, units = tables.assignment.copy(), tables.units
        stages = _all_trees(tables)
        roots = [k for k in graph.order if graph.parent[k] < 0]
        for i in range(len(roots) - 1, -1, -1):
            share = _share(stages[i][0], tables.lifted[roots[i]][0], stages[i + 1][0, units], units)
            value = tables.lifted[roots[i]][0, share]
            y = int(np.flatnonzero(tables.own[roots[i]][:, share] == value)[0])
            _trace(tables, roots[i], y, share, configuration)
            units -= share
        configurations.append(configuration)
    return configurations


def _best_top(tables: KnapsackTables, k: int) -> tuple[int, int]:
    """Return value and number of tasks of the best configuration whose top kind is k."""
    column = tables.own[k][1:, tables.units]
    if not len(column):
        return NEG_INF, 0
    y = int(column.argmax())
    return int(column[y]), y + 1


def _all_trees(tables: KnapsackTables) -> list[IntArray]:
    """Return [1, H + 1] the best value of none, one, ... of the trees together."""
    stages = [np.zeros((1, tables.units + 1), dtype=np.int64)]
    if tables.exactly:
        stages[0][0, 1:] = NEG_INF
    for k in tables.graph.order:
        if tables.graph.parent[k] < 0:
            stages.append(_combined(tables, stages[-1], tables.lifted[k]))
    return stages


def _share(before: IntArray, part: IntArray, value: int, units: int) -> int:
    """Return how many of the units the part has in the best sum of both."""
    shares = np.arange(units + 1)
    sums = before[units - shares] + part[shares]
    return int(np.flatnonzero((sums == value) & (before[units - shares] > NEG_INF))[0])


def _trace(tables: KnapsackTables, k: int, y: int, units: int, configuration: IntArray) -> None:
    """Write the best counts of the subtree of k with y of its tasks into `configuration`."""
    graph, untraced = tables.graph, [(k, y, units)]  # a chain may be deeper than calls may nest
    while untraced:
        k, y, units = untraced.pop()
        configuration[k] = y
        if not y and not tables.is_active:
            continue  # nothing below it either
        value = int(tables.own[k][y, units])
        for i in range(len(graph.children[k]) - 1, -1, -1):
            child, before = graph.children[k][i], tables.stages[k][i]
            share = _share(before[y], tables.lifted[child][y], value, units)
            flow = tables.scale * int(graph.flow[k, child]) * y
            values = tables.own[child][:, share] + flow * np.arange(len(tables.own[child]))
            tasks = int(np.flatnonzero(values == tables.lifted[child][y, share])[0])
            untraced.append((child, tasks, share))
            units -= share
            value = int(before[y, units])
