"""The judge: the only place where a rule is checked or a cost computed. It knows no solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import Accounting, Workers, account
from slotwise.models.judge.rules import violations
from slotwise.models.judge.utilisation import bottleneck
from slotwise.models.judge.verdict import TermValue, Verdict
from slotwise.models.problem.compile import compiled
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, IntArray, Problem


def judge(problem: Problem | Instance, placement: Placement) -> Verdict:
    """Return cost and violations of `placement`.

    Parameters
    ----------
    problem
        The compiled problem; an instance is compiled first.
    placement
        Of that instance. Topologies may be left out whole only where the objective has
        ``rejected``.

    Raises
    ------
    InputError
        When the placement's length or nodes are not the instance's.
    """
    problem = compiled(problem)
    check_shape(problem, placement)
    accounting = account(problem, placement)
    parts = part_values(problem, placement, accounting)
    worker, node, rack, cluster = flow_by_level(problem, accounting)
    unit = problem.flow_unit
    return Verdict(
        problem=problem,
        placement=placement,
        violations=tuple(violations(problem, accounting, parts["moved"])),
        objective=tuple(
            TermValue(term.name, scaled, scaled * term.unit)
            for term, scaled in zip(problem.terms, _terms(problem, parts), strict=True)
        ),
        parts={part: value * problem.part_units[part] for part, value in parts.items()},
        flow_by_level=(worker * unit, node * unit, rack * unit, cluster * unit),
        accounting=accounting,
    )


def _terms(problem: Problem, parts: dict[str, int]) -> tuple[int, ...]:
    return tuple(
        sum(multiplier * parts[part] for part, multiplier in term.parts) for term in problem.terms
    )


def check_shape(problem: Problem, placement: Placement) -> None:
    """Refuse a placement whose length or nodes are not those of the problem."""
    if len(placement.nodes) != problem.task_count:
        raise InputError(
            f"must have one entry per task of the instance ({problem.task_count}), "
            f"not {len(placement.nodes)}",
            field="placement",
            has_value=False,
        )
    highest = max(placement.nodes, default=-1)
    if highest >= problem.node_count:
        raise InputError(
            f"must be below the number of nodes ({problem.node_count})",
            field="placement.nodes",
            value=highest,
        )


# The parts of the objective, each recomputed from the placement alone.


def part_values(problem: Problem, placement: Placement, accounting: Accounting) -> dict[str, int]:
    """Return every part of the objective in its integer unit; ``bottleneck`` where it counts."""
    parts: dict[str, Callable[[], int]] = {
        "overload": lambda: _overload(problem, accounting),
        "network": lambda: _network(problem, accounting),
        "rejected": lambda: _rejected(problem, accounting),
        "nodes": lambda: _nodes(accounting),
        "workers": lambda: len(accounting.worker_nodes()),
        "moved": lambda: _moved(problem, placement),
        "linear": lambda: _linear(problem, placement),
    }
    workload = problem.workload
    if workload is not None:
        parts["bottleneck"] = lambda: bottleneck(problem, workload, accounting)
    return {part: value() for part, value in parts.items()}


def flow_by_level(problem: Problem, accounting: Accounting) -> tuple[int, int, int, int]:
    """Return the flow between placed tasks by the lowest place that holds both.

    In integer flow units (the number of ordered communicating pairs where the flow is
    ``pairs``), for worker, node, rack, cluster; each flow counts in one level only.
    """
    within = [0, 0, 0, 0]
    pair_flows = problem.pair_flows()
    owner = [one.topology for one in problem.classes]
    by_topology: dict[int, list[tuple[int, int, int]]] = {}
    for (a, b), weight in pair_flows.items():
        by_topology.setdefault(owner[a], []).append((a, b, weight))
    for t, flows in by_topology.items():
        workers = accounting.topologies[t]
        for level, counts in enumerate(counts_by_level(problem, workers)):
            within[level] += _pairs(counts, workers.classes, flows)
    return (
        within[WORKER],
        within[NODE] - within[WORKER],
        within[RACK] - within[NODE],
        within[CLUSTER] - within[RACK],
    )


def counts_by_level(problem: Problem, workers: Workers) -> tuple[IntArray, ...]:
    """Return the tasks of each class per worker, node, rack and in all: rows are places."""
    racks, rack_of = np.unique(problem.node_rack[workers.node_ids], return_inverse=True)
    rack_counts = np.zeros((len(racks), len(workers.classes)), dtype=np.int64, order="F")
    for r in range(len(racks)):
        rack_counts[r] = workers.node_counts[rack_of == r].sum(axis=0)
    whole = rack_counts.sum(axis=0, keepdims=True)
    return workers.counts, workers.node_counts, rack_counts, whole


def _pairs(counts: IntArray, classes: IntArray, flows: list[tuple[int, int, int]]) -> int:
    """Return the flow inside the places (rows): sum of w_ab * count_a * count_b."""
    column = {int(c): index for index, c in enumerate(classes)}
    return sum(w * int(counts[:, column[a]] @ counts[:, column[b]]) for a, b, w in flows)


def _network(problem: Problem, accounting: Accounting) -> int:
    if problem.matrix is None:
        levels = flow_by_level(problem, accounting)
        return sum(f * int(d) for f, d in zip(levels, problem.distance, strict=True))
    return sum(
        _matrix_network(problem, problem.matrix, t, workers)
        for t, workers in enumerate(accounting.topologies)
    )


def _matrix_network(problem: Problem, matrix: IntArray, topology: int, workers: Workers) -> int:
    """Return the cost of a topology's flows where distances come as a matrix."""
    distance = matrix[np.ix_(workers.node_ids, workers.node_ids)]
    total = 0
    for flow in problem.flows:
        if problem.classes[flow.source].topology == topology:
            source = workers.node_counts[:, int(np.searchsorted(workers.classes, flow.source))]
            target = workers.node_counts[:, int(np.searchsorted(workers.classes, flow.target))]
            total += flow.weight * int(source @ distance @ target)
    return total


def _overload(problem: Problem, accounting: Accounting) -> int:
    over = np.maximum(accounting.node_load - problem.capacity, 0)
    return int((over @ problem.soft_weight).sum())


def _rejected(problem: Problem, accounting: Accounting) -> int:
    return sum(
        rule.reject_weight
        for rule, workers in zip(problem.rules, accounting.topologies, strict=True)
        if not workers.placed and rule.classes
    )


def _nodes(accounting: Accounting) -> int:
    return len({int(n) for workers in accounting.topologies for n in workers.node_ids})


def _moved(problem: Problem, placement: Placement) -> int:
    return sum(
        (placement.nodes[task], placement.workers[task]) != one.home
        for one in problem.classes
        if one.home is not None
        for task in one.tasks
    )


def _linear(problem: Problem, placement: Placement) -> int:
    if problem.linear is None:
        return 0
    return sum(
        int(problem.linear[c, node])
        for c, node in zip(problem.task_class.tolist(), placement.nodes, strict=True)
        if node >= 0
    )
