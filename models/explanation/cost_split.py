"""The parts of the objective split by streams, nodes and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import Accounting, Workers
from slotwise.models.judge.judge import counts_by_level, judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Flow, IntArray, Problem
from slotwise.models.values import plain

# The network cost by streams and nodes.

LEVELS = ("worker", "node", "rack", "cluster")
"""The lowest place that holds both tasks of a pair, from near to far."""

Levels = tuple[Fraction, Fraction, Fraction, Fraction]
"""An amount for each of `LEVELS`."""


@dataclass(frozen=True, slots=True)
class StreamCost:
    """The network cost of one pair of components.

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
    """Return the cost of each pair of components, the dearest first."""
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
    split = [
        StreamCost(
            topology=problem.rules[problem.components[a][0]].id,
            source=problem.components[a][1],
            target=problem.components[b][1],
            flow=_levels(flows, problem.flow_unit),
            cost=_levels(costs, unit),
        )
        for (a, b), (flows, costs) in totals.items()
    ]
    return tuple(sorted(split, key=lambda one: -one.total))


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
    """Return the cost of the tasks on each node; half of each pair's cost counts at either end."""
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


@dataclass(frozen=True, slots=True)
class OverloadCost:
    """Load above the capacity of a soft resource: `over` in the user's unit, `cost` weighted."""

    node: str
    resource: str
    over: Fraction
    cost: Fraction


@dataclass(frozen=True, slots=True)
class LinearTotal:
    """Linear costs of the tasks of a component on a node."""

    topology: str
    component: str
    node: str
    tasks: int
    cost: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class CostSplit:
    """A verdict with its values in detail.

    Parameters
    ----------
    verdict
        Of the judge.
    terms
        Term -> part -> what the part adds to the term, in the user's unit; they add up to the
        term's value.
    streams
        The dearest first; their totals add up to the part ``network``.
    node_network
        Node -> network cost of its tasks, each pair's cost half with the sender's node and half
        with the receiver's; nodes that pay nothing are absent. They add up to ``network``.
    overloads, linear
        The dearest first; they add up to the parts ``overload`` and ``linear``.
    moved, rejected
        Names of the tasks that are not where they run now, and of the topologies left out.
    """

    verdict: Verdict
    terms: dict[str, dict[str, Fraction]]
    streams: tuple[StreamCost, ...]
    node_network: dict[str, Fraction]
    overloads: tuple[OverloadCost, ...]
    linear: tuple[LinearTotal, ...]
    moved: tuple[str, ...]
    rejected: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the split as JSON-ready data in the user's units."""
        return {
            "terms": {
                term: {part: plain(value) for part, value in parts.items()}
                for term, parts in self.terms.items()
            },
            "streams": [
                {
                    "topology": one.topology,
                    "from": one.source,
                    "to": one.target,
                    "cost": plain(one.total),
                    "flow_by_level": dict(zip(LEVELS, map(plain, one.flow), strict=True)),
                    "cost_by_level": dict(zip(LEVELS, map(plain, one.cost), strict=True)),
                }
                for one in self.streams
            ],
            "node_network": {node: plain(cost) for node, cost in self.node_network.items()},
            "overloads": [
                {
                    "node": one.node,
                    "resource": one.resource,
                    "over": plain(one.over),
                    "cost": plain(one.cost),
                }
                for one in self.overloads
            ],
            "linear": [
                {
                    "topology": one.topology,
                    "component": one.component,
                    "node": one.node,
                    "tasks": one.tasks,
                    "cost": plain(one.cost),
                }
                for one in self.linear
            ],
            "moved": list(self.moved),
            "rejected": list(self.rejected),
        }


def split_cost(problem: Problem, placement: Placement) -> CostSplit:
    """Return the cost of `placement` in detail; raises `InputError` as `judge` does."""
    verdict = judge(problem, placement)
    return CostSplit(
        verdict=verdict,
        terms=_terms(problem, verdict),
        streams=stream_costs(problem, verdict.accounting),
        node_network=node_network(problem, verdict.accounting),
        overloads=tuple(_overloads(problem, verdict)),
        linear=_linear(problem, verdict),
        moved=_moved(problem, placement),
        rejected=_rejected(problem, verdict),
    )


def _terms(problem: Problem, verdict: Verdict) -> dict[str, dict[str, Fraction]]:
    terms = {}
    for term in problem.terms:
        steps = {
            part: verdict.parts[part] / problem.part_units[part] * multiplier
            for part, multiplier in term.parts
        }
        terms[term.name] = {part: value * term.unit for part, value in steps.items()}
    return terms


def _overloads(problem: Problem, verdict: Verdict) -> Iterator[OverloadCost]:
    over = np.maximum(verdict.accounting.node_load - problem.capacity, 0)
    cost = over * problem.soft_weight
    order = np.argsort(-cost, axis=None, kind="stable")
    for n, d in zip(*(axis.tolist() for axis in np.unravel_index(order, cost.shape)), strict=True):
        if not cost[n, d]:
            return
        yield OverloadCost(
            node=problem.instance.cluster.nodes[n].id,
            resource=problem.dims[d],
            over=int(over[n, d]) * problem.units[d],
            cost=int(cost[n, d]) * problem.part_units["overload"],
        )


def _linear(problem: Problem, verdict: Verdict) -> tuple[LinearTotal, ...]:
    if problem.linear is None:
        return ()
    totals: dict[tuple[int, int], list[int]] = {}
    for workers in verdict.accounting.topologies:
        for m, node in enumerate(workers.node_ids.tolist()):
            for k, c in enumerate(workers.classes.tolist()):
                count = int(workers.node_counts[m, k])
                if count and problem.linear[c, node]:
                    total = totals.setdefault((problem.classes[c].component, node), [0, 0])
                    total[0] += count
                    total[1] += count * int(problem.linear[c, node])
    unit = problem.part_units["linear"]
    linear = [
        LinearTotal(
            topology=problem.rules[problem.components[component][0]].id,
            component=problem.components[component][1],
            node=problem.instance.cluster.nodes[node].id,
            tasks=tasks,
            cost=cost * unit,
        )
        for (component, node), (tasks, cost) in totals.items()
    ]
    return tuple(sorted(linear, key=lambda one: -one.cost))


def _moved(problem: Problem, placement: Placement) -> tuple[str, ...]:
    names = problem.instance.task_names()
    moved = [
        task
        for one in problem.classes
        if one.home is not None
        for task in one.tasks
        if (placement.nodes[task], placement.workers[task]) != one.home
    ]
    return tuple("/".join(names[task]) for task in sorted(moved))


def _rejected(problem: Problem, verdict: Verdict) -> tuple[str, ...]:
    rows = zip(problem.rules, verdict.accounting.topologies, strict=True)
    return tuple(rule.id for rule, workers in rows if rule.classes and not workers.placed)
