"""Instances that are infeasible by construction, for a reason that has a name.

Each starts from an instance that is feasible by construction; the change alone makes it infeasible,
at times in more than one way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal

from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, Constraints, Stream, Topology
from slotwise.testing.choices import Chooser, pick
from slotwise.testing.random_instances.demand import total_demand, with_demand, with_some_demand
from slotwise.testing.random_instances.features import (
    Wanted,
    with_tasks_in,
    with_two_alike,
    with_two_components,
)
from slotwise.testing.random_instances.lost_nodes import without_nodes

Break = Callable[[Chooser, Instance], Instance]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an instance is infeasible.

    Parameters
    ----------
    name
        For example ``shortage`` or ``fragmentation``.
    rule
        The rule of the judge that no complete placement keeps, for example ``capacity``.
    text
        The reason in a sentence.
    wanted
        What an instance must have to be made infeasible for this reason.
    change
        Makes it so.
    """

    name: str
    rule: str
    text: str
    wanted: Wanted
    change: Break

    def __str__(self) -> str:
        """Name, rule and sentence."""
        return f"{self.name} ({self.rule}): {self.text}"


def _shortage(choose: Chooser, instance: Instance) -> Instance:
    instance = with_some_demand(instance)
    key, total = pick(choose, tuple(total_demand(instance).items()))
    share = (total - min(Decimal(1), total)) / len(instance.cluster.nodes)
    return _with_capacity(instance, key, share.quantize(Decimal("0.1"), rounding=ROUND_DOWN))


def _oversized(_: Chooser, instance: Instance) -> Instance:
    capacities = [node.resources.get("cpu") for node in instance.cluster.nodes]
    largest = max((c for c in capacities if c is not None), default=Decimal(0)) or Decimal(100)
    instance = with_demand(instance, "cpu", largest + 1)
    return _with_capacity(instance, "cpu", largest)


def _fragmentation(choose: Chooser, instance: Instance) -> Instance:
    """Return n tasks on N nodes, of which each holds n // N: one task is left, but much room.

    N (n // N + 1) > n nodes' worth of room is there in all, less one unit on each node.
    """
    most = sum(c.parallelism for t in instance.topologies for c in t.placed_components)
    nodes = instance.cluster.nodes[: most - 1]
    count = pick(choose, [n for n in range(len(nodes) + 1, most + 1) if n % len(nodes)])
    bolts = choose.whole(0, 1)
    key, dim = pick(choose, (("cpu", "cpu"), ("onheap_mb", "memory_mb")))
    demand = {key: Decimal(10 + len(nodes))}
    components = (
        Component("spout", "spout", count - bolts, demand),
        Component("bolt-1", "bolt", bolts, demand),
    )
    plain = Topology("topology-1", components[: 1 + bolts], (Stream("spout", "bolt-1"),) * bolts)
    shrunk = without_nodes(instance, {node.id for node in instance.cluster.nodes[len(nodes) :]})
    rest = replace(
        shrunk,
        topologies=(plain,),
        running=None,
        linear=(),
        objective=Objective(("network",)),
        flow="pairs",
        scheduler=replace(instance.scheduler, worker_min_cpu=Decimal(0)),
    )
    return _with_capacity(rest, dim, (count // len(nodes) + 1) * demand[key] - 1)


def _no_slots(_: Chooser, instance: Instance) -> Instance:
    return _with_slots(instance, 0)


def _one_worker_for_two(_: Chooser, instance: Instance) -> Instance:
    return _with_slots(instance, 1)


def _one_task_per_worker(_: Chooser, instance: Instance) -> Instance:
    first = replace(instance.topologies[0], one_task_per_worker=True)
    tasks = sum(component.parallelism for component in first.placed_components)
    return _with_slots(_with_first(instance, first), tasks - 1)


def _one_component_per_worker(_: Chooser, instance: Instance) -> Instance:
    first = instance.topologies[0]
    first = replace(first, one_component_per_worker=True, one_task_per_worker=False)
    components = sum(component.parallelism > 0 for component in first.placed_components)
    return _with_slots(_with_first(instance, first), components - 1)


def _incompatible(_: Chooser, instance: Instance) -> Instance:
    first = instance.topologies[0]
    source, target = with_tasks_in(first)[:2]
    limits = first.constraints.max_per_node
    pair = Constraints(((source, target),), limits)
    plain = replace(
        first, constraints=pair, one_task_per_worker=False, one_component_per_worker=False
    )
    return _with_slots(_with_first(instance, plain), 1)


def _incompatible_with_itself(_: Chooser, instance: Instance) -> Instance:
    first = instance.topologies[0]
    wide = _wide(first)
    pair = Constraints(((wide.id, wide.id),), first.constraints.max_per_node)
    plain = replace(
        first, constraints=pair, one_task_per_worker=False, one_component_per_worker=False
    )
    return _with_slots(_with_first(instance, plain), wide.parallelism - 1)


def _max_per_node(_: Chooser, instance: Instance) -> Instance:
    first = instance.topologies[0]
    wide = _wide(first)
    most = {**first.constraints.max_per_node, wide.id: 1}
    limited = replace(first, constraints=replace(first.constraints, max_per_node=most))
    lost = {node.id for node in instance.cluster.nodes[wide.parallelism - 1 :]}
    return without_nodes(_with_first(instance, limited), lost)


def _heap(choose: Chooser, instance: Instance) -> Instance:
    heap = Decimal(pick(choose, ("16", "60", "20.1")))
    instance = with_demand(instance, "onheap_mb", heap)
    return _with_first(instance, replace(instance.topologies[0], worker_max_heap_mb=heap - 1))


def _max_moved(_: Chooser, instance: Instance) -> Instance:
    first = replace(instance.topologies[0], one_task_per_worker=True)
    here = Place(instance.cluster.nodes[0].id, 0)
    tasks = [task for topology, task in instance.task_names() if topology == first.id]
    limits = {**instance.objective.limits, "moved": 0}
    return replace(
        _with_first(instance, first),
        running={first.id: dict.fromkeys(tasks, here)},
        objective=replace(instance.objective, limits=limits),
    )


def _with_first(instance: Instance, first: Topology) -> Instance:
    return replace(instance, topologies=(first, *instance.topologies[1:]))


def _wide(topology: Topology) -> Component:
    return next(component for component in topology.components if component.parallelism > 1)


def _with_capacity(instance: Instance, key: str, capacity: Decimal) -> Instance:
    """Return the instance with the same hard capacity of a dimension on every node."""
    nodes = tuple(
        replace(node, resources={**node.resources, key: capacity})
        for node in instance.cluster.nodes
    )
    soft = {other: weight for other, weight in instance.objective.soft.items() if other != key}
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        objective=replace(instance.objective, soft=soft),
    )


def _with_slots(instance: Instance, slots: int) -> Instance:
    """Return the instance with a given number of slots in all, dealt to the nodes in turn."""
    count = len(instance.cluster.nodes)
    nodes = tuple(
        replace(node, slots=slots // count + (index < slots % count))
        for index, node in enumerate(instance.cluster.nodes)
    )
    return replace(instance, cluster=replace(instance.cluster, nodes=nodes))


def without_rejected(instance: Instance) -> Instance:
    """Return the instance with every topology to be placed."""
    terms = []
    for term in instance.objective.terms:
        parts = [part for part in term.split("+") if part != "rejected"]
        terms += ["+".join(parts)] if parts else []
    objective = replace(instance.objective, terms=tuple(terms) or ("network",))
    return replace(instance, objective=objective)


REASONS: Sequence[Reason] = (
    Reason(
        "shortage",
        "capacity",
        "all tasks together need more of a resource than all nodes have",
        Wanted(tasks=1),
        _shortage,
    ),
    Reason(
        "task larger than every node",
        "capacity",
        "one task needs more cpu than any node has",
        Wanted(tasks=1),
        _oversized,
    ),
    Reason(
        "fragmentation",
        "capacity",
        "the nodes have enough of a resource together, but the tasks cannot be divided among them",
        Wanted(tasks=3, nodes=2),
        _fragmentation,
    ),
    Reason("no slots", "slots", "no node may run a worker", Wanted(tasks=1), _no_slots),
    Reason(
        "heap",
        "heap",
        "one task needs more on-heap memory than a worker may have",
        Wanted(tasks=1),
        _heap,
    ),
    Reason(
        "more topologies than workers",
        "one_topology_per_worker",
        "two topologies, and one slot in the whole cluster",
        Wanted(tasks=1, topologies=2),
        _one_worker_for_two,
    ),
    Reason(
        "more tasks than workers",
        "one_task_per_worker",
        "each task of a topology needs a worker of its own, and there is one slot too few",
        Wanted(tasks=2),
        _one_task_per_worker,
    ),
    Reason(
        "more components than workers",
        "one_component_per_worker",
        "each component of a topology needs a worker of its own, and there is one slot too few",
        Wanted(tasks=2, feature=with_two_components),
        _one_component_per_worker,
    ),
    Reason(
        "incompatible components",
        "incompatible",
        "two components may not share a worker, and there is one slot in the whole cluster",
        Wanted(tasks=2, feature=with_two_components),
        _incompatible,
    ),
    Reason(
        "incompatible tasks of a component",
        "incompatible",
        "no two tasks of a component may share a worker, and there is one slot too few",
        Wanted(tasks=2, feature=with_two_alike),
        _incompatible_with_itself,
    ),
    Reason(
        "too few nodes",
        "max_per_node",
        "a component may have one task on a node, and has more tasks than there are nodes",
        Wanted(tasks=2, feature=with_two_alike),
        _max_per_node,
    ),
    Reason(
        "nothing may move",
        "max_moved",
        "two tasks run in one worker, where each needs its own, and none may be moved",
        Wanted(tasks=2),
        _max_moved,
    ),
)
"""Every reason; together they have every rule of the judge but ``placed``, that of all of them."""
