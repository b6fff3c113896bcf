"""Instances that are feasible by construction: a placement is drawn, and limits that keep it.

`tightened` leaves hardly a unit of one resource to spare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction

import numpy as np

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, tasks_by_worker
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge
from slotwise.models.judge.rules import RULES, without_field
from slotwise.testing.choices import Chooser, chance, pick
from slotwise.testing.random_instances.demand import with_some_demand
from slotwise.testing.random_instances.lost_nodes import without_nodes

WORKERS = 3
"""Workers of a topology on a node among which a task's is drawn."""

WORKER_RULES = ("heap", "one_task_per_worker", "one_component_per_worker", "incompatible")
"""Rules that a worker with a single task keeps; of ``heap``, save for what that task needs."""

Pair = tuple[Instance, Placement]
Needs = Mapping[tuple[str, str, str], Decimal]
"""Rule, place and subject of a violation -> what is needed there."""


def with_placement(choose: Chooser, instance: Instance) -> Pair:
    """Return the instance with limits that keep a placement drawn for it, and that placement."""
    return keeping(instance, _drawn(choose, instance))


def keeping(instance: Instance, placement: Placement) -> Pair:
    """Return the instance with limits raised as far as a complete placement needs.

    Tasks that may not share a worker get workers of their own first. A limit that holds already
    stays, one that does not is just kept from then on. A rule that no limit repairs is left out.
    """
    placement = _apart(instance, placement)
    needs: dict[tuple[str, str, str], Decimal] = {}
    for violation in judge(instance, placement).violations:
        # Components of two topologies may have one name: the larger need counts for both.
        key = (violation.rule, violation.place, violation.subject)
        needs[key] = max(needs.get(key, Decimal(0)), decimal_of(violation.needed))
    limits = dict(instance.objective.limits)
    if ("max_moved", "cluster", "tasks") in needs:
        limits["moved"] = int(needs["max_moved", "cluster", "tasks"])
    raised = replace(
        instance,
        cluster=replace(
            instance.cluster, nodes=tuple(_raised_node(n, needs) for n in instance.cluster.nodes)
        ),
        topologies=tuple(_raised_topology(t, needs) for t in instance.topologies),
        objective=replace(instance.objective, limits=limits),
    )
    return _without_broken_rules(raised, placement), placement


def _without_broken_rules(instance: Instance, placement: Placement) -> Instance:
    """Return the instance without the rules that a placement breaks and a field sets."""
    broken = {violation.rule for violation in judge(instance, placement).violations}
    for field in (RULES[name].field for name in sorted(broken)):
        if field is not None:
            topologies = (without_field(topology, field) for topology in instance.topologies)
            instance = replace(instance, topologies=tuple(topologies))
    return instance


def _drawn(choose: Chooser, instance: Instance) -> Placement:
    """Return a place for every task, one topology per worker; some stay where they run."""
    index = {node.id: n for n, node in enumerate(instance.cluster.nodes)}
    offset = {topology.id: WORKERS * t for t, topology in enumerate(instance.topologies)}
    running = instance.running or {}
    taken = 1 + max((p.worker for places in running.values() for p in places.values()), default=-1)
    nodes, workers = [], []
    for topology, task in instance.task_names():
        here = running.get(topology, {}).get(task)
        if here is not None and not chance(choose, 50):
            nodes.append(index[here.node])
            workers.append(here.worker)
        else:
            nodes.append(choose.whole(0, len(index) - 1))
            workers.append(taken + offset[topology] + choose.whole(0, WORKERS - 1))
    return Placement(tuple(nodes), tuple(workers))


def _apart(instance: Instance, placement: Placement) -> Placement:
    """Return the placement with the tasks of workers that break a rule in workers of their own.

    Labels become dense on each node, unless some task runs: theirs mean something then.
    """
    violations = judge(instance, placement).violations
    broken = {v.place for v in violations if v.rule in WORKER_RULES}
    fresh = max(placement.workers, default=0) + 1
    workers = [
        fresh + task
        if f"node {instance.cluster.nodes[node].id} worker {worker}" in broken
        else worker
        for task, (node, worker) in enumerate(zip(placement.nodes, placement.workers, strict=True))
    ]
    placement = Placement(placement.nodes, tuple(workers))
    return placement if instance.running else _dense(instance, placement)


def _dense(instance: Instance, placement: Placement) -> Placement:
    labels: dict[tuple[int, int], int] = {}
    used = [0] * len(instance.cluster.nodes)
    for _, node, worker in tasks_by_worker(instance, placement):
        if (node, worker) not in labels:
            labels[node, worker] = used[node]
            used[node] += 1
    pairs = zip(placement.nodes, placement.workers, strict=True)
    return Placement(placement.nodes, tuple(labels[pair] for pair in pairs))


def _raised_node(node: Node, needs: Needs) -> Node:
    place = f"node {node.id}"
    load = {
        subject: most
        for (rule, at, subject), most in needs.items()
        if (rule, at) == ("capacity", place)
    }
    slots = needs.get(("slots", place, "workers"))
    return replace(
        node,
        slots=node.slots if slots is None else int(slots),
        resources={**node.resources, **load},
    )


def _raised_topology(topology: Topology, needs: Needs) -> Topology:
    heaps = _of(needs, "heap", f"on-heap memory of {topology.id}")
    limits = topology.constraints.max_per_node
    most = {
        key: max([limit, *map(int, _of(needs, "max_per_node", key))])
        for key, limit in limits.items()
    }
    return replace(
        topology,
        worker_max_heap_mb=max(heaps, default=topology.worker_max_heap_mb),
        constraints=replace(topology.constraints, max_per_node=most),
    )


def _of(needs: Needs, rule: str, subject: str) -> Iterable[Decimal]:
    return [most for (one, _, other), most in needs.items() if (one, other) == (rule, subject)]


def decimal_of(number: Fraction) -> Decimal:
    """Return a fraction of at most six decimals exactly."""
    return Decimal(number.numerator) / Decimal(number.denominator)


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
