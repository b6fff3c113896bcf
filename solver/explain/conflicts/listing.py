"""Which constraints an instance has."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.scaling import dimension
from slotwise.solver.explain.constraint import LIMITS, TASKS, Constraint


def constraints_of(instance: Instance) -> tuple[Constraint, ...]:
    """Return every constraint of the instance that could play a part, limits first.

    Nodes with the same slots and capacities are limited by one constraint together. Left out is
    what cannot bind: capacities of soft resources or of those that no task asks for, rules of
    components without tasks.
    """
    found = [*_of_nodes(instance)]
    for topology in instance.topologies:
        found += _of_topology(topology)
    least = instance.scheduler.worker_min_cpu
    if least > 0:
        found.append(Constraint("worker_min_cpu", amount=least))
    if "moved" in instance.objective.limits:
        found.append(Constraint("max_moved", amount=Decimal(instance.objective.limits["moved"])))
    found.sort(key=lambda one: (LIMITS.index(one.rule), one.subject if one.nodes else ""))
    return (*found, *_tasks(instance))


def nodes_alike(instance: Instance) -> list[list[Node]]:
    """Return the nodes in sets that have the same slots and hard capacities, in cluster order.

    Where moves are limited, a node on which tasks run is alone.
    """
    home = set()
    if "moved" in instance.objective.limits:
        running = instance.still_running or {}
        home = {place.node for tasks in running.values() for place in tasks.values()}
    soft = instance.objective.soft
    kinds: dict[object, list[Node]] = {}
    for node in instance.cluster.nodes:
        hard = frozenset(
            (key, value) for key, value in node.resources.items() if key not in soft and value != 0
        )
        key = node.id if node.id in home else (node.slots, hard)
        kinds.setdefault(key, []).append(node)
    return list(kinds.values())


def demanded(instance: Instance) -> set[str]:
    """Return the hard resources that some task, shared region or worker loads."""
    found = {
        dimension(key)
        for topology in instance.topologies
        for component in topology.placed_components
        if component.parallelism
        for key, value in component.resources.items()
        if value > 0
    }
    if any(region.mb > 0 for topology in instance.topologies for region in topology.shared_memory):
        found.add("memory_mb")
    if instance.scheduler.worker_min_cpu > 0:
        found.add("cpu")
    return found - set(instance.objective.soft)


def _of_nodes(instance: Instance) -> Iterator[Constraint]:
    count = len(instance.cluster.nodes)
    resources = sorted(demanded(instance))
    for kind in nodes_alike(instance):
        nodes = tuple(node.id for node in kind)
        everywhere = len(nodes) == count
        for resource in resources:
            amount = kind[0].resources.get(resource, Decimal(0))
            if amount is not None:
                yield Constraint("capacity", nodes, everywhere, subject=resource, amount=amount)
        if kind[0].slots is not None:
            yield Constraint("slots", nodes, everywhere, amount=Decimal(kind[0].slots))


def _of_topology(topology: Topology) -> Iterator[Constraint]:
    where = topology.id
    here = {one.id for one in topology.placed_components if one.parallelism}
    if topology.worker_max_heap_mb is not None and here:
        yield Constraint("heap", topology=where, amount=topology.worker_max_heap_mb)
    if topology.one_task_per_worker and here:
        yield Constraint("one_task_per_worker", topology=where)
    if topology.one_component_per_worker and here:
        yield Constraint("one_component_per_worker", topology=where)
    pairs = dict.fromkeys((min(pair), max(pair)) for pair in topology.constraints.incompatible)
    for a, b in pairs:
        if {a, b} <= here:
            yield Constraint("incompatible", topology=where, subject=a, other=b)
    for component, most in topology.constraints.max_per_node.items():
        if component in here:
            yield Constraint(
                "max_per_node", topology=where, subject=component, amount=Decimal(most)
            )
    for region in topology.shared_memory:
        if region.mb > 0 and here & set(region.components):
            yield Constraint("shared_memory", topology=where, subject=region.id, amount=region.mb)


def _tasks(instance: Instance) -> Iterator[Constraint]:
    for topology in instance.topologies:
        for component in topology.placed_components:
            if component.parallelism:
                yield Constraint(
                    TASKS,
                    topology=topology.id,
                    subject=component.id,
                    amount=Decimal(component.parallelism),
                )
