"""The parts of the objective, each recomputed from the placement alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import Accounting, Workers
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, IntArray, Problem


def part_values(problem: Problem, placement: Placement, accounting: Accounting) -> dict[str, int]:
    """Return every part of the objective in its integer unit."""
    parts: dict[str, Callable[[], int]] = {
        "overload": lambda: _overload(problem, accounting),
        "network": lambda: _network(problem, accounting),
        "rejected": lambda: _rejected(problem, accounting),
        "nodes": lambda: _nodes(accounting),
        "workers": lambda: len(accounting.worker_nodes()),
        "moved": lambda: _moved(problem, placement),
        "linear": lambda: _linear(problem, placement),
    }
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
