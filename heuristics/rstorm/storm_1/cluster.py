"""A cluster as the scheduler of Apache Storm 1.0.6 sees it: racks, the node of each host, slots.

Read from ``Cluster``, ``RAS_Nodes`` and ``DefaultResourceAwareStrategy`` (tag v1.0.6). The
strategy goes by hosts: of several nodes (supervisors) on a host it knows only the first in Java's
map of nodes; tasks never come to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import map_copy, set_order, slot_hash
from slotwise.heuristics.ras.java.hash_map import JavaTable
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash, walk
from slotwise.heuristics.ras.model import Need, ports_of, running_labels, slots_of_nodes
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.scaling import CPU, MEMORY

Slot = tuple[int, int]
"""Node (an index) and port."""


@dataclass(frozen=True, slots=True)
class Storm1Cluster:
    """The fixed part of a cluster.

    Parameters
    ----------
    cpu, memory
        What each node has in all.
    total_cpu, total_memory
        Of all nodes.
    racks
        Nodes that the strategy knows, by rack, in the order of Java's map of racks.
    rack_of
        Index of the rack of each node that it knows.
    ports
        Of each node, in the order of Java's set of them.
    slot_hashes
        Of each node: port -> hash of the text ``NODE:PORT``.
    id_hashes
        Hash of the id of each node.
    """

    cpu: tuple[float, ...]
    memory: tuple[float, ...]
    total_cpu: float
    total_memory: float
    racks: tuple[tuple[int, ...], ...]
    rack_of: dict[int, int]
    ports: tuple[tuple[int, ...], ...]
    slot_hashes: tuple[dict[int, int], ...]
    id_hashes: tuple[int, ...]

    def slot_hash(self, slot: Slot) -> int:
        """Return ``WorkerSlot.hashCode``."""
        return slot_hash(self.id_hashes[slot[0]], slot[1])


def storm_1_cluster(instance: Instance, java: int) -> Storm1Cluster:
    """Return the scheduler's view of the cluster.

    Ports are the labels of running workers, then the least numbers that are free, as many as the
    node has slots; a node without a limit gets as many as the instance has tasks.
    """
    nodes = instance.cluster.nodes
    index = {node.id: i for i, node in enumerate(nodes)}
    supervisors = map_copy(map_order(index), string_hash, java)
    racks = _racks(instance, [index[key] for key in supervisors])
    ports = _ports(instance)
    cpu = tuple(_capacity(node, CPU) for node in nodes)
    memory = tuple(_capacity(node, MEMORY) for node in nodes)
    total_cpu = total_memory = 0.0
    for key in supervisors:
        total_cpu += cpu[index[key]]
        total_memory += memory[index[key]]
    return Storm1Cluster(
        cpu=cpu,
        memory=memory,
        total_cpu=total_cpu,
        total_memory=total_memory,
        racks=racks,
        rack_of={node: r for r, rack in enumerate(racks) for node in rack},
        ports=tuple(ports[node.id] for node in nodes),
        slot_hashes=tuple(
            {port: string_hash(f"{node.id}:{port}") for port in ports[node.id]} for node in nodes
        ),
        id_hashes=tuple(string_hash(node.id) for node in nodes),
    )


def _racks(instance: Instance, supervisors: list[int]) -> tuple[tuple[int, ...], ...]:
    nodes = instance.cluster.nodes
    rack_of_host = {nodes[node].host: nodes[node].rack for node in supervisors}
    by_id = {nodes[node].id: node for node in supervisors}
    first: dict[str, int] = {}
    for key in map_order(by_id):
        first.setdefault(nodes[by_id[key]].host, by_id[key])
    racks: dict[str, list[int]] = {}
    for host in map_order(rack_of_host):
        racks.setdefault(rack_of_host[host], []).append(first[host])
    return tuple(tuple(racks[name]) for name in map_order(racks))


def _ports(instance: Instance) -> dict[str, tuple[int, ...]]:
    counts = zip(running_labels(instance).items(), slots_of_nodes(instance), strict=True)
    return {key: tuple(set_order(ports_of(used, slots), int)) for (key, used), slots in counts}


def _capacity(node: Node, key: str) -> float:
    return float(node.resources.get(key) or 0)


# A node of Apache Storm 1.0.6's scheduler: ``RAS_Node`` (tag v1.0.6).
#
# What is free is kept in doubles, subtracted executor by executor; the node throws where they do
# not suffice, and that happens by a last digit: a node is filled in one order and summed up in
# another.


class OverdrawnError(SlotwiseError):
    """Java's ``IllegalStateException`` of a node that has not enough left; its message."""


class Storm1Node:
    """A node, its free resources, and which topology holds which of its slots.

    Parameters
    ----------
    cluster, index
        Which node.
    ports
        Ports in the order in which Storm comes upon them: held ones first.
    """

    def __init__(self, cluster: Storm1Cluster, index: int, ports: Sequence[int]) -> None:
        self.index = index
        self.cpu = cluster.cpu[index]
        self.memory = cluster.memory[index]
        self._most = self.cpu, self.memory
        self._hashes = cluster.slot_hashes[index]
        self._ports = walk(list(ports), self._hashes.__getitem__)
        self._topologies: JavaTable[str] = JavaTable(string_hash)
        self._held: dict[str, JavaTable[int]] = {}

    def free_ports(self) -> list[int]:
        """Return the ports that no topology holds, in the order in which they are tried."""
        held = {port for ports in self._held.values() for port in ports}
        return [port for port in self._ports if port not in held]

    def ports_of(self, topology: str) -> list[int]:
        """Return the ports that `topology` holds."""
        return list(self._held.get(topology, ()))

    def workers(self) -> list[tuple[str, int]]:
        """Return topology and port of the slots that are held, in the order of Java's maps."""
        return [(topology, port) for topology in self._topologies for port in self._held[topology]]

    def hold(self, topology: str, port: int) -> None:
        """Let `topology` have the slot."""
        if topology not in self._held:
            self._topologies.put(topology)
            self._held[topology] = JavaTable(self._hashes.__getitem__)
        self._held[topology].put(port)

    def take(self, need: Need) -> None:
        """Subtract an executor; raises `OverdrawnError`."""
        for amount, left, name in (
            (need.cpu, self.cpu, "CPU"),
            (need.memory, self.memory, "memory"),
        ):
            if amount > left:
                raise OverdrawnError(f"Attempting to consume more {name} than available")
        self.cpu -= need.cpu
        self.memory -= need.memory

    def free(self, topology: str, port: int, cpu: float, memory: float) -> None:
        """Give a slot back, with what its worker uses.

        Storm gives nothing back where that would make more than the node has, be it by a last
        digit.
        """
        if self.memory + memory <= self._most[1]:
            self.memory += memory
        if self.cpu + cpu <= self._most[0]:
            self.cpu += cpu
        self._held[topology].remove(port)
