"""A node of Apache Storm 1.0.6's scheduler: ``RAS_Node`` (tag v1.0.6).

What is free is kept in doubles, subtracted executor by executor; the node throws where they do not
suffice, and that happens by a last digit: a node is filled in one order and summed up in another.
"""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.heuristics.java_order import string_hash, walk
from slotwise.heuristics.java_table import JavaTable
from slotwise.heuristics.ras_topology import Need
from slotwise.heuristics.storm_1_cluster import Storm1Cluster
from slotwise.models.errors import SlotwiseError


class OverdrawnError(SlotwiseError):
    """Java's ``IllegalStateException`` of a node that has not enough left; its message."""


class Storm1Node:
    """A node, its free resources, and which topology holds which of its slots.

    Parameters
    ----------
    cluster, index
        Which node.
    known
        Ports in the order in which Storm comes upon them: held ones first.
    """

    def __init__(self, cluster: Storm1Cluster, index: int, known: Sequence[int]) -> None:
        self.index = index
        self.cpu = cluster.cpu[index]
        self.memory = cluster.memory[index]
        self._most = self.cpu, self.memory
        self._hashes = cluster.slot_hashes[index]
        self._ports = walk(list(known), self._hashes.__getitem__)
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
