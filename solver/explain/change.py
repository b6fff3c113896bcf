"""One change of an instance that may let a placement exist: what it is, and its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from slotwise.models.display import counted
from slotwise.models.number_text import exact_text
from slotwise.solver.explain.constraint import listed, tasks_text

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
        How much, in the user's unit: MB or points added to each node, nodes added, tasks fewer;
        1 where something is dropped or evicted.
    before, after
        The value that changes, where it is one and the same for all that is changed; otherwise
        ``None``.
    nodes
        Nodes that change; for ``add_nodes`` the one that the new ones are like.
    where
        Name for people of more than one node: ``rack r1``; empty = the nodes by name.
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


def _add_nodes(one: Change) -> str:
    if one.amount == 1:
        return f"add one node like {one.nodes[0]}"
    return f"add {one.amount} nodes like {one.nodes[0]}"


def _raise_capacity(one: Change) -> str:
    return f"raise {one.subject} of {_nodes(one)} by {exact_text(one.amount)}{_values(one)}"


def _raise_slots(one: Change) -> str:
    return f"give {_nodes(one)} {counted(int(one.amount), 'more slot')}{_values(one)}"


def _drop_incompatible(one: Change) -> str:
    where = one.topologies[0]
    if one.subject == one.other:
        return f"let several tasks of {one.subject} share a worker ({where})"
    return f"let {one.subject} and {one.other} share a worker ({where})"


def _lower_parallelism(one: Change) -> str:
    where = one.topologies[0]
    if not one.after:
        return f"leave out component {one.subject} of {where} ({tasks_text(one.amount)})"
    return f"run {tasks_text(one.after)} of {one.subject} instead of {one.before} ({where})"


def _heap(one: Change) -> str:
    by, where = exact_text(one.amount), one.topologies[0]
    return f"raise the worker heap of {where} by {by} MB{_values(one)}"


def _evict(one: Change) -> str:
    several = "topology" if len(one.topologies) == 1 else "topologies"
    return f"leave out {several} {listed(one.topologies)}"


_TEXTS: dict[str, Callable[[Change], str]] = {
    ADD_NODES: _add_nodes,
    RAISE_CAPACITY: _raise_capacity,
    RAISE_SLOTS: _raise_slots,
    RAISE_HEAP: _heap,
    ALLOW_PER_NODE: lambda one: (
        f"allow {tasks_text(one.after or 0)} of {one.subject} on a node instead of {one.before} "
        f"({one.topologies[0]})"
    ),
    ALLOW_MOVED: lambda one: f"allow {tasks_text(one.after or 0)} to move instead of {one.before}",
    LOWER_WORKER_MIN_CPU: lambda one: (
        f"lower the least cpu that a worker is charged from {exact_text(one.before or Decimal(0))} "
        f"to {exact_text(one.after or Decimal(0))}"
    ),
    DROP_INCOMPATIBLE: _drop_incompatible,
    DROP_ONE_TASK: lambda one: f"let tasks of {one.topologies[0]} share a worker",
    DROP_ONE_COMPONENT: lambda one: f"let components of {one.topologies[0]} share a worker",
    LOWER_PARALLELISM: _lower_parallelism,
    EVICT: lambda one: _evict(one),
}
