"""Taking a part out of an instance, with all that refers to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import MEMORY_PARTS, Component, Constraints, Topology

PLAIN = Topology("plain", ())
"""The defaults of a topology."""

RULES = (
    "owner",
    "priority",
    "launch_time",
    "strategy",
    "worker_max_heap_mb",
    "workers",
    "favored_nodes",
    "unfavored_nodes",
    "one_task_per_worker",
    "one_component_per_worker",
    "ackers",
    "ras",
)
"""Fields of a topology that can go back to their defaults by themselves."""


def with_topologies(instance: Instance, topologies: tuple[Topology, ...]) -> Instance:
    """Return the instance with these topologies, without what names tasks that they lack."""
    known = {
        (t.id, f"{c.id}[{index}]")
        for t in topologies
        for c in t.placed_components
        for index in range(c.parallelism)
    }
    running = instance.running
    if running is not None:
        kept = {
            key: {task: place for task, place in tasks.items() if (key, task) in known}
            for key, tasks in running.items()
        }
        running = {key: tasks for key, tasks in kept.items() if tasks}
    rows = [(instance.task_of(row.task), row) for row in instance.linear]
    linear = tuple(replace(row, task=f"{task[0]}/{task[1]}") for task, row in rows if task in known)
    return replace(instance, topologies=topologies, running=running, linear=linear)


def without_node(instance: Instance, index: int) -> Instance:
    """Return the instance without a node, and without what names it."""
    cluster = instance.cluster
    lost = cluster.nodes[index].id
    matrix = cluster.matrix
    if matrix is not None:
        rows = matrix[:index] + matrix[index + 1 :]
        matrix = tuple(row[:index] + row[index + 1 :] for row in rows)
    running = instance.running
    if running is not None:
        running = {
            key: {task: place for task, place in tasks.items() if place.node != lost}
            for key, tasks in running.items()
        }
    nodes = cluster.nodes[:index] + cluster.nodes[index + 1 :]
    return replace(
        instance,
        cluster=replace(cluster, nodes=nodes, matrix=matrix),
        running=running,
        linear=tuple(row for row in instance.linear if row.node != lost),
    )


def without_resource(instance: Instance, key: str) -> Instance:
    """Return the instance without a resource, on nodes and in demands; memory is one resource."""
    parts = ("onheap_mb", "offheap_mb") if key == "memory_mb" else (key,)
    nodes = tuple(
        replace(node, resources={k: v for k, v in node.resources.items() if k != key})
        for node in instance.cluster.nodes
    )

    def left(resources: Mapping[str, Decimal]) -> dict[str, Decimal]:
        return {k: v for k, v in resources.items() if k not in parts}

    def plainer(topology: Topology) -> Topology:
        components = tuple(
            replace(one, resources=left(one.resources)) for one in topology.components
        )
        ackers = topology.ackers
        if ackers is not None:
            ackers = replace(ackers, resources=left(ackers.resources))
        return replace(topology, components=components, ackers=ackers)

    soft = {k: v for k, v in instance.objective.soft.items() if k != key}
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        topologies=tuple(map(plainer, instance.topologies)),
        objective=replace(instance.objective, soft=soft),
    )


def without_task_and_capacity(instance: Instance, index: int, place: int, n: int) -> Instance:
    """Return the instance without a task of a component, and without what it needs on node `n`."""
    topology = instance.topologies[index]
    component = topology.components[place]
    need: defaultdict[str, Decimal] = defaultdict(Decimal)
    for key, amount in component.resources.items():
        need["memory_mb" if key in MEMORY_PARTS else key] += amount
    node = instance.cluster.nodes[n]
    left = {k: None if v is None else v - need[k] for k, v in node.resources.items()}
    nodes = (*instance.cluster.nodes[:n], replace(node, resources=left))
    nodes += instance.cluster.nodes[n + 1 :]
    fewer = replace(component, parallelism=component.parallelism - 1)
    smaller = _with_component(topology, place, fewer)
    topologies = (*instance.topologies[:index], smaller, *instance.topologies[index + 1 :])
    lighter = replace(instance, cluster=replace(instance.cluster, nodes=nodes))
    return with_topologies(lighter, topologies)


def smaller_topologies(topology: Topology) -> Iterator[Callable[[], Topology]]:
    """Yield the topology without a component, a task, a stream, a rule or a demand."""
    spouts = [component.id for component in topology.components if component.kind == "spout"]
    for component in topology.components:
        if spouts != [component.id]:  # many schedulers start from a spout
            yield partial(without_component, topology, component.id)
    for index, component in enumerate(topology.components):
        if component.parallelism > 0:
            fewer = replace(component, parallelism=component.parallelism - 1)
            yield partial(_with_component, topology, index, fewer)
    for key in ("streams", "shared_memory"):
        values = getattr(topology, key)
        for index in range(len(values)):
            yield partial(replace, topology, **{key: values[:index] + values[index + 1 :]})
    rules = topology.constraints
    for index in range(len(rules.incompatible)):
        pairs = rules.incompatible[:index] + rules.incompatible[index + 1 :]
        yield partial(replace, topology, constraints=replace(rules, incompatible=pairs))
    for one in rules.max_per_node:
        most = {key: count for key, count in rules.max_per_node.items() if key != one}
        yield partial(replace, topology, constraints=replace(rules, max_per_node=most))
    for key in RULES:
        if getattr(topology, key) != getattr(PLAIN, key):
            yield partial(replace, topology, **{key: getattr(PLAIN, key)})
    for index, component in enumerate(topology.components):
        for key in component.resources:
            left = {k: v for k, v in component.resources.items() if k != key}
            yield partial(_with_component, topology, index, replace(component, resources=left))


def _with_component(topology: Topology, index: int, component: Component) -> Topology:
    parts = topology.components
    return replace(topology, components=(*parts[:index], component, *parts[index + 1 :]))


def without_component(topology: Topology, lost: str) -> Topology:
    """Return the topology without a component, and without what names it."""
    rules = topology.constraints
    regions = [
        replace(region, components=tuple(c for c in region.components if c != lost))
        for region in topology.shared_memory
    ]
    return replace(
        topology,
        components=tuple(c for c in topology.components if c.id != lost),
        streams=tuple(s for s in topology.streams if lost not in (s.source, s.target)),
        constraints=Constraints(
            tuple(pair for pair in rules.incompatible if lost not in pair),
            {key: most for key, most in rules.max_per_node.items() if key != lost},
        ),
        shared_memory=tuple(region for region in regions if region.components),
    )
