"""Instances that are one step smaller: without a task, a node, a rule, a number.

Most drastic first. Making one raises `InputError` where the rest refers to what was taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TypeAlias

from slotwise.models.instance.cluster import Distance
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.testing.checks.reduction.parts import (
    smaller_topologies,
    with_topologies,
    without_node,
    without_resource,
    without_task_and_capacity,
)

Step: TypeAlias = Callable[[Instance], Iterator[Callable[[], Instance]]]


def _topologies(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Leave a topology out."""
    for index in range(len(instance.topologies)):
        rest = instance.topologies[:index] + instance.topologies[index + 1 :]
        yield partial(with_topologies, instance, rest)


def _nodes(instance: Instance) -> Iterator[Callable[[], Instance]]:
    """Leave a node out."""
    for index in range(len(instance.cluster.nodes)):
        yield partial(without_node, instance, index)


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

    def changed(**change: object) -> Callable[[], Instance]:
        def make() -> Instance:
            fields = {"terms": objective.terms, "soft": objective.soft, "limits": objective.limits}
            made = Objective(**{**fields, **change})  # type: ignore[arg-type]
            return replace(instance, objective=made)

        return make

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

    def changed(**change: object) -> Callable[[], Instance]:
        made = replace(cluster, **change)  # type: ignore[arg-type]
        return lambda: replace(instance, cluster=made)

    if cluster.matrix is not None:
        yield changed(matrix=None)
    if cluster.distance != Distance():
        yield changed(distance=Distance())
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
            yield changed(nodes=(*cluster.nodes[:index], one, *cluster.nodes[index + 1 :]))


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
