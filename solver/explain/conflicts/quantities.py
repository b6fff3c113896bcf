"""What tasks need and nodes have, in the user's units, before anything is placed.

Everything here is a lower bound of what any placement needs: each shared region counts once for a
topology, each topology has as few workers as its rules allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.number_text import exact_text
from slotwise.models.problem.scaling import CPU, MEMORY, dimension

ZERO = Decimal(0)


def quantity(resource: str, amount: Decimal) -> str:
    """Return an amount of a resource in words: ``512 MB of memory``, ``50 points of cpu``."""
    number = exact_text(amount)
    if resource == MEMORY:
        return f"{number} MB of memory"
    return f"{number} points of cpu" if resource == CPU else f"{number} {resource}"


def placed(topology: Topology) -> list[Component]:
    """Return the components that have tasks."""
    return [one for one in topology.placed_components if one.parallelism]


def demand(component: Component, resource: str) -> Decimal:
    """Return what one task takes of a node, without shared memory."""
    return sum((v for key, v in component.resources.items() if dimension(key) == resource), ZERO)


def shared_mb(
    topology: Topology, component: Component | None, *, heap_only: bool = False
) -> Decimal:
    """Return the shared memory that one task of `component`, or of any with tasks, brings along."""
    users = {one.id for one in ([component] if component else placed(topology))}
    return sum(
        (
            region.mb
            for region in topology.shared_memory
            if users & set(region.components) and (region.kind == "onheap" or not heap_only)
        ),
        ZERO,
    )


def one_task(
    instance: Instance, topology: Topology, component: Component, resource: str
) -> Decimal:
    """Return the least that a node must have of a resource to hold one task of `component`."""
    need = demand(component, resource)
    if resource == MEMORY:
        need += shared_mb(topology, component)
    return max(need, instance.scheduler.worker_min_cpu) if resource == CPU else need


def all_tasks(instance: Instance, resource: str) -> Decimal:
    """Return the least that all nodes together must have of a resource."""
    total = ZERO
    for topology in instance.topologies:
        components = placed(topology)
        if not components:
            continue
        need = sum((demand(one, resource) * one.parallelism for one in components), ZERO)
        if resource == MEMORY:
            need += shared_mb(topology, None)
        if resource == CPU:
            need = max(need, instance.scheduler.worker_min_cpu * least_workers(topology))
        total += need
    return total


def heap_of_one(topology: Topology, component: Component) -> Decimal:
    """Return the least heap of a worker that holds one task of `component`."""
    onheap = component.resources.get("onheap_mb", ZERO)
    return onheap + shared_mb(topology, component, heap_only=True)


def least_workers(topology: Topology) -> int:
    """Return a number of workers that no placement of the topology is below."""
    components = placed(topology)
    if not components:
        return 0
    if topology.one_task_per_worker:
        return sum(one.parallelism for one in components)
    alone = {one.id: _workers_of(topology, one) for one in components}
    if topology.one_component_per_worker:
        return sum(alone.values())
    apart = any(a != b and a in alone and b in alone for a, b in topology.constraints.incompatible)
    return max(1 + apart, *alone.values(), _by_heap(topology))


def _workers_of(topology: Topology, component: Component) -> int:
    """Return the least number of workers with tasks of `component`."""
    if (component.id, component.id) in topology.constraints.incompatible:
        return component.parallelism
    onheap = component.resources.get("onheap_mb", ZERO)
    limit = topology.worker_max_heap_mb
    if limit is None or not onheap:
        return 1
    fitting = int((limit - shared_mb(topology, component, heap_only=True)) // onheap)
    return math.ceil(component.parallelism / fitting) if fitting > 0 else component.parallelism


def _by_heap(topology: Topology) -> int:
    limit = topology.worker_max_heap_mb
    if not limit:
        return 1
    total = sum(
        (one.resources.get("onheap_mb", ZERO) * one.parallelism for one in placed(topology)), ZERO
    )
    return max(1, math.ceil(total / limit))


def total_capacity(instance: Instance, resource: str) -> Decimal | None:
    """Return what all nodes with slots have of a resource; ``None`` = one has no limit."""
    nodes = instance.cluster.nodes
    return _sum(
        instance, lambda n: ZERO if nodes[n].slots == 0 else nodes[n].resources.get(resource, ZERO)
    )


def total_slots(instance: Instance) -> Decimal | None:
    """Return the slots of all nodes together; ``None`` = one has no limit."""
    slots = [node.slots for node in instance.cluster.nodes]
    return _sum(instance, lambda n: None if slots[n] is None else Decimal(slots[n] or 0))


def _sum(instance: Instance, of: Callable[[int], Decimal | None]) -> Decimal | None:
    total = ZERO
    for n in range(len(instance.cluster.nodes)):
        value = of(n)
        if value is None:
            return None
        total += value
    return total
