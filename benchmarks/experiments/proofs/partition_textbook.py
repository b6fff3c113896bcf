"""Balanced graph partition as textbooks model it: one boolean per vertex and part.

    x[v, p] = 1      if vertex v is in part p,                   sum over p of x[v, p] = 1
    z[u, v, p] = 1   if both ends of an edge are in part p:      z <= x[u, p],  z <= x[v, p]
    sum over v of w(v) x[v, p] <= C
    min  far * flow - (far - near) * sum over edges and p of f(u, v) z[u, v, p]

Parts are alike. So vertex v may be in the parts 0..v only, and in part p only if an earlier vertex
is in part p - 1: of all numberings of the same parts that leaves one. The relaxation alone would
put 1/k of everything everywhere and cut nothing; the capacity of a part times x[u, p],

    sum over neighbours v of u of w(v) z[u, v, p] <= (C - w(u)) x[u, p],

bounds what the neighbours of a vertex can save. Vertices come by falling weight.
"""

from __future__ import annotations

from slotwise.benchmarks.experiments.proofs.textbook import Sum, Textbook
from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.partition.model import Partition, make_partition, why_no_partition


def reason_against(problem: Problem) -> str | None:
    """Return ``None``, or why the model does not say all of the problem."""
    if len(problem.rules) != 1:
        return "there is not exactly one topology"
    return why_no_partition(problem)


def partition_textbook(problem: Problem) -> Textbook:
    """Return the model of a problem; tasks are vertices, nodes are parts."""
    partition = make_partition(problem, CancellationToken())
    order = _by_weight(problem)
    model = Textbook()
    parts = range(problem.node_count)
    columns = [[model.column(upper=int(p <= place)) for p in parts] for place in range(len(order))]
    model.on = [columns[order.index(task)] for task in range(problem.task_count)]
    for row in columns:
        model.rows.append((dict.fromkeys(row, 1), 1, 1))
    _number_parts(model, columns)
    _keep_capacities(problem, model)
    saved = _saved(problem, partition, model, order)
    empty = Sum({})
    terms = [empty] * len(problem.terms)
    terms[partition.term] = Sum(saved, partition.farthest)
    model.terms = terms
    return model


def _by_weight(problem: Problem) -> list[int]:
    """Return the tasks by falling demand, summed up over dimensions."""
    weight = problem.demand[problem.task_class].sum(axis=1).tolist()
    return sorted(range(problem.task_count), key=lambda task: (-weight[task], task))


def _number_parts(model: Textbook, columns: list[list[int]]) -> None:
    """Let a vertex open part p only where an earlier one is in part p - 1."""
    for place, row in enumerate(columns):
        for p in range(1, min(place + 1, len(row))):
            earlier = {columns[before][p - 1]: -1 for before in range(p - 1, place)}
            model.rows.append(({row[p]: 1, **earlier}, None, 0))


def _keep_capacities(problem: Problem, model: Textbook) -> None:
    demand = problem.demand[problem.task_class]
    for p in range(problem.node_count):
        for d, capacity in enumerate(problem.capacity[0].tolist()):
            if capacity < NO_LIMIT:
                load = {
                    model.on[task][p]: int(need) for task, need in enumerate(demand[:, d]) if need
                }
                model.rows.append((load, None, capacity))


def _saved(
    problem: Problem, partition: Partition, model: Textbook, order: list[int]
) -> dict[int, int]:
    """State the products; return what each of them saves, as a negative cost."""
    edges = {
        (i, j): flow
        for (a, b), flow in problem.pair_flows().items()
        for i in problem.classes[a].tasks
        for j in problem.classes[b].tasks
        if flow
    }
    saved: dict[int, int] = {}
    for p in range(problem.node_count):
        near: dict[int, dict[int, int]] = {task: {} for task in order}
        for (i, j), flow in edges.items():
            product = model.column()
            saved[product] = -flow * partition.saving
            near[i][j] = near[j][i] = product
            for end in (i, j):
                model.rows.append(({product: 1, model.on[end][p]: -1}, None, 0))
        _bound_stars(problem, model, p, near)
    return saved


def _bound_stars(
    problem: Problem, model: Textbook, part: int, near: dict[int, dict[int, int]]
) -> None:
    """Multiply the capacity of a part by x of each of its vertices."""
    demand = problem.demand[problem.task_class].tolist()
    for task, neighbours in near.items():
        for d, capacity in enumerate(problem.capacity[0].tolist()):
            star = {
                both: demand[other][d] for other, both in neighbours.items() if demand[other][d]
            }
            if star and capacity < NO_LIMIT:
                room = capacity - demand[task][d]
                model.rows.append(({**star, model.on[task][part]: -room}, None, 0))
