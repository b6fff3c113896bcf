"""Which streams, nodes and tasks pay what of each part of the objective."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from slotwise.models.explanation.network_split import (
    LEVELS,
    StreamCost,
    node_network,
    stream_costs,
)
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain


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
    """A verdict with what makes up its values.

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
    """Return what makes up the cost of `placement`; raises `InputError` as `judge` does."""
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
    found = {}
    for term in problem.terms:
        steps = {
            part: verdict.parts[part] / problem.part_units[part] * multiplier
            for part, multiplier in term.parts
        }
        found[term.name] = {part: value * term.unit for part, value in steps.items()}
    return found


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
    found = [
        LinearTotal(
            topology=problem.rules[problem.components[component][0]].id,
            component=problem.components[component][1],
            node=problem.instance.cluster.nodes[node].id,
            tasks=tasks,
            cost=cost * unit,
        )
        for (component, node), (tasks, cost) in totals.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.cost))


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
