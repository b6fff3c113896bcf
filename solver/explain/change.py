"""A change of an instance that may make a placement possible: its text and its effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from slotwise.models.display import counted
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
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


def _values(change: Change) -> str:
    """Return ``from 512 to 640``, or nothing where the nodes differ."""
    if change.before is None or change.after is None:
        return ""
    return f", from {exact_text(change.before)} to {exact_text(change.after)}"


def _nodes(change: Change) -> str:
    if change.where:
        return change.where
    return (
        f"node {change.nodes[0]}" if len(change.nodes) == 1 else f"each of {listed(change.nodes)}"
    )


def _add_nodes_text(change: Change) -> str:
    if change.amount == 1:
        return f"add one node like {change.nodes[0]}"
    return f"add {change.amount} nodes like {change.nodes[0]}"


def _raise_capacity_text(change: Change) -> str:
    amount = f"{exact_text(change.amount)}{_values(change)}"
    return f"raise {change.subject} of {_nodes(change)} by {amount}"


def _raise_slots_text(change: Change) -> str:
    return f"give {_nodes(change)} {counted(int(change.amount), 'more slot')}{_values(change)}"


def _drop_incompatible_text(change: Change) -> str:
    where = change.topologies[0]
    if change.subject == change.other:
        return f"let several tasks of {change.subject} share a worker ({where})"
    return f"let {change.subject} and {change.other} share a worker ({where})"


def _lower_parallelism_text(change: Change) -> str:
    where = change.topologies[0]
    if not change.after:
        return f"leave out component {change.subject} of {where} ({tasks_text(change.amount)})"
    return (
        f"run {tasks_text(change.after)} of {change.subject} instead of {change.before} ({where})"
    )


def _raise_heap_text(change: Change) -> str:
    by, where = exact_text(change.amount), change.topologies[0]
    return f"raise the worker heap of {where} by {by} MB{_values(change)}"


def _evict_text(change: Change) -> str:
    noun = "topology" if len(change.topologies) == 1 else "topologies"
    return f"leave out {noun} {listed(change.topologies)}"


_TEXTS: dict[str, Callable[[Change], str]] = {
    ADD_NODES: _add_nodes_text,
    RAISE_CAPACITY: _raise_capacity_text,
    RAISE_SLOTS: _raise_slots_text,
    RAISE_HEAP: _raise_heap_text,
    ALLOW_PER_NODE: lambda c: (
        f"allow {tasks_text(c.after or 0)} of {c.subject} on a node instead of {c.before} "
        f"({c.topologies[0]})"
    ),
    ALLOW_MOVED: lambda c: f"allow {tasks_text(c.after or 0)} to move instead of {c.before}",
    LOWER_WORKER_MIN_CPU: lambda c: (
        f"lower the least cpu that a worker is charged from {exact_text(c.before or Decimal(0))} "
        f"to {exact_text(c.after or Decimal(0))}"
    ),
    DROP_INCOMPATIBLE: _drop_incompatible_text,
    DROP_ONE_TASK: lambda c: f"let tasks of {c.topologies[0]} share a worker",
    DROP_ONE_COMPONENT: lambda c: f"let components of {c.topologies[0]} share a worker",
    LOWER_PARALLELISM: _lower_parallelism_text,
    EVICT: _evict_text,
}


def apply_change(instance: Instance, change: Change) -> Instance:
    """Return the instance after the change; placements stay valid, without removed tasks."""
    if change.kind == ADD_NODES:
        return replace(instance, cluster=_add_nodes(instance.cluster, change, instance.lost))
    if change.kind in _CLUSTER:
        return replace(instance, cluster=_CLUSTER[change.kind](instance.cluster, change))
    if change.kind in _TOPOLOGY:
        change_one = _TOPOLOGY[change.kind]
        topologies = tuple(
            change_one(topology, change) if topology.id in change.topologies else topology
            for topology in instance.topologies
        )
        return replace(instance, topologies=topologies)
    if change.kind == ALLOW_MOVED:
        limits = {**instance.objective.limits, "moved": int(_new_amount(change))}
        return replace(instance, objective=replace(instance.objective, limits=limits))
    if change.kind == LOWER_WORKER_MIN_CPU:
        scheduler = replace(instance.scheduler, worker_min_cpu=_new_amount(change))
        return replace(instance, scheduler=scheduler)
    if change.kind == LOWER_PARALLELISM:
        counts = {(change.topologies[0], change.subject): int(_new_amount(change))}
        return with_counts(instance, counts)
    return without_topologies(instance, change.topologies)


def _new_amount(change: Change) -> Decimal:
    assert change.after is not None, change.kind
    return change.after


def _add_nodes(cluster: Cluster, change: Change, lost: Iterable[str]) -> Cluster:
    """Add copies of a node in its rack; with a matrix they have its distances.

    None has the name of a lost node: its orphans would run on the copy.
    """
    index = next(n for n, node in enumerate(cluster.nodes) if node.id == change.nodes[0])
    like, count = cluster.nodes[index], int(change.amount)
    used_names = {name for node in cluster.nodes for name in (node.id, node.host)} | {*lost}
    free = (
        name
        for k in range(1, len(used_names) + count + 1)
        if (name := f"{like.id}-{k}") not in used_names
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
    most = {**topology.constraints.max_per_node, change.subject: int(_new_amount(change))}
    return replace(topology, constraints=replace(topology.constraints, max_per_node=most))


def _drop_incompatible(topology: Topology, change: Change) -> Topology:
    pair = {change.subject, change.other}
    constraints = topology.constraints
    left = tuple(one for one in constraints.incompatible if set(one) != pair)
    return replace(topology, constraints=replace(constraints, incompatible=left))


_CLUSTER: dict[str, Callable[[Cluster, Change], Cluster]] = {
    RAISE_CAPACITY: _raise_capacity,
    RAISE_SLOTS: _raise_slots,
}
_TOPOLOGY: dict[str, Callable[[Topology, Change], Topology]] = {
    RAISE_HEAP: lambda topology, change: replace(topology, worker_max_heap_mb=_new_amount(change)),
    ALLOW_PER_NODE: _allow_per_node,
    DROP_INCOMPATIBLE: _drop_incompatible,
    DROP_ONE_TASK: lambda topology, change: replace(topology, one_task_per_worker=False),
    DROP_ONE_COMPONENT: lambda topology, change: replace(topology, one_component_per_worker=False),
}
