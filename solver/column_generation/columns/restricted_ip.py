"""The best solution among some of the columns: the restricted integer program, by CP-SAT.

Reduced costs say which columns a good solution can use. Every node uses one of its type's; the
count of a kind on a node is tied to them value by value, so that what is left for the other nodes
propagates. Limits are rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.columns.model import (
    ColumnExpression,
    ColumnModel,
    ColumnSolution,
)
from slotwise.solver.column_generation.columns.pricing import Limit
from slotwise.solver.compact import Count, overflows, product, proven_bound, run_cp_sat
from slotwise.solver.compact.network import cover
from slotwise.solver.core.result import Limits
from slotwise.solver.structure.task_types import TaskTypes


@dataclass(frozen=True, slots=True)
class RestrictedIpAnswer:
    """What the integer program found.

    Parameters
    ----------
    solution
        The best one; ``None`` when none was found.
    bound
        No solution of these columns costs less; ``None`` when nothing is proven.
    complete
        Whether `solution` is proven best, or, without one, that there is none.
    interrupted
        Whether Ctrl-C ended it.
    """

    solution: ColumnSolution | None
    bound: int | None
    complete: bool
    interrupted: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node: the rows of its type's columns that it may use, which of them it does, its counts."""

    node: int
    type: int
    rows: list[int]
    used: list[cp_model.IntVar]
    counts: list[Count]


def solve_restricted_ip(
    model: ColumnModel,
    term: ColumnExpression,
    limits: Sequence[Limit],
    masks: Sequence[BoolArray],
    bound: int,
    search: Limits,
    on_solution: Callable[[ColumnSolution], object],
    token: CancellationToken,
) -> RestrictedIpAnswer:
    """Minimise a term, known to be at least `bound`, over the columns where `masks` hold.

    `masks`: [Y] per node type. `on_solution` is called with each better solution; `token` ends it.
    Nothing is said where the costs of all columns together might leave 64 bits.
    """
    started = token.now()
    cp = cp_model.CpModel()
    racks_matter = any(s.inter_rack_cost for s in (term, *(limit for limit, _ in limits)))
    nodes = _nodes(cp, model, masks, by_rack=racks_matter)
    rejected = [
        cp.new_bool_var(f"rejected_{t}") if rules.classes and model.problem.may_reject else 0
        for t, rules in enumerate(model.problem.rules)
    ]
    _place_every_task(cp, model, nodes, rejected)
    inter_rack: Count = 0
    if racks_matter:
        counts = {node.node: node.counts for node in nodes}
        inter_rack = inter_rack_flow(cp, model.problem, model.kinds, counts, rejected, token)
    for limit, most in limits:
        cp.add(_expression(limit, nodes, rejected, inter_rack) <= most)
    goal = _expression(term, nodes, rejected, inter_rack)
    cp.add(goal >= bound)
    cp.minimize(goal)
    if overflows(cp):
        return RestrictedIpAnswer(None, None, complete=False, interrupted=False)
    left = search.time_s - (token.now() - started)  # stating it all takes its time
    return _solve(cp, nodes, rejected, replace(search, time_s=left), on_solution, token)


def _nodes(
    cp: cp_model.CpModel, model: ColumnModel, masks: Sequence[BoolArray], *, by_rack: bool
) -> list[_Node]:
    """Return all nodes; equal ones (of a rack, if racks matter) in order of their counts."""
    nodes = []
    for t, kind in enumerate(model.types):
        rows = np.flatnonzero(masks[t]).tolist()
        before: dict[int, Count] = {}
        for n in kind.nodes:
            node = _node(cp, model, t, n, rows)
            rack = int(model.problem.node_rack[n]) if by_rack else 0
            code = _code(model, node)
            if rack in before:
                cp.add(code <= before[rack])
            before[rack] = code
            nodes.append(node)
    return nodes


def _node(cp: cp_model.CpModel, model: ColumnModel, t: int, n: int, rows: list[int]) -> _Node:
    """Return a node that uses exactly one column; each count of a kind has its own literal."""
    used = [cp.new_bool_var(f"n{n}_{row}") for row in rows]
    cp.add_exactly_one(used)
    counts = model.columns[t].counts[rows]
    return _Node(
        n, t, rows, used, [_of_kind(cp, used, counts[:, k]) for k in range(model.kinds.count)]
    )


def _of_kind(cp: cp_model.CpModel, used: list[cp_model.IntVar], counts: IntArray) -> Count:
    values = np.unique(counts).tolist()
    if values == [0]:
        return 0
    literals = []
    for value in values:
        members = [used[i] for i in np.flatnonzero(counts == value).tolist()]
        literal = members[0] if len(members) == 1 else cp.new_bool_var("")
        if len(members) > 1:
            cp.add_exactly_one([*members, ~literal])
        literals.append(literal)
    count = cp.new_int_var(0, int(max(values)), "")
    cp.add(count == sum(v * lit for v, lit in zip(values, literals, strict=True)))
    return count


def _code(model: ColumnModel, node: _Node) -> Count:
    return sum((k + 1) * count for k, count in enumerate(node.counts))


def _place_every_task(
    cp: cp_model.CpModel, model: ColumnModel, nodes: Sequence[_Node], rejected: Sequence[Count]
) -> None:
    for k, size in enumerate(model.kinds.sizes.tolist()):
        skipped = rejected[int(model.kinds.topology[k])]
        cp.add(sum(node.counts[k] for node in nodes) + size * skipped == size)


def _expression(
    term: ColumnExpression, nodes: Sequence[_Node], rejected: Sequence[Count], inter_rack: Count
) -> Count:
    parts: list[Count] = [term.constant, term.inter_rack_cost * inter_rack]
    for node in nodes:
        values = term.values[node.type]
        parts += [
            int(values[row]) * used
            for row, used in zip(node.rows, node.used, strict=True)
            if values[row]
        ]
    parts += [int(c) * skipped for c, skipped in zip(term.rejection_costs, rejected, strict=True)]
    # No sum by +=: 0 + 1 * inter_rack is inter_rack itself, which that would change.
    return cp_model.LinearExpr.sum(parts)


class _Listener(cp_model.CpSolverSolutionCallback):
    """Tells of each solution."""

    def __init__(
        self,
        nodes: Sequence[_Node],
        rejected: Sequence[Count],
        on_solution: Callable[[ColumnSolution], object],
    ) -> None:
        super().__init__()
        self._nodes, self._rejected, self._on_solution = nodes, rejected, on_solution

    def on_solution_callback(self) -> None:
        """Read the columns off the solution."""
        self._on_solution(_solution(self._nodes, self._rejected, self.value))


def _solve(
    cp: cp_model.CpModel,
    nodes: Sequence[_Node],
    rejected: Sequence[Count],
    search: Limits,
    on_solution: Callable[[ColumnSolution], object],
    token: CancellationToken,
) -> RestrictedIpAnswer:
    answer = run_cp_sat(
        cp,
        search,
        token,
        listener=_Listener(nodes, rejected, on_solution),
    )
    if answer.status == cp_model.INFEASIBLE:
        return RestrictedIpAnswer(None, None, complete=True, interrupted=answer.interrupted)
    return RestrictedIpAnswer(
        _solution(nodes, rejected, answer.solver.value) if answer.has_solution else None,
        proven_bound(cp, answer.solver, answer.status),
        complete=answer.status == cp_model.OPTIMAL,
        interrupted=answer.interrupted,
    )


def _solution(
    nodes: Sequence[_Node], rejected: Sequence[Count], value: Callable[[Count], int]
) -> ColumnSolution:
    chosen = {
        node.node: (node.type, row)
        for node in nodes
        for row, used in zip(node.rows, node.used, strict=True)
        if value(used)
    }
    return ColumnSolution(chosen, frozenset(t for t, out in enumerate(rejected) if value(out)))


# The flow between racks, as an expression of the tasks on the nodes.

NodeCounts = Mapping[int, Sequence[Count]]
"""Node -> [K] count of each kind there."""


def inter_rack_flow(
    cp: cp_model.CpModel,
    problem: Problem,
    kinds: TaskTypes,
    counts: NodeCounts,
    rejected: Sequence[Count],
    token: CancellationToken,
) -> Count:
    """Return an upper bound of the flow between racks of the topologies not rejected.

    Pairs in a rack are products of the counts there, order-encoded as in the compact model.
    """
    pairs = np.argwhere(np.triu(kinds.flow)).tolist()
    flows = {(a, b): int(kinds.flow[a, b]) for a, b in pairs}
    far: Count = 0
    for t in range(len(problem.rules)):
        own = {pair: w for pair, w in flows.items() if kinds.topology[pair[0]] == t}
        all_pairs = sum(w * int(kinds.sizes[a] * kinds.sizes[b]) for (a, b), w in own.items())
        far += all_pairs * (1 - rejected[t])
        stars = cover(own, tuple(kinds.sizes.tolist()), token)
        members = sorted({k for pair in own for k in pair})
        for rack in range(len(problem.racks)):
            nodes = np.flatnonzero(problem.node_rack == rack).tolist()
            place = _in_rack(cp, kinds, [counts[n] for n in nodes], members)
            for center, leaves in stars.items():
                far -= product(cp, place, center, leaves)
    return far


def _in_rack(
    cp: cp_model.CpModel, kinds: TaskTypes, nodes: Sequence[Sequence[Count]], members: Sequence[int]
) -> dict[int, tuple[Count, int]]:
    place: dict[int, tuple[Count, int]] = {}
    for k in members:
        size = int(kinds.sizes[k])
        count = cp.new_int_var(0, size, f"in_rack_{k}")
        cp.add(count == sum(node[k] for node in nodes))
        place[k] = (count, size)
    return place
