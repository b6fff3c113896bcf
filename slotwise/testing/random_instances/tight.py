"""Instances with hardly a unit to spare in one resource."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_DOWN, Decimal

import numpy as np

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.testing.choices import Chooser, pick
from slotwise.testing.random_instances.demand import with_some_demand
from slotwise.testing.random_instances.kept import Pair, decimal_of, keeping, with_placement
from slotwise.testing.random_instances.lost_nodes import without_nodes

MOST_SPARE = Decimal("0.05")
"""Most of the capacity that the placement leaves free, as a share of its load."""


def tightened(choose: Chooser, pair: Pair) -> Pair:
    """Return a pair whose placement leaves at most one unit, or 5 %, of one resource free.

    Nodes that the placement does not use are gone, and the resource is hard.
    """
    instance, placement = _without_idle_nodes(*pair)
    instance = with_some_demand(instance)
    verdict = judge(instance, placement)
    problem = verdict.problem
    load = verdict.accounting.node_load
    d = pick(choose, [d for d in range(len(problem.dims)) if load[:, d].any()])
    amounts = [decimal_of(int(steps) * problem.units[d]) for steps in load[:, d]]
    spare = min(Decimal(1), sum(amounts, Decimal(0)) * MOST_SPARE).quantize(
        Decimal("0.01"), rounding=ROUND_DOWN
    )
    amounts[0] += pick(choose, (Decimal(0), spare))
    key = problem.dims[d]
    nodes = tuple(
        replace(node, resources={**node.resources, key: amount})
        for node, amount in zip(instance.cluster.nodes, amounts, strict=True)
    )
    soft = {other: weight for other, weight in instance.objective.soft.items() if other != key}
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        objective=replace(instance.objective, soft=soft),
    ), placement


def one_unit_short(choose: Chooser, instance: Instance) -> Instance:
    """Return the instance with limits that a placement drawn for it would keep, but for one unit.

    On one node one resource is short of what that placement loads by one unit, or by all of it
    where that is less; whether another placement is valid is left open. An instance without any
    load comes back unchanged.
    """
    instance, placement = with_placement(choose, instance)
    verdict = judge(instance, placement)
    problem = verdict.problem
    loaded = np.argwhere(verdict.accounting.node_load).tolist()
    if not loaded:
        return instance
    n, d = pick(choose, loaded)
    key = problem.dims[d]
    load = decimal_of(int(verdict.accounting.node_load[n, d]) * problem.units[d])
    nodes = list(instance.cluster.nodes)
    room = {**nodes[n].resources, key: load - min(Decimal(1), load)}
    nodes[n] = replace(nodes[n], resources=room)
    soft = {other: weight for other, weight in instance.objective.soft.items() if other != key}
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=tuple(nodes)),
        objective=replace(instance.objective, soft=soft),
    )


def _without_idle_nodes(instance: Instance, placement: Placement) -> Pair:
    used = sorted(set(placement.nodes))
    idle = {node.id for n, node in enumerate(instance.cluster.nodes) if n not in used}
    number = {node: index for index, node in enumerate(used)}
    moved = Placement(tuple(number[node] for node in placement.nodes), placement.workers)
    return keeping(without_nodes(instance, idle), moved)
