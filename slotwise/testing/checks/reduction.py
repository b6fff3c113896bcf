"""Making a failing instance small: each step takes one thing away and keeps the failure.

The most drastic steps come first: without a topology, a node, a rule, a number. Hypothesis's own
shrinking works on its choices and would take minutes for instances this rich. It knows no check
and no scheduler.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Distance
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import MEMORY_PARTS, Component, Topology
from slotwise.models.instance_file import instance_from_text, instance_text
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.explain.constraint import with_topologies
from slotwise.testing.random_instances.lost_nodes import without_nodes

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
    "acked",
    "ackers",
    "ras",
)
"""Fields of a topology that can go back to their defaults by themselves."""


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
        constraints=replace(
            rules,
            incompatible=tuple(pair for pair in rules.incompatible if lost not in pair),
            max_per_node={key: most for key, most in rules.max_per_node.items() if key != lost},
        ),
        shared_memory=tuple(region for region in regions if region.components),
    )


Step: TypeAlias = Callable[[Instance], Iterator[Callable[[], Instance]]]


def _topologies(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Leave a topology out."""
    for index in range(len(instance.topologies)):
        rest = instance.topologies[:index] + instance.topologies[index + 1 :]
        yield partial(with_topologies, instance, rest)


def _nodes(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Leave a node out."""
    for node in instance.cluster.nodes:
        yield partial(without_nodes, instance, {node.id})


def _parts(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Take a component, a task, a stream or a rule from a topology."""
    for index, topology in enumerate(instance.topologies):
        for make in smaller_topologies(topology):
            yield partial(_with_topology, instance, index, make)


def _with_topology(instance: Instance, index: int, make: Callable[[], object]) -> Instance:
    topologies = list(instance.topologies)
    topologies[index] = make()  # type: ignore[call-overload]
    return with_topologies(instance, tuple(topologies))


def _instance_rules(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Remove everything except cluster and topologies."""
    if instance.running is not None:
        yield partial(replace, instance, running=None)
        for topology, tasks in instance.running.items():
            for task in tasks:
                rest = {k: v for k, v in tasks.items() if k != task}
                running = {**instance.running, topology: rest}
                yield partial(replace, instance, running={k: v for k, v in running.items() if v})
    if instance.linear:
        yield partial(replace, instance, linear=())
        for index in range(len(instance.linear)):
            rows = instance.linear[:index] + instance.linear[index + 1 :]
            yield partial(replace, instance, linear=rows)
    if instance.flow != "pairs":
        yield partial(replace, instance, flow="pairs")
    if instance.scheduler != Scheduler():
        yield partial(replace, instance, scheduler=Scheduler())


def _objective(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Take terms, limits and soft resources from the objective."""
    objective = instance.objective

    def changed(**change: Any) -> Callable[[], Instance]:
        return lambda: replace(instance, objective=replace(objective, **change))

    if objective.limits:
        yield changed(limits={})
    for key in objective.soft:
        yield changed(soft={k: v for k, v in objective.soft.items() if k != key})
    if len(objective.terms) > 1:
        for index in range(len(objective.terms)):
            yield changed(terms=objective.terms[:index] + objective.terms[index + 1 :])
    for index, term in enumerate(objective.terms):
        parts = term.split("+")
        for part in parts if len(parts) > 1 else ():
            left = "+".join(other for other in parts if other != part)
            yield changed(terms=(*objective.terms[:index], left, *objective.terms[index + 1 :]))


def _cluster(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Make the cluster plainer."""
    cluster = instance.cluster

    if cluster.matrix is not None:
        yield partial(replace, instance, cluster=replace(cluster, matrix=None))
    if cluster.distance != Distance():
        yield partial(replace, instance, cluster=replace(cluster, distance=Distance()))
    for key in sorted(_resources(instance)):
        yield partial(without_resource, instance, key)
    for index, node in enumerate(cluster.nodes):
        plainer = [replace(node, rack=cluster.nodes[0].rack), replace(node, host="")]
        if node.slots is not None:
            plainer.append(replace(node, slots=None))
        plainer += [
            replace(node, resources={**node.resources, key: None})
            for key, capacity in node.resources.items()
            if capacity is not None
        ]
        for one in plainer:
            nodes = (*cluster.nodes[:index], one, *cluster.nodes[index + 1 :])
            yield partial(replace, instance, cluster=cluster.with_nodes(nodes, cluster.matrix))


def _resources(instance: Instance) -> set[str]:
    offered = {key for node in instance.cluster.nodes for key in node.resources}
    parts = [c for topology in instance.topologies for c in topology.placed_components]
    return offered | {key for component in parts for key in component.resources}


def _tasks_with_capacity(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Take a task away, and from one node what it needs: what was just too much stays so."""
    for index, topology in enumerate(instance.topologies):
        for place, component in enumerate(topology.components):
            for n in range(len(instance.cluster.nodes) if component.parallelism else 0):
                yield partial(without_task_and_capacity, instance, index, place, n)


def _numbers(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Make costs 1."""
    for index, row in enumerate(instance.linear):
        if row.cost != 1:
            one = replace(row, cost=Decimal(1))
            rows = (*instance.linear[:index], one, *instance.linear[index + 1 :])
            yield partial(replace, instance, linear=rows)


STEPS: tuple[Step, ...] = (
    _topologies,
    _nodes,
    _parts,
    _instance_rules,
    _objective,
    _tasks_with_capacity,
    _cluster,
    _numbers,
)
"""All steps, most drastic first."""


def smallest(instance: Instance, fails: Callable[[Instance], bool]) -> Instance:
    """Return an instance that fails of which no instance that is one step smaller does.

    Parameters
    ----------
    instance
        One that fails.
    fails
        Whether an instance fails; false for all ends the search.
    """
    current, improved = instance, True
    while improved:
        improved = False
        for step in STEPS:
            number = 0
            while number < len(options := list(step(current))):
                smaller = _made(options[number])
                if smaller is not None and smaller != current and fails(smaller):
                    current, improved = smaller, True
                else:
                    number += 1
    return current


def as_read(instance: Instance) -> Instance:
    """Return the instance as it is read from its file: what fails in memory fails there too.

    Raises
    ------
    InputError
        When no file can hold it.
    """
    return instance_from_text(instance_text(instance))


def _made(make: Callable[[], Instance]) -> Instance | None:
    """Return the smaller instance; ``None`` where what is left refers to what was taken away."""
    try:
        instance = as_read(make())
        compile_problem(instance)
    except InputError:
        return None
    return instance
