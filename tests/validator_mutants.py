"""Validators that are wrong in one way, made from the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.instance.topology import Component, SharedMemory, Topology
from slotwise.models.judge.judge import judge
from slotwise.testing.validators.answers import Validator

FINEST = Decimal("0.000001")


def without(rule: str) -> Validator:
    """Return the judge with one rule left out."""

    def validate(instance: Instance, placement: Placement) -> list[str]:
        return [one.rule for one in judge(instance, placement).violations if one.rule != rule]

    return validate


def seeing(change: Callable[[Instance], Instance]) -> Validator:
    """Return the judge as it sees a changed instance with the same tasks and nodes."""
    return lambda instance, placement: judge(change(instance), placement).violations


def nodes(change: Callable[[Node], Node]) -> Callable[[Instance], Instance]:
    def changed(instance: Instance) -> Instance:
        cluster = replace(instance.cluster, nodes=tuple(map(change, instance.cluster.nodes)))
        return replace(instance, cluster=cluster)

    return changed


def topologies(change: Callable[[Topology], Topology]) -> Callable[[Instance], Instance]:
    return lambda one: replace(one, topologies=tuple(map(change, one.topologies)))


def components(change: Callable[[Component], Component]) -> Callable[[Instance], Instance]:
    return topologies(lambda one: replace(one, components=tuple(map(change, one.components))))


def regions(change: Callable[[SharedMemory], SharedMemory]) -> Callable[[Instance], Instance]:
    return topologies(lambda one: replace(one, shared_memory=tuple(map(change, one.shared_memory))))


def _less(amounts: Mapping[str, Decimal | None], step: Decimal) -> dict[str, Decimal | None]:
    return {key: most and max(most - step, Decimal(0)) for key, most in amounts.items()}


def _no_off_heap(part: Component) -> Component:
    kept = {key: need for key, need in part.resources.items() if key != "offheap_mb"}
    return replace(part, resources=kept)


def _free_ackers(one: Topology) -> Topology:
    return replace(one, ackers=one.ackers and replace(one.ackers, resources={}))


def _rounded(part: Component) -> Component:
    return replace(part, resources={key: need // 1 for key, need in part.resources.items()})


def _node_for_worker(one: SharedMemory) -> SharedMemory:
    return replace(one, kind="offheap_node")


def _worker_for_node(one: SharedMemory) -> SharedMemory:
    return replace(one, kind="offheap_worker")


def _limited_to_0(one: Node) -> Node:
    return replace(one, slots=one.slots or 0)


def _without(resource: str) -> Callable[[Node], Node]:
    return lambda one: replace(one, resources={**one.resources, resource: None})


def _no_self_pairs(one: Topology) -> Topology:
    pairs = tuple(pair for pair in one.constraints.incompatible if pair[0] != pair[1])
    return replace(one, constraints=replace(one.constraints, incompatible=pairs))


def _first_pair(one: Topology) -> Topology:
    pairs = one.constraints.incompatible[:1]
    return replace(one, constraints=replace(one.constraints, incompatible=pairs))


def _stays_in_node(instance: Instance, placement: Placement) -> bool:
    """The judge, to which a task that stays on its node has not moved."""
    at_home = []
    for (topology, task), node, worker in zip(
        instance.task_names(), placement.nodes, placement.workers, strict=True
    ):
        home = (instance.running or {}).get(topology, {}).get(task)
        same = home is not None and node >= 0 and instance.cluster.nodes[node].id == home.node
        at_home.append(home.worker if home is not None and same else worker)
    return judge(instance, Placement(placement.nodes, tuple(at_home))).valid


def _in_doubles(instance: Instance, placement: Placement) -> bool:
    """Whether the cpu and memory of tasks fit, added up in doubles; nothing else."""
    loads: Counter[tuple[str, str]] = Counter()
    demand = {
        (one.id, f"{part.id}[{i}]"): part.resources
        for one in instance.topologies
        for part in one.placed_components
        for i in range(part.parallelism)
    }
    for topology, places in to_places(instance, placement).items():
        for task, place in places.items():
            for key, need in demand[topology, task].items():
                resource = "memory_mb" if key.endswith("heap_mb") else key
                loads[place.node, resource] += float(need)  # type: ignore[assignment]
    capacity = {node.id: node.resources for node in instance.cluster.nodes}
    most = {key: capacity[key[0]].get(key[1], Decimal(0)) for key in loads}
    return all(limit is None or loads[key] <= float(limit) for key, limit in most.items())


TOO_STRICT = {
    "capacity": seeing(nodes(lambda one: replace(one, resources=_less(one.resources, FINEST)))),
    "slots": seeing(nodes(lambda one: replace(one, slots=one.slots and one.slots - 1))),
    "heap": seeing(
        topologies(
            lambda one: replace(
                one, worker_max_heap_mb=one.worker_max_heap_mb and one.worker_max_heap_mb - FINEST
            )
        )
    ),
    "max_moved": seeing(
        lambda one: replace(
            one,
            objective=replace(one.objective, limits=_whole_less(one.objective.limits)),
        )
    ),
}
"""Rule -> a validator whose limit is one unit lower, where it is not 0."""


def _whole_less(limits: Mapping[str, int]) -> dict[str, int]:
    return {part: max(most - 1, 0) for part, most in limits.items()}


def _sharing_a_node(instance: Instance, placement: Placement) -> Placement:
    """Return the placement with one worker on each node."""
    return Placement(placement.nodes, tuple(min(worker, 0) for worker in placement.workers))


def per_node(instance: Instance, placement: Placement) -> list[str]:
    """The judge, to which all that is on a node is in one worker."""
    seen = judge(instance, _sharing_a_node(instance, placement)).violations
    return [one.rule for one in seen]


def fewer_on_a_node(instance: Instance, placement: Placement) -> bool:
    """The judge, to which ``max_per_node`` is reached at the limit already."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for topology, places in to_places(instance, placement).items():
        for task, place in places.items():
            counts[topology, task.partition("[")[0], place.node] += 1
    limits = {one.id: one.constraints.max_per_node for one in instance.topologies}
    full = any(
        count >= limits[topology].get(part, count + 1)
        for (topology, part, _), count in counts.items()
    )
    return not full and judge(instance, placement).valid


FORGETFUL: dict[str, tuple[Validator, str, str]] = {
    "no cpu": (seeing(nodes(_without("cpu"))), "capacity", "cpu"),
    "no memory": (seeing(nodes(_without("memory_mb"))), "capacity", "memory"),
    "no other resources": (
        seeing(nodes(lambda one: replace(one, resources={**one.resources, "gpu": None}))),
        "capacity",
        "another resource",
    ),
    "no off-heap memory": (
        seeing(components(_no_off_heap)),
        "capacity",
        "on-heap, off-heap and shared memory",
    ),
    "no shared memory": (
        seeing(topologies(lambda one: replace(one, shared_memory=()))),
        "heap",
        "shared on-heap memory",
    ),
    "shared memory once on a node": (
        seeing(regions(_node_for_worker)),
        "capacity",
        "shared memory for each worker",
    ),
    "shared memory for each worker": (
        seeing(regions(_worker_for_node)),
        "capacity",
        "shared memory once on a node",
    ),
    "no minimum cpu": (
        seeing(lambda one: replace(one, scheduler=Scheduler())),
        "capacity",
        "minimum cpu of a worker",
    ),
    "ackers need nothing": (seeing(topologies(_free_ackers)), "capacity", "ackers"),
    "whole numbers": (seeing(components(_rounded)), "capacity", "decimals"),
    "doubles": (_in_doubles, "capacity", "decimals"),
    "null as 0": (seeing(nodes(_limited_to_0)), "slots", "null is no limit"),
    "0 as null": (
        seeing(nodes(lambda one: replace(one, slots=one.slots or None))),
        "slots",
        "0 slots",
    ),
    "no pairs with itself": (seeing(topologies(_no_self_pairs)), "incompatible", "with itself"),
    "the first pair only": (
        seeing(topologies(_first_pair)),
        "incompatible",
        "the last of two pairs",
    ),
    "moves between nodes only": (_stays_in_node, "max_moved", "to another worker"),
}
"""What it forgets -> the validator, and the rule and sub-case that tell."""


def _first_heap(one: Instance) -> Instance:
    """Heaps are not looked at where the first topology has no limit."""
    if one.topologies[0].worker_max_heap_mb is not None:
        return one
    free = tuple(replace(each, worker_max_heap_mb=None) for each in one.topologies)
    return replace(one, topologies=free)


def _neighbours(instance: Instance, placement: Placement) -> list[str]:
    """Of tasks that share a worker, those next to each other in the order are seen alone."""
    found = judge(instance, placement).violations
    rows = list(zip(placement.nodes, placement.workers, strict=True))
    pairs = ("incompatible", "one_task_per_worker", "one_component_per_worker")
    meet = any(one == two for one, two in pairwise(rows))
    return [one.rule for one in found if meet or one.rule not in pairs]


def _pairs_across_topologies(instance: Instance, placement: Placement) -> bool:
    """The judge, to which incompatible names of two topologies share no node."""
    found: dict[str, set[tuple[str, str]]] = {}
    for topology, places in to_places(instance, placement).items():
        for task, place in places.items():
            found.setdefault(place.node, set()).add((topology, task.partition("[")[0]))
    met = any(
        (one.id, a) in here and any(key != one.id and part == b for key, part in here)
        for one in instance.topologies
        for pair in one.constraints.incompatible
        for a, b in (pair, pair[::-1])
        for here in found.values()
    )
    return not met and judge(instance, placement).valid


def _slots_of_hosts(instance: Instance, placement: Placement) -> bool:
    """The judge, to which the nodes of a host share the slots of the first."""
    hosts: dict[str, set[tuple[int, int]]] = {}
    slots: dict[str, int | None] = {}
    for n, label in zip(placement.nodes, placement.workers, strict=True):
        host = instance.cluster.nodes[n].host
        hosts.setdefault(host, set()).add((n, label))
    for one in instance.cluster.nodes:
        slots.setdefault(one.host, one.slots)
    full = any(len(used) > (slots[host] or len(used)) for host, used in hosts.items())
    return not full and judge(instance, placement).valid


def _wishes_as_rules(instance: Instance, placement: Placement) -> bool:
    """The judge, to which no task may be on an unfavored node."""
    unfavored = {one.id: one.unfavored_nodes for one in instance.topologies}
    met = any(
        place.node in unfavored[topology]
        for topology, places in to_places(instance, placement).items()
        for place in places.values()
    )
    return not met and judge(instance, placement).valid


def _no_matrices(instance: Instance, placement: Placement) -> bool:
    """The judge, which takes no matrix."""
    return instance.cluster.matrix is None and judge(instance, placement).valid


FIRST_AND_LAST = "first and last of three tasks"
FORGETFUL |= {
    "heaps after one without a limit": (seeing(_first_heap), "heap", "null in the first topology"),
    "neighbours only, incompatible": (_neighbours, "incompatible", FIRST_AND_LAST),
    "neighbours only, one task": (_neighbours, "one_task_per_worker", FIRST_AND_LAST),
    "neighbours only, one component": (_neighbours, "one_component_per_worker", FIRST_AND_LAST),
    "pairs of two topologies": (
        _pairs_across_topologies,
        "incompatible",
        "a name in another topology",
    ),
    "slots of a host": (_slots_of_hosts, "slots", "two nodes of one host"),
    "unfavored nodes": (_wishes_as_rules, "placed", "favored and unfavored nodes"),
    "matrices": (_no_matrices, "placed", "a matrix of distances"),
}
