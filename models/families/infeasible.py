"""Ways to make an instance infeasible for a reason that one can state.

Each takes an instance whose resources are hard and breaks one rule so that no placement exists:
by counting, or by one task that fits nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology


def too_little_memory(instance: Instance) -> Instance:
    """Shrink memory: all nodes together offer less than all tasks need."""
    demand = sum(
        int(c.resources["onheap_mb"] + c.resources["offheap_mb"]) * c.parallelism
        for topology in instance.topologies
        for c in topology.components
    )
    offered = sum(int(_capacity(node, "memory_mb")) for node in instance.cluster.nodes)
    return _with_nodes(
        instance,
        tuple(
            _with_capacity(
                node, "memory_mb", int(_capacity(node, "memory_mb")) * (demand - 1) // offered
            )
            for node in instance.cluster.nodes
        ),
    )


def too_large_task(instance: Instance) -> Instance:
    """Shrink cpu: the task that needs most finds no node that large."""
    largest = max(
        int(c.resources["cpu"]) for topology in instance.topologies for c in topology.components
    )
    return _with_nodes(
        instance,
        tuple(
            _with_capacity(node, "cpu", min(int(_capacity(node, "cpu")), largest - 1))
            for node in instance.cluster.nodes
        ),
    )


def too_small_heap(instance: Instance) -> Instance:
    """Limit the heap of the first topology's workers below what its largest task needs."""
    first = instance.topologies[0]
    largest = max(c.resources["onheap_mb"] for c in first.components)
    return _with_first(instance, replace(first, worker_max_heap_mb=largest - 1))


def too_few_slots(instance: Instance) -> Instance:
    """Ask for one worker per task of the first topology, and offer one slot less."""
    first = instance.topologies[0]
    left = sum(c.parallelism for c in first.components) - 1
    nodes = []
    for node in instance.cluster.nodes:
        slots = min(left, node.slots or 0)
        left -= slots
        nodes.append(replace(node, slots=slots))
    isolated = _with_first(instance, replace(first, one_task_per_worker=True))
    return _with_nodes(isolated, tuple(nodes))


BREAKERS: dict[str, Callable[[Instance], Instance]] = {
    "memory": too_little_memory,
    "task": too_large_task,
    "heap": too_small_heap,
    "slots": too_few_slots,
}


def _capacity(node: Node, key: str) -> Decimal:
    value = node.resources[key]
    assert value is not None, "generated nodes have limits"
    return value


def _with_capacity(node: Node, key: str, value: int) -> Node:
    return replace(node, resources={**node.resources, key: Decimal(value)})


def _with_nodes(instance: Instance, nodes: tuple[Node, ...]) -> Instance:
    return replace(instance, cluster=replace(instance.cluster, nodes=nodes))


def _with_first(instance: Instance, topology: Topology) -> Instance:
    return replace(instance, topologies=(topology, *instance.topologies[1:]))
