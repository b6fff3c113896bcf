"""A cluster as Storm's Resource Aware Scheduler sees it: racks, hosts, nodes and their slots.

Orders are those of Java's hash tables: sums of doubles are taken in them, and hosts of favoured
nodes are listed in them. A node's rack is that of its host: hosts lie in one rack each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import (
    JAVA_RELEASE,
    computed_order,
    map_copy,
    set_order,
    slot_hash,
)
from slotwise.heuristics.ras.java.iteration_order import code_units, map_order, string_hash
from slotwise.heuristics.ras.model.requests import OWN
from slotwise.heuristics.ras.model.topology import RasTopology, ras_topology
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.scaling import CPU, MEMORY


@dataclass(frozen=True, slots=True)
class Host:
    """A host: its name and its nodes (indices), in the order in which the sorter lists them."""

    name: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack: its name and its hosts in the order of Java's set of them."""

    name: str
    hosts: tuple[Host, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        """Its nodes, host by host."""
        return tuple(node for host in self.hosts for node in host.nodes)


@dataclass(frozen=True, slots=True)
class RasCluster:
    """The fixed part of a cluster.

    Parameters
    ----------
    ids
        Node ids in the order of the file: nodes are indices into it.
    generic
        Names of the generic resources, those of nodes first. Storm numbers them as it meets
        them; all count as known from the start (as they are once a scheduler has run).
    cpu, memory, generics
        What each node has in all.
    slots
        Most workers on each node; ``None`` = no limit.
    supervisor_order
        Nodes in the order in which the working copy of a round adds them up.
    racks
        In the order of Java's map of them.
    hosts
        Host name -> its nodes.
    text_keys
        Name of a rack, host or node -> a key that compares as Java compares strings.
    """

    ids: tuple[str, ...]
    generic: tuple[str, ...]
    cpu: tuple[float, ...]
    memory: tuple[float, ...]
    generics: tuple[tuple[float, ...], ...]
    slots: tuple[int | None, ...]
    supervisor_order: tuple[int, ...]
    racks: tuple[Rack, ...]
    hosts: dict[str, tuple[int, ...]]
    text_keys: dict[str, tuple[int, ...]]


def ras_cluster(instance: Instance, java: int) -> RasCluster:
    """Return the scheduler's view of the cluster; nodes without a limit count as infinite."""
    nodes = instance.cluster.nodes
    index = {node.id: i for i, node in enumerate(nodes)}
    ids = map_order(index)
    for _ in range(2):  # the cluster's map of them is copied for a working state, and again
        ids = map_copy(ids, string_hash, java)
    order = [index[key] for key in map_order(ids)]
    generic = _generic_names(instance)
    hosts: dict[str, list[int]] = {}
    for node in order:
        hosts.setdefault(nodes[node].host, []).append(node)
    names = {key for node in nodes for key in (node.id, node.host, node.rack)}
    return RasCluster(
        ids=tuple(node.id for node in nodes),
        generic=generic,
        cpu=tuple(_capacity(node, CPU) for node in nodes),
        memory=tuple(_capacity(node, MEMORY) for node in nodes),
        generics=tuple(tuple(_capacity(node, key) for key in generic) for node in nodes),
        slots=tuple(node.slots for node in nodes),
        supervisor_order=tuple(index[key] for key in ids),
        racks=_racks(instance.cluster, order, hosts),
        hosts={name: tuple(own) for name, own in hosts.items()},
        text_keys={name: code_units(name) for name in names},
    )


def slot_order(node: str, ports: Sequence[int], free: Sequence[int]) -> list[int]:
    """Return the `free` ones of a node's `ports` in the order of ``RasNode``'s set of slots."""
    start = string_hash(node)
    text = {f"{node}:{port}": port for port in ports}
    wanted = set(free)
    known = [text[key] for key in map_order(text) if text[key] in wanted]
    return set_order(known, lambda port: slot_hash(start, port))


def _racks(cluster: Cluster, order: list[int], hosts: dict[str, list[int]]) -> tuple[Rack, ...]:
    members: dict[str, dict[str, None]] = {}
    for node in order:
        members.setdefault(cluster.nodes[node].rack, {})[cluster.nodes[node].host] = None
    names = computed_order(cluster.nodes[node].rack for node in order)
    return tuple(
        Rack(name, tuple(Host(host, tuple(hosts[host])) for host in map_order(members[name])))
        for name in names
    )


def _generic_names(instance: Instance) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for node in instance.cluster.nodes:
        names.update(dict.fromkeys(map_order(key for key in node.resources if key not in OWN)))
    for topology in instance.topologies:
        for component in topology.placed_components:
            keys = (key for key in component.resources if key not in OWN)
            names.update(dict.fromkeys(map_order(keys)))
    return tuple(names)


def _capacity(node: Node, key: str) -> float:
    value = node.resources.get(key, 0)
    return float("inf") if value is None else float(value)


# What the states of one scheduling round have in common: names, orders, requests, capacities.

FINEST = 2**20
LARGEST = 2.0**32
"""Sums of multiples of 1/FINEST that stay below this are exact in doubles (53 bits)."""


@dataclass(frozen=True, slots=True)
class RasModel:
    """What no assignment changes; states of one instance share it.

    Parameters
    ----------
    instance
        Topologies and nodes are indices into it.
    cluster, topologies
        As the scheduler sees them.
    least_cpu
        ``scheduler.worker_min_cpu``.
    exact
        Whether no sum of doubles can be rounded.
    java
        Release of Java whose hash tables are followed.
    """

    instance: Instance
    cluster: RasCluster
    topologies: tuple[RasTopology, ...]
    least_cpu: float
    exact: bool
    java: int


def ras_model(instance: Instance, java: int = JAVA_RELEASE) -> RasModel:
    """Return the fixed part of the states of `instance`."""
    cluster = ras_cluster(instance, java)
    topologies = tuple(ras_topology(one, cluster.generic, java) for one in instance.topologies)
    least = float(instance.scheduler.worker_min_cpu)
    return RasModel(
        instance, cluster, topologies, least, _never_rounds(cluster, topologies, least), java
    )


def _never_rounds(
    cluster: RasCluster, topologies: tuple[RasTopology, ...], least_cpu: float
) -> bool:
    """Whether every number is a multiple of 1/FINEST and all of a kind together stay small."""
    numbers = [*cluster.cpu, *cluster.memory, *(g for one in cluster.generics for g in one)]
    numbers.append(least_cpu)
    total = sum(numbers)
    for topology in topologies:
        count = len(topology.component_of)
        for one in topology.components:
            need = one.need
            requested = (need.cpu, need.onheap, need.offheap, *need.generic)
            numbers.extend(requested)
            total += sum(requested) * len(one.executors)
        for region in topology.regions:
            sizes = (region.onheap, region.offheap_worker, region.offheap_node)
            numbers.extend(sizes)
            total += sum(sizes) * count
        total += least_cpu * count
    return total < LARGEST and all((number * FINEST).is_integer() for number in set(numbers))
