"""An instance with fewer tasks, or without some of its constraints: they are really not there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.reserved import ACKER
from slotwise.models.instance.topology import Topology
from slotwise.solver.explain.constraint import TASKS, Constraint

Counts = Mapping[tuple[str, str], int]
"""(topology id, component id) -> number of tasks."""


def with_counts(instance: Instance, counts: Counts) -> Instance:
    """Return the instance with these numbers of tasks, each at most the present one.

    The tasks with the highest indices go; what `running` and `linear` say of them goes with them.
    """
    return with_topologies(
        instance, tuple(_with_counts(one, counts) for one in instance.topologies)
    )


def without_topologies(instance: Instance, evicted: Collection[str]) -> Instance:
    """Return the instance without these topologies."""
    return with_topologies(
        instance, tuple(one for one in instance.topologies if one.id not in evicted)
    )


def _with_counts(topology: Topology, counts: Counts) -> Topology:
    if all(key != topology.id for key, _ in counts):
        return topology
    components = tuple(
        replace(one, parallelism=counts.get((topology.id, one.id), one.parallelism))
        for one in topology.components
    )
    ackers = topology.ackers
    if ackers is not None:
        ackers = replace(ackers, count=counts.get((topology.id, ACKER), ackers.count))
    return replace(topology, components=components, ackers=ackers)


def with_topologies(instance: Instance, topologies: tuple[Topology, ...]) -> Instance:
    """Return the instance with these topologies, without what names tasks that they lack."""
    left = {
        (topology.id, f"{component.id}[{index}]")
        for topology in topologies
        for component in topology.placed_components
        for index in range(component.parallelism)
    }
    running = None
    if instance.running is not None:
        running = {
            topology: kept
            for topology, tasks in instance.running.items()
            if (kept := {task: place for task, place in tasks.items() if (topology, task) in left})
        }
    rows = [(row, instance.task_of(row.task)) for row in instance.linear]
    linear = tuple(replace(row, task="/".join(task)) for row, task in rows if task in left)
    return replace(instance, topologies=topologies, running=running, linear=linear)


def relax(instance: Instance, dropped: Collection[Constraint]) -> Instance:
    """Return the instance without these constraints; every placement of it stays valid.

    Capacities, slots and heap limits become unlimited, rules and shared regions go, and a component
    whose tasks need not be placed has no tasks.
    """
    if not dropped:
        return instance
    by_node = _by_node(dropped)
    nodes = tuple(
        _node(node, by_node[node.id]) if node.id in by_node else node
        for node in instance.cluster.nodes
    )
    rules = {one.rule for one in dropped}
    scheduler, objective = instance.scheduler, instance.objective
    if "worker_min_cpu" in rules:
        scheduler = replace(scheduler, worker_min_cpu=type(scheduler.worker_min_cpu)(0))
    if "max_moved" in rules:
        objective = replace(objective, limits={})
    looser = replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        topologies=tuple(
            _topology(one, [c for c in dropped if c.topology == one.id])
            for one in instance.topologies
        ),
        scheduler=scheduler,
        objective=objective,
    )
    gone = {(one.topology, one.subject): 0 for one in dropped if one.rule == TASKS}
    return with_counts(looser, gone) if gone else looser


def _by_node(dropped: Collection[Constraint]) -> dict[str, list[Constraint]]:
    found: dict[str, list[Constraint]] = {}
    for one in dropped:
        for node in one.nodes:
            found.setdefault(node, []).append(one)
    return found


def _node(node: Node, dropped: Collection[Constraint]) -> Node:
    unlimited = {one.subject: None for one in dropped if one.rule == "capacity"}
    slots = None if any(one.rule == "slots" for one in dropped) else node.slots
    return replace(node, slots=slots, resources={**node.resources, **unlimited})


def _topology(topology: Topology, dropped: Collection[Constraint]) -> Topology:
    rules = {one.rule for one in dropped}
    pairs = {(one.subject, one.other) for one in dropped if one.rule == "incompatible"}
    spread = {one.subject for one in dropped if one.rule == "max_per_node"}
    regions = {one.subject for one in dropped if one.rule == "shared_memory"}
    constraints = replace(
        topology.constraints,
        incompatible=tuple(
            (a, b)
            for a, b in topology.constraints.incompatible
            if (min(a, b), max(a, b)) not in pairs
        ),
        max_per_node={
            key: most
            for key, most in topology.constraints.max_per_node.items()
            if key not in spread
        },
    )
    isolated = topology.one_task_per_worker and "one_task_per_worker" not in rules
    apart = topology.one_component_per_worker and "one_component_per_worker" not in rules
    return replace(
        topology,
        worker_max_heap_mb=None if "heap" in rules else topology.worker_max_heap_mb,
        constraints=constraints,
        one_task_per_worker=isolated,
        one_component_per_worker=apart,
        shared_memory=tuple(one for one in topology.shared_memory if one.id not in regions),
    )
