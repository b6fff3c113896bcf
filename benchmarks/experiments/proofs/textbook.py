"""The yardstick: placement as textbooks model it, one boolean per task and node.

    x[i, n] = 1  if task i is on node n,                   sum over n of x[i, n] = 1
    z[i, j, n] = x[i, n] * x[j, n]   for communicating i, j: z <= x_i, z <= x_j, z >= x_i + x_j - 1
    q[i, j, r] = the same product for racks, with sums of x over the nodes of a rack
    network = sum over pairs of flow * (far - (far - rack) * sum q - (rack - near) * sum z)
    load of a node <= capacity (hard), overload >= load - capacity (soft)

The same rows go to CP-SAT and, through PuLP, to HiGHS; terms are minimised one after the other.
Kept plain on purpose: no classes of tasks, no symmetry, no hints. One concession: products are per
node, not per pair of nodes, which would be twelve times as many and weaker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, WORKER, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.structure.node_types import has_single_workers

PARTS = frozenset({"overload", "network"})

Row = tuple[Mapping[int, int], int | None, int | None]
"""Coefficient of each column, lower and upper limit; ``None`` = none."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A linear expression over columns."""

    coefficients: Mapping[int, int]
    constant: int = 0


@dataclass(slots=True)
class Textbook:
    """The model as rows, for any solver.

    Parameters
    ----------
    on
        [task][node] column of x.
    upper
        Upper bound of each column; all are whole and at least 0.
    rows
        See `Row`.
    terms
        Of the objective, in integer steps.
    """

    on: list[list[int]] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    terms: list[Sum] = field(default_factory=list)

    def column(self, upper: int = 1) -> int:
        """Add a column."""
        self.upper.append(upper)
        return len(self.upper) - 1

    def placement(self, value: Sequence[float]) -> Placement:
        """Return the placement that column values describe: one worker per node and topology."""
        nodes = [max(range(len(columns)), key=lambda n: value[columns[n]]) for columns in self.on]
        return Placement(tuple(nodes), (0,) * len(nodes))


def reason_against(problem: Problem) -> str | None:
    """Return ``None``, or why the textbook model does not say all of the problem."""
    beyond = problem.instance.objective.parts - PARTS
    if beyond:
        return f"the objective counts {', '.join(sorted(beyond))}"
    if problem.matrix is not None:
        return "distances come as a matrix"
    if len(problem.rules) != 1 or not has_single_workers(problem, 0) or (problem.slots < 1).any():
        return "more than one worker on a node, or none, matters"
    if problem.regions or problem.min_worker_cpu or problem.move_limit != NO_LIMIT:
        return "shared memory, least cpu or limited moves matter"
    if any(rules.max_per_node for rules in problem.rules):
        return "a component is capped per node"
    return None


def textbook(problem: Problem) -> Textbook:
    """Return the textbook model of a problem."""
    model = Textbook()
    nodes = range(problem.node_count)
    model.on = [[model.column() for _ in nodes] for _ in range(problem.task_count)]
    for columns in model.on:
        model.rows.append((dict.fromkeys(columns, 1), 1, 1))
    parts = {"overload": _overload(problem, model), "network": _network(problem, model)}
    model.terms = [_term(parts, term.parts) for term in problem.terms]
    return model


def _term(parts: Mapping[str, Sum], weights: Sequence[tuple[str, int]]) -> Sum:
    coefficients: dict[int, int] = {}
    for part, weight in weights:
        for column, value in parts[part].coefficients.items():
            coefficients[column] = coefficients.get(column, 0) + weight * value
    return Sum(coefficients, sum(weight * parts[part].constant for part, weight in weights))


def _overload(problem: Problem, model: Textbook) -> Sum:
    """State the capacities; return what soft ones are exceeded by, weighted."""
    demand = problem.demand[problem.task_class]
    penalty: dict[int, int] = {}
    for n, d in product(range(problem.node_count), range(len(problem.dims))):
        capacity = int(problem.capacity[n, d])
        if capacity == NO_LIMIT:
            continue
        load = {model.on[i][n]: int(need) for i, need in enumerate(demand[:, d]) if need}
        if problem.hard[d]:
            model.rows.append((load, None, capacity))
        elif problem.soft_weight[d]:
            over = model.column(upper=int(demand[:, d].sum()))
            model.rows.append(({**load, over: -1}, None, capacity))
            penalty[over] = int(problem.soft_weight[d])
    return Sum(penalty)


def _network(problem: Problem, model: Textbook) -> Sum:
    """Distance of every communicating pair, less what sharing a rack and a node saves."""
    near, rack, far = (int(problem.distance[level]) for level in (WORKER, RACK, CLUSTER))
    members = [
        [n for n in range(problem.node_count) if problem.node_rack[n] == r]
        for r in range(len(problem.racks))
    ]
    if len(members) == 1:
        members, far = [], rack
    saved: dict[int, int] = {}
    constant = 0
    for (a, b), flow in problem.pair_flows().items():
        for i, j in product(problem.classes[a].tasks, problem.classes[b].tasks):
            constant += flow * far
            for n in range(problem.node_count):
                saved[_both(model, i, j, [n])] = -flow * (rack - near)
            for nodes in members:
                saved[_both(model, i, j, nodes)] = -flow * (far - rack)
    return Sum(saved, constant)


def _both(model: Textbook, i: int, j: int, nodes: Sequence[int]) -> int:
    """Return a column that is 1 exactly when tasks i and j are both on one of `nodes`."""
    product = model.column()
    first = {model.on[i][n]: -1 for n in nodes}
    second = {model.on[j][n]: -1 for n in nodes}
    model.rows.append(({product: 1, **first}, None, 0))
    model.rows.append(({product: 1, **second}, None, 0))
    model.rows.append(({product: 1, **first, **second}, -1, None))
    return product
