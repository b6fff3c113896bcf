"""A change applied to an instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import islice

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Constraints, Topology
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change
from slotwise.solver.explain.removal import with_counts, without_topologies


def applied(instance: Instance, change: Change) -> Instance:
    """Return the instance after the change; its placements stay valid but for tasks that go."""
    if change.kind in _CLUSTER:
        return replace(instance, cluster=_CLUSTER[change.kind](instance.cluster, change))
    if change.kind in _TOPOLOGY:
        change_one = _TOPOLOGY[change.kind]
        topologies = tuple(
            change_one(one, change) if one.id in change.topologies else one
            for one in instance.topologies
        )
        return replace(instance, topologies=topologies)
    if change.kind == kinds.ALLOW_MOVED:
        limits = {**instance.objective.limits, "moved": int(_after(change))}
        return replace(instance, objective=replace(instance.objective, limits=limits))
    if change.kind == kinds.LOWER_WORKER_MIN_CPU:
        scheduler = replace(instance.scheduler, worker_min_cpu=_after(change))
        return replace(instance, scheduler=scheduler)
    if change.kind == kinds.LOWER_PARALLELISM:
        counts = {(change.topologies[0], change.subject): int(_after(change))}
        return with_counts(instance, counts)
    return without_topologies(instance, change.topologies)


def _after(change: Change) -> Decimal:
    assert change.after is not None, change.kind
    return change.after


def _add_nodes(cluster: Cluster, change: Change) -> Cluster:
    """Add copies of a node in its rack; with a matrix they are where it is."""
    index = next(n for n, node in enumerate(cluster.nodes) if node.id == change.nodes[0])
    like, count = cluster.nodes[index], int(change.amount)
    taken = {node.id for node in cluster.nodes}
    free = (
        name for k in range(1, len(taken) + count + 1) if (name := f"{like.id}-{k}") not in taken
    )
    copies = tuple(replace(like, id=name, host=name) for name in islice(free, count))
    matrix = cluster.matrix
    if matrix is not None:
        wider = [(*row, *(row[index],) * count) for row in matrix]
        matrix = (*wider, *(wider[index],) * count)
    return replace(cluster, nodes=(*cluster.nodes, *copies), matrix=matrix)


def _each_node(cluster: Cluster, change: Change, how: Callable[[Node], Node]) -> Cluster:
    changed = set(change.nodes)
    nodes = tuple(how(node) if node.id in changed else node for node in cluster.nodes)
    return replace(cluster, nodes=nodes)


def _raise_capacity(cluster: Cluster, change: Change) -> Cluster:
    def higher(node: Node) -> Node:
        before = node.resources.get(change.subject, Decimal(0))
        assert before is not None, "a node without limit is not raised"
        return replace(node, resources={**node.resources, change.subject: before + change.amount})

    return _each_node(cluster, change, higher)


def _raise_slots(cluster: Cluster, change: Change) -> Cluster:
    def wider(node: Node) -> Node:
        assert node.slots is not None, "a node without limit is not given slots"
        return replace(node, slots=node.slots + int(change.amount))

    return _each_node(cluster, change, wider)


def _allow_per_node(topology: Topology, change: Change) -> Topology:
    most = {**topology.constraints.max_per_node, change.subject: int(_after(change))}
    return replace(topology, constraints=replace(topology.constraints, max_per_node=most))


def _drop_incompatible(topology: Topology, change: Change) -> Topology:
    pair = {change.subject, change.other}
    constraints = topology.constraints
    left = tuple(one for one in constraints.incompatible if set(one) != pair)
    return replace(topology, constraints=Constraints(left, constraints.max_per_node))


_CLUSTER: dict[str, Callable[[Cluster, Change], Cluster]] = {
    kinds.ADD_NODES: _add_nodes,
    kinds.RAISE_CAPACITY: _raise_capacity,
    kinds.RAISE_SLOTS: _raise_slots,
}
_TOPOLOGY: dict[str, Callable[[Topology, Change], Topology]] = {
    kinds.RAISE_HEAP: lambda one, change: replace(one, worker_max_heap_mb=_after(change)),
    kinds.ALLOW_PER_NODE: _allow_per_node,
    kinds.DROP_INCOMPATIBLE: _drop_incompatible,
    kinds.DROP_ONE_TASK: lambda one, change: replace(one, one_task_per_worker=False),
    kinds.DROP_ONE_COMPONENT: lambda one, change: replace(one, one_component_per_worker=False),
}
