"""The state of a round of Apache Storm 1.0.6's scheduler: ``SchedulingState`` (tag v1.0.6).

The scheduler copies it before every topology, and again for every attempt. A copy sums up its
nodes again from what runs, in the order of Java's maps: so the same cluster may have other last
digits, and a sum that is above a capacity by such a digit throws (`OverdrawnError`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from slotwise.heuristics.ras.java.hash_codes import executor_hash, map_copy, set_copy
from slotwise.heuristics.ras.java.hash_map import JavaTable
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash, walk
from slotwise.heuristics.rstorm.storm_1.cluster import Slot, Storm1Cluster, Storm1Node
from slotwise.heuristics.rstorm.storm_1.topology import Storm1Topology
from slotwise.models.instance.instance import Instance

# What runs where, as Apache Storm 1.0.6 keeps it: ``SchedulerAssignmentImpl`` (tag v1.0.6).


class SchedulerAssignment:
    """The slot of each executor of a topology that has one, in the order of Java's map.

    Parameters
    ----------
    slots
        In the order of the map that this one is a copy of.
    java
        Release of Java whose hash tables are followed.
    """

    def __init__(self, slots: dict[int, Slot], java: int) -> None:
        self._slots = dict(slots)
        self._order = JavaTable.copy_of(list(slots), executor_hash, java)
        self._java = java

    def copy(self) -> SchedulerAssignment:
        """Return a copy; its map may have fewer buckets, and so another order."""
        return SchedulerAssignment(self.slots(), self._java)

    def slots(self) -> dict[int, Slot]:
        """Return executor -> slot, in the order of the map."""
        return {executor: self._slots[executor] for executor in self._order}

    def assign(self, slot: Slot, executors: Iterable[int]) -> None:
        """Put `executors` into a slot; they must have none."""
        for executor in executors:
            self._slots[executor] = slot
            self._order.put(executor)

    def executors_in(self, slot: Slot) -> list[int]:
        """Return the executors of a slot, in the order of the map."""
        return [executor for executor in self._order if self._slots[executor] == slot]

    def unassign(self, slot: Slot) -> None:
        """Take all executors out of a slot."""
        for executor in self.executors_in(slot):
            del self._slots[executor]
            self._order.remove(executor)

    def by_slot(self, hash_of: Callable[[Slot], int]) -> list[tuple[Slot, list[int]]]:
        """Return the slots in the order of Java's map of them, each with its executors."""
        executors: dict[Slot, list[int]] = {}
        for executor, slot in self.slots().items():
            executors.setdefault(slot, []).append(executor)
        return [(slot, executors[slot]) for slot in walk(list(executors), hash_of)]


# A user of Apache Storm 1.0.6's scheduler: ``User`` (tag v1.0.6), with a guarantee and queues.

NOTHING_GUARANTEED = sys.float_info.max
"""Java's ``Double.MAX_VALUE``: how much of nothing is used."""


@dataclass(slots=True)
class User:
    """An owner of topologies.

    Parameters
    ----------
    cpu, memory
        What is guaranteed: points and MB, 0 = nothing.
    pending, running, attempted, invalid
        Topologies by priority, then the one launched first, then by id.
    """

    cpu: float
    memory: float
    pending: list[Storm1Topology] = field(default_factory=list)
    running: list[Storm1Topology] = field(default_factory=list)
    attempted: list[Storm1Topology] = field(default_factory=list)
    invalid: list[Storm1Topology] = field(default_factory=list)

    def copy(self) -> User:
        """Return a user with queues of its own."""
        return replace(
            self,
            pending=self.pending[:],
            running=self.running[:],
            attempted=self.attempted[:],
            invalid=self.invalid[:],
        )

    def move(
        self, topology: Storm1Topology, source: list[Storm1Topology], target: list[Storm1Topology]
    ) -> None:
        """Move `topology` between two queues; one that is not there, or there already, stays."""
        if topology in source and topology not in target:
            source.remove(topology)
            add(target, topology)

    def next_topology(self) -> Storm1Topology | None:
        """Return the first pending one that has not failed yet."""
        return next((one for one in self.pending if one not in self.attempted), None)

    def cpu_share(self) -> float:
        """Return what runs, as a share of the guaranteed cpu."""
        return self._share([one.cpu for one in self.running], self.cpu)

    def memory_share(self) -> float:
        """Return what runs, as a share of the guaranteed memory."""
        return self._share([one.memory for one in self.running], self.memory)

    def average_share(self) -> float:
        """Return the mean of both shares."""
        return self.cpu_share() / 2.0 + self.memory_share() / 2.0

    @staticmethod
    def _share(used: list[float], guaranteed: float) -> float:
        if guaranteed == 0:
            return NOTHING_GUARANTEED
        total = 0.0
        for amount in used:
            total += amount
        return total / guaranteed


def add(queue: list[Storm1Topology], topology: Storm1Topology) -> None:
    """Put `topology` into a queue, at its place."""
    queue.append(topology)
    queue.sort(key=lambda one: one.turn)


RUNNING = "Fully Scheduled"


@dataclass(slots=True)
class State:
    """All that changes during a round.

    Parameters
    ----------
    cluster, topologies
        What does not change; topologies by id.
    users
        By name, in the order of Java's map of them.
    assignments
        By topology; of topologies that have run or do.
    nodes
        As the assignments load them.
    statuses
        By topology; absent = Storm has said nothing.
    java
        Release of Java whose hash tables are followed.
    """

    cluster: Storm1Cluster
    topologies: dict[str, Storm1Topology]
    users: dict[str, User]
    assignments: dict[str, SchedulerAssignment]
    nodes: list[Storm1Node]
    statuses: dict[str, str]
    java: int

    def copy(self) -> State:
        """Return a state of its own; raises `OverdrawnError`."""
        assignments = {key: self.assignments[key].copy() for key in _by_topology(self.assignments)}
        return State(
            cluster=self.cluster,
            topologies=self.topologies,
            users={name: user.copy() for name, user in self.users.items()},
            assignments=assignments,
            nodes=_loaded_nodes(self.cluster, self.topologies, assignments),
            statuses=dict(self.statuses),
            java=self.java,
        )

    def unassigned(self, topology: Storm1Topology) -> list[int]:
        """Return the executors without a slot, in the order of Java's set of them."""
        assignment = self.assignments.get(topology.id)
        placed = assignment.slots() if assignment else {}
        every = set_copy(topology.executors, executor_hash, self.java)
        return [executor for executor in every if executor not in placed]

    def assign(self, topology: Storm1Topology, slot: Slot, executors: list[int]) -> None:
        """Place executors for good; raises `OverdrawnError`."""
        assignment = self.assignments.setdefault(topology.id, SchedulerAssignment({}, self.java))
        assignment.assign(slot, executors)
        node = self.nodes[slot[0]]
        node.hold(topology.id, slot[1])
        for executor in executors:
            node.take(topology.needs[executor])

    def release(self, topology: Storm1Topology) -> None:
        """Take all slots from a topology."""
        assignment = self.assignments[topology.id]
        for node in self.nodes:
            for port in node.ports_of(topology.id):
                slot = (node.index, port)
                cpu = memory = 0.0
                for executor in assignment.executors_in(slot):
                    cpu += topology.needs[executor].cpu
                    memory += topology.needs[executor].memory
                node.free(topology.id, port, cpu, memory)
                assignment.unassign(slot)


def _loaded_nodes(
    cluster: Storm1Cluster,
    topologies: dict[str, Storm1Topology],
    assignments: dict[str, SchedulerAssignment],
) -> list[Storm1Node]:
    """Return the nodes with what runs on them (``RAS_Nodes``); raises `OverdrawnError`."""
    executors_at: list[dict[tuple[str, int], list[int]]] = [{} for _ in cluster.cpu]
    for key in _by_topology(assignments):
        for (index, port), executors in assignments[key].by_slot(cluster.slot_hash):
            executors_at[index][key, port] = executors
    nodes = []
    for index, workers in enumerate(executors_at):
        used = [port for _, port in workers]
        free = [port for port in cluster.ports[index] if port not in set(used)]
        node = Storm1Node(cluster, index, [*used, *free])
        for key, port in workers:
            node.hold(key, port)
        for key, port in node.workers():
            for executor in workers[key, port]:
                node.take(topologies[key].needs[executor])
        nodes.append(node)
    return nodes


def first_state(
    instance: Instance,
    cluster: Storm1Cluster,
    topologies: dict[str, Storm1Topology],
    java: int,
) -> State:
    """Return the state in which a round begins; raises `OverdrawnError`."""
    assignments = _running(instance, java)
    state = State(cluster, topologies, {}, assignments, [], {}, java)
    pools = instance.scheduler.pools
    users: dict[str, User] = {}
    for key in map_copy(map_order(topologies), string_hash, java):
        topology = topologies[key]
        pool = pools.get(topology.owner, {})
        guaranteed = (float(pool.get("cpu", 0)), float(pool.get("memory_mb", 0)))
        user = users.setdefault(topology.owner, User(*guaranteed))
        if state.unassigned(topology):
            add(user.pending, topology)
        else:
            add(user.running, topology)
            state.statuses[key] = RUNNING
    state.users = {name: users[name] for name in map_order(users)}
    return state.copy()


def _running(instance: Instance, java: int) -> dict[str, SchedulerAssignment]:
    index = {node.id: i for i, node in enumerate(instance.cluster.nodes)}
    running = instance.still_running or {}
    assignments: dict[str, SchedulerAssignment] = {}
    for topology in instance.topologies:
        places = running.get(topology.id)
        if places:
            names = [
                f"{component.id}[{i}]"
                for component in topology.placed_components
                for i in range(component.parallelism)
            ]
            slots = {
                executor: (index[places[name].node], places[name].worker)
                for executor, name in enumerate(names)
                if name in places
            }
            assignments[topology.id] = SchedulerAssignment(slots, java)
    order = map_copy(map_order(sorted(assignments)), string_hash, java)
    return {key: assignments[key] for key in order}


def _by_topology(assignments: dict[str, SchedulerAssignment]) -> list[str]:
    """Return the topologies in the order of a map that was made without buckets."""
    return walk(list(assignments), string_hash, least=1)
