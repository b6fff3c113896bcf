"""A change of an instance that may make a placement possible: its text and its effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from slotwise.models.display import counted
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Constraints, Topology
from slotwise.models.values import exact_text
from slotwise.solver.explain.constraint import listed, tasks_text, with_counts, without_topologies

ADD_NODES = "add_nodes"
RAISE_CAPACITY = "raise_capacity"
RAISE_SLOTS = "raise_slots"
RAISE_HEAP = "raise_heap"
ALLOW_PER_NODE = "allow_per_node"
ALLOW_MOVED = "allow_moved"
LOWER_WORKER_MIN_CPU = "lower_worker_min_cpu"
DROP_INCOMPATIBLE = "drop_incompatible"
DROP_ONE_TASK = "drop_one_task_per_worker"
DROP_ONE_COMPONENT = "drop_one_component_per_worker"
LOWER_PARALLELISM = "lower_parallelism"
EVICT = "evict"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of an instance.

    Parameters
    ----------
    kind
        One of the names of this module, for example ``raise_capacity``.
    amount
        Size of the change in the user's unit: MB or points added to each node, nodes added, tasks
        removed; 1 where something is dropped or evicted.
    before, after
        The old and the new value, if they are the same for everything changed; otherwise ``None``.
    nodes
        Nodes that change; for ``add_nodes`` the one to copy.
    where
        Readable name of several nodes, for example ``rack r1``; empty = list their names.
    topologies
        The topology that it changes, or those that it evicts.
    subject, other
        Resource or component; second component of an incompatible pair.
    """

    kind: str
    amount: Decimal = Decimal(1)
    before: Decimal | None = None
    after: Decimal | None = None
    nodes: tuple[str, ...] = ()
    where: str = ""
    topologies: tuple[str, ...] = ()
    subject: str = ""
    other: str = ""

    @property
    def text(self) -> str:
        """The change in words, for example ``add one node like n7``."""
        return _TEXTS[self.kind](self)

    def __str__(self) -> str:
        """Return the change in words."""
        return self.text


def _values(one: Change) -> str:
    """Return ``from 512 to 640``, or nothing where the nodes differ."""
    if one.before is None or one.after is None:
        return ""
    return f", from {exact_text(one.before)} to {exact_text(one.after)}"


def _nodes(one: Change) -> str:
    if one.where:
        return one.where
    return f"node {one.nodes[0]}" if len(one.nodes) == 1 else f"each of {listed(one.nodes)}"


def _add_nodes_text(one: Change) -> str:
    if one.amount == 1:
        return f"add one node like {one.nodes[0]}"
    return f"add {one.amount} nodes like {one.nodes[0]}"


def _raise_capacity_text(one: Change) -> str:
    return f"raise {one.subject} of {_nodes(one)} by {exact_text(one.amount)}{_values(one)}"


def _raise_slots_text(one: Change) -> str:
    return f"give {_nodes(one)} {counted(int(one.amount), 'more slot')}{_values(one)}"


def _drop_incompatible_text(one: Change) -> str:
    where = one.topologies[0]
    if one.subject == one.other:
        return f"let several tasks of {one.subject} share a worker ({where})"
    return f"let {one.subject} and {one.other} share a worker ({where})"


def _lower_parallelism_text(one: Change) -> str:
    where = one.topologies[0]
    if not one.after:
        return f"leave out component {one.subject} of {where} ({tasks_text(one.amount)})"
    return f"run {tasks_text(one.after)} of {one.subject} instead of {one.before} ({where})"


def _raise_heap_text(one: Change) -> str:
    by, where = exact_text(one.amount), one.topologies[0]
    return f"raise the worker heap of {where} by {by} MB{_values(one)}"


def _evict_text(one: Change) -> str:
    several = "topology" if len(one.topologies) == 1 else "topologies"
    return f"leave out {several} {listed(one.topologies)}"


_TEXTS: dict[str, Callable[[Change], str]] = {
    ADD_NODES: _add_nodes_text,
    RAISE_CAPACITY: _raise_capacity_text,
    RAISE_SLOTS: _raise_slots_text,
    RAISE_HEAP: _raise_heap_text,
    ALLOW_PER_NODE: lambda one: (
        f"allow {tasks_text(one.after or 0)} of {one.subject} on a node instead of {one.before} "
        f"({one.topologies[0]})"
    ),
    ALLOW_MOVED: lambda one: f"allow {tasks_text(one.after or 0)} to move instead of {one.before}",
    LOWER_WORKER_MIN_CPU: lambda one: (
        f"lower the least cpu that a worker is charged from {exact_text(one.before or Decimal(0))} "
        f"to {exact_text(one.after or Decimal(0))}"
    ),
    DROP_INCOMPATIBLE: _drop_incompatible_text,
    DROP_ONE_TASK: lambda one: f"let tasks of {one.topologies[0]} share a worker",
    DROP_ONE_COMPONENT: lambda one: f"let components of {one.topologies[0]} share a worker",
    LOWER_PARALLELISM: _lower_parallelism_text,
    EVICT: _evict_text,
}


def apply_change(instance: Instance, change: Change) -> Instance:
    """Return the instance after the change; placements stay valid, without removed tasks."""
    if change.kind in _CLUSTER:
        return replace(instance, cluster=_CLUSTER[change.kind](instance.cluster, change))
    if change.kind in _TOPOLOGY:
        change_one = _TOPOLOGY[change.kind]
        topologies = tuple(
            change_one(one, change) if one.id in change.topologies else one
            for one in instance.topologies
        )
        return replace(instance, topologies=topologies)
    if change.kind == ALLOW_MOVED:
        limits = {**instance.objective.limits, "moved": int(_after(change))}
        return replace(instance, objective=replace(instance.objective, limits=limits))
    if change.kind == LOWER_WORKER_MIN_CPU:
        scheduler = replace(instance.scheduler, worker_min_cpu=_after(change))
        return replace(instance, scheduler=scheduler)
    if change.kind == LOWER_PARALLELISM:
        counts = {(change.topologies[0], change.subject): int(_after(change))}
        return with_counts(instance, counts)
    return without_topologies(instance, change.topologies)


def _after(change: Change) -> Decimal:
    assert change.after is not None, change.kind
    return change.after


def _add_nodes(cluster: Cluster, change: Change) -> Cluster:
    """Add copies of a node in its rack; with a matrix they have its distances."""
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
    ADD_NODES: _add_nodes,
    RAISE_CAPACITY: _raise_capacity,
    RAISE_SLOTS: _raise_slots,
}
_TOPOLOGY: dict[str, Callable[[Topology, Change], Topology]] = {
    RAISE_HEAP: lambda one, change: replace(one, worker_max_heap_mb=_after(change)),
    ALLOW_PER_NODE: _allow_per_node,
    DROP_INCOMPATIBLE: _drop_incompatible,
    DROP_ONE_TASK: lambda one, change: replace(one, one_task_per_worker=False),
    DROP_ONE_COMPONENT: lambda one, change: replace(one, one_component_per_worker=False),
}
