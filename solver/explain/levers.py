"""What can be changed to break a conflict: one-parameter families of changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.scaling import CPU, MEMORY, Scale, resource_numbers
from slotwise.models.values import as_decimal
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change
from slotwise.solver.explain.conflict import ZERO, demand, placed
from slotwise.solver.explain.constraint import TASKS, Constraint, nodes_alike

MOST_NODES = 200
"""Most nodes that a repair adds."""

_RULES = {
    "one_task_per_worker": kinds.DROP_ONE_TASK,
    "one_component_per_worker": kinds.DROP_ONE_COMPONENT,
    "incompatible": kinds.DROP_INCOMPATIBLE,
}


@dataclass(frozen=True, slots=True)
class Lever:
    """Changes that differ only in their amount; a larger one never excludes a placement.

    Parameters
    ----------
    base
        The change with the amount of no step.
    step
        Amount of one step, in the user's unit; nothing changes in between.
    most
        Largest number of steps that can help, 1 or more.
    sign
        1 where the value that changes rises, -1 where it falls.
    is_exhaustive
        Whether more than `most` steps provably cannot help.
    """

    base: Change
    step: Decimal = Decimal(1)
    most: int = 1
    sign: int = 1
    is_exhaustive: bool = True

    def change(self, steps: int) -> Change:
        """Return the change of `steps` steps, 1 or more."""
        amount = self.step * steps
        before = self.base.before
        after = None if before is None else before + self.sign * amount
        return replace(self.base, amount=amount, after=after)


def base_of(change: Change) -> Change:
    """Return a change as the base of its lever."""
    return replace(change, amount=Decimal(1), after=None)


def levers(
    instance: Instance, members: Iterable[Constraint], *, each_node: bool = False
) -> list[Lever]:
    """Return every lever that touches one of these constraints.

    Of equal nodes only the first is changed alone; with `each_node` every one of them. A change
    that touches none of the constraints would leave the conflict as it is.
    """
    make = _Maker(instance, each_node)
    by_change: dict[Change, Lever] = {}
    for member in members:
        for lever in make.of(member):
            by_change.setdefault(lever.base, lever)
    return [lever for lever in by_change.values() if lever.most > 0]


class _Maker:
    """Makes the levers of one instance."""

    def __init__(self, instance: Instance, each_node: bool) -> None:
        self._each_node = each_node
        self._instance = instance
        self._nodes = {node.id: node for node in instance.cluster.nodes}
        numbers = resource_numbers(instance)
        self._units = {key: as_decimal(Scale.fitting(v).unit) for key, v in numbers.items()}
        self._tasks = len(instance.task_names())

    def of(self, constraint: Constraint) -> Iterator[Lever]:
        if constraint.nodes:
            sets = list(self._node_sets(constraint.nodes))
            raised = self._capacity if constraint.rule == "capacity" else self._slots
            for where, nodes in sets:
                yield from raised(constraint.subject, where, nodes)
        if constraint.nodes or constraint.rule == "max_per_node":
            yield from self._added_nodes()
        elif constraint.rule == "max_moved":
            running = sum(len(tasks) for tasks in (self._instance.still_running or {}).values())
            allowed = int(constraint.amount or 0)
            base = Change(kinds.ALLOW_MOVED, before=Decimal(allowed))
            yield Lever(base, most=running - allowed)
        elif constraint.rule == "worker_min_cpu":
            unit, least = self._units[CPU], constraint.amount or ZERO
            base = Change(kinds.LOWER_WORKER_MIN_CPU, before=least)
            yield Lever(base, unit, int(least / unit), sign=-1)
        if constraint.topology:
            topology = next(t for t in self._instance.topologies if t.id == constraint.topology)
            yield from self._of_topology(topology, constraint)

    def _of_topology(self, topology: Topology, constraint: Constraint) -> Iterator[Lever]:
        topologies = (topology.id,)
        if constraint.rule == "heap":
            unit, limit = self._units[MEMORY], constraint.amount or ZERO
            onheap = sum(
                (c.resources.get("onheap_mb", ZERO) * c.parallelism for c in placed(topology)), ZERO
            )
            onheap += sum((r.mb for r in topology.shared_memory if r.kind == "onheap"), ZERO)
            base = Change(kinds.RAISE_HEAP, topologies=topologies, before=limit)
            yield Lever(base, unit, math.ceil((onheap - limit) / unit))
        elif constraint.rule == "max_per_node":
            count = next(c.parallelism for c in placed(topology) if c.id == constraint.subject)
            base = Change(
                kinds.ALLOW_PER_NODE,
                topologies=topologies,
                subject=constraint.subject,
                before=constraint.amount,
            )
            yield Lever(base, most=count - int(constraint.amount or 0))
        elif constraint.rule in _RULES:
            kind = _RULES[constraint.rule]
            yield Lever(
                Change(
                    kind, topologies=topologies, subject=constraint.subject, other=constraint.other
                )
            )
        elif constraint.rule == TASKS:
            base = Change(
                kinds.LOWER_PARALLELISM,
                topologies=topologies,
                subject=constraint.subject,
                before=constraint.amount,
            )
            yield Lever(base, most=int(constraint.amount or 0), sign=-1)
            if sum(bool(placed(other)) for other in self._instance.topologies) > 1:
                yield Lever(Change(kinds.EVICT, topologies=topologies))

    def _node_sets(self, alike: Sequence[str]) -> Iterator[tuple[str, tuple[Node, ...]]]:
        """Yield a readable name and nodes that change together: one, all equal ones, racks, all."""
        racks = {self._nodes[node].rack for node in alike}
        names = {
            nodes: name
            for nodes, name in named_sets(self._instance.cluster).items()
            if len(nodes) == len(self._nodes) or self._nodes[nodes[0]].rack in racks
        }
        names.setdefault(tuple(alike), "")
        for node in alike if self._each_node else alike[:1]:
            names[(node,)] = ""
        for nodes, name in names.items():
            yield name, tuple(self._nodes[node] for node in nodes)

    def _capacity(self, resource: str, where: str, nodes: tuple[Node, ...]) -> Iterator[Lever]:
        values = [node.resources.get(resource, ZERO) for node in nodes]
        pairs = zip(nodes, values, strict=True)
        limited = [(node.id, value) for node, value in pairs if value is not None]
        unit, amounts = self._units[resource], {value for _, value in limited}
        steps = math.ceil((self._heaviest(resource) - min(amounts)) / unit)
        before = next(iter(amounts)) if len(amounts) == 1 else None
        names = tuple(name for name, _ in limited)
        base = Change(
            kinds.RAISE_CAPACITY, before=before, nodes=names, where=where, subject=resource
        )
        yield Lever(base, unit, steps)

    def _slots(self, _: str, where: str, nodes: tuple[Node, ...]) -> Iterator[Lever]:
        limited = [(node.id, node.slots) for node in nodes if node.slots is not None]
        amounts = {slots for _, slots in limited}
        before = Decimal(next(iter(amounts))) if len(amounts) == 1 else None
        names = tuple(name for name, _ in limited)
        base = Change(kinds.RAISE_SLOTS, before=before, nodes=names, where=where)
        yield Lever(base, most=self._tasks - min(amounts))

    def _added_nodes(self) -> Iterator[Lever]:
        for kind in nodes_alike(self._instance):
            most = min(self._tasks, MOST_NODES)
            base = Change(kinds.ADD_NODES, nodes=(kind[0].id,))
            yield Lever(base, most=most, is_exhaustive=self._tasks <= MOST_NODES)

    def _heaviest(self, resource: str) -> Decimal:
        """Return a load of one node that no placement exceeds."""
        total = ZERO
        for topology in self._instance.topologies:
            for component in placed(topology):
                total += demand(component, resource) * component.parallelism
            if resource == MEMORY:
                users = {c.id: c.parallelism for c in placed(topology)}
                for region in topology.shared_memory:
                    total += region.mb * sum(users.get(key, 0) for key in region.components)
        if resource == CPU:
            total += self._instance.scheduler.worker_min_cpu * self._tasks
        return total


def named_sets(cluster: Cluster) -> dict[tuple[str, ...], str]:
    """Return sets of nodes with a readable name: all nodes, then those of each rack."""
    names = {tuple(node.id for node in cluster.nodes): "every node"}
    for rack in dict.fromkeys(node.rack for node in cluster.nodes):
        inside = tuple(node.id for node in cluster.nodes if node.rack == rack)
        names.setdefault(inside, f"every node of rack {rack}")
    return names


def merged_changes(instance: Instance, changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes, joining evictions, and equal raises of a resource on several nodes."""
    by_key: dict[Change, list[Change]] = {}
    for change in changes:
        key = change
        if change.kind in (kinds.RAISE_CAPACITY, kinds.RAISE_SLOTS):
            key = replace(change, nodes=(), where="", before=None, after=None)
        elif change.kind == kinds.EVICT:
            key = replace(change, topologies=())
        by_key.setdefault(key, []).append(change)
    names = named_sets(instance.cluster)
    return tuple(
        parts[0] if len(parts) == 1 else _joined(instance, parts, names)
        for parts in by_key.values()
    )


def _joined(
    instance: Instance, parts: Sequence[Change], names: Mapping[tuple[str, ...], str]
) -> Change:
    if parts[0].kind == kinds.EVICT:
        evicted = {topology for part in parts for topology in part.topologies}
        order = (one.id for one in instance.topologies if one.id in evicted)
        return replace(parts[0], topologies=tuple(order))
    changed = {node for part in parts for node in part.nodes}
    nodes = tuple(node.id for node in instance.cluster.nodes if node.id in changed)
    joined = replace(parts[0], nodes=nodes, where=names.get(nodes, ""))
    alike = all(part.before == parts[0].before for part in parts)
    return joined if alike else replace(joined, before=None, after=None)
