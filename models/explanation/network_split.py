"""Which streams and nodes pay what of the network cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from slotwise.models.judge.accounting import Accounting, Workers
from slotwise.models.judge.costs import counts_by_level
from slotwise.models.problem.problem import Flow, IntArray, Problem

LEVELS = ("worker", "node", "rack", "cluster")
"""The lowest place that holds both tasks of a pair, from near to far."""

Levels = tuple[Fraction, Fraction, Fraction, Fraction]
"""An amount for each of `LEVELS`."""


@dataclass(frozen=True, slots=True)
class StreamCost:
    """What one pair of components pays for the network.

    Parameters
    ----------
    topology, source, target
        Ids. Parallel streams from `source` to `target` count together.
    flow
        Flow between placed tasks by `LEVELS`, in the user's unit.
    cost
        Flow times distance, by `LEVELS`.
    """

    topology: str
    source: str
    target: str
    flow: Levels
    cost: Levels

    @property
    def total(self) -> Fraction:
        """The cost of all levels."""
        return sum(self.cost, Fraction(0))


def _distances(problem: Problem, nodes: IntArray) -> IntArray:
    """Return the distance between each two of `nodes` for tasks in different workers."""
    if problem.matrix is not None:
        given: IntArray = problem.matrix[np.ix_(nodes, nodes)]
        return given
    racks = problem.node_rack[nodes]
    _, node, rack, cluster = problem.distance.tolist()
    between: IntArray = np.where(racks[:, None] == racks[None, :], rack, cluster)
    np.fill_diagonal(between, node)
    return between


def stream_costs(problem: Problem, accounting: Accounting) -> tuple[StreamCost, ...]:
    """Return what each pair of components pays, the dearest first."""
    totals: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for flow in problem.flows:
        one = problem.classes[flow.source]
        pair = (one.component, problem.classes[flow.target].component)
        flows, costs = totals.setdefault(pair, ([0] * 4, [0] * 4))
        workers = accounting.topologies[one.topology]
        for level, (amount, cost) in enumerate(_by_level(problem, workers, flow)):
            flows[level] += amount
            costs[level] += cost
    unit = problem.part_units["network"]
    found = [
        StreamCost(
            topology=problem.rules[problem.components[a][0]].id,
            source=problem.components[a][1],
            target=problem.components[b][1],
            flow=_levels(flows, problem.flow_unit),
            cost=_levels(costs, unit),
        )
        for (a, b), (flows, costs) in totals.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.total))


def _levels(amounts: list[int], unit: Fraction) -> Levels:
    worker, node, rack, cluster = (amount * unit for amount in amounts)
    return worker, node, rack, cluster


def _by_level(problem: Problem, workers: Workers, flow: Flow) -> list[tuple[int, int]]:
    """Return flow and cost of one pair of classes for each level."""
    a, b = _columns(workers, flow)
    inside = [
        flow.weight * int(counts[:, a] @ counts[:, b])
        for counts in counts_by_level(problem, workers)
    ]
    amounts = [inside[0], *(far - near for near, far in pairwise(inside))]
    if problem.matrix is None:
        distances = problem.distance.tolist()
        costs = [amount * one for amount, one in zip(amounts, distances, strict=True)]
        return list(zip(amounts, costs, strict=True))
    return list(zip(amounts, _matrix_costs(problem, workers, flow), strict=True))


def _matrix_costs(problem: Problem, workers: Workers, flow: Flow) -> list[int]:
    """Return the cost by level where distances come as a matrix."""
    a, b = _columns(workers, flow)
    distance = _distances(problem, workers.node_ids)
    source, target = workers.node_counts[:, a], workers.node_counts[:, b]
    own = np.diagonal(distance)
    racks = problem.node_rack[workers.node_ids]
    same_rack = racks[:, None] == racks[None, :]
    in_worker = int((workers.counts[:, a] * workers.counts[:, b]) @ own[workers.node_of])
    on_node = int((source * target) @ own)
    in_rack = int(source @ np.where(same_rack, distance, 0) @ target)
    everywhere = int(source @ distance @ target)
    levels = (in_worker, on_node - in_worker, in_rack - on_node, everywhere - in_rack)
    return [flow.weight * cost for cost in levels]


def _columns(workers: Workers, flow: Flow) -> tuple[int, int]:
    source, target = np.searchsorted(workers.classes, (flow.source, flow.target)).tolist()
    return source, target


def node_network(problem: Problem, accounting: Accounting) -> dict[str, Fraction]:
    """Return what the tasks on each node pay, half of each pair at either end."""
    halves = np.zeros(problem.node_count, dtype=np.int64)
    for t, workers in enumerate(accounting.topologies):
        distance = _distances(problem, workers.node_ids)
        for flow in problem.flows:
            if problem.classes[flow.source].topology != t:
                continue
            a, b = _columns(workers, flow)
            source, target = workers.node_counts[:, a], workers.node_counts[:, b]
            paid = source * (distance @ target) + target * (source @ distance)
            if problem.matrix is None:  # pairs in one worker are nearer than those on one node
                nearer = int(problem.distance[1] - problem.distance[0])
                pairs = workers.counts[:, a] * workers.counts[:, b] * nearer
                np.subtract.at(paid, workers.node_of, 2 * pairs)
            halves[workers.node_ids] += flow.weight * paid
    unit = problem.part_units["network"] / 2
    nodes = problem.instance.cluster.nodes
    return {nodes[n].id: int(halves[n]) * unit for n in np.flatnonzero(halves).tolist()}
