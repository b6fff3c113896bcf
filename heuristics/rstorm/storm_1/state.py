"""The state of a round of Apache Storm 1.0.6's scheduler: ``SchedulingState`` (tag v1.0.6).

The scheduler copies it before every topology, and again for every attempt. A copy sums up its
nodes again from what runs, in the order of Java's maps: so the same cluster may have other last
digits, and a sum that is above a capacity by such a digit throws (`OverdrawnError`).
"""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import executor_hash, map_copy, set_copy
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash, walk
from slotwise.heuristics.rstorm.storm_1.assignment import SchedulerAssignment
from slotwise.heuristics.rstorm.storm_1.cluster import Slot, Storm1Cluster
from slotwise.heuristics.rstorm.storm_1.node import Storm1Node
from slotwise.heuristics.rstorm.storm_1.topology import Storm1Topology
from slotwise.heuristics.rstorm.storm_1.user import User, add
from slotwise.models.instance.instance import Instance

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
        held = self.assignments.get(topology.id)
        placed = held.slots() if held else {}
        every = set_copy(topology.executors, executor_hash, self.java)
        return [executor for executor in every if executor not in placed]

    def assign(self, topology: Storm1Topology, slot: Slot, executors: list[int]) -> None:
        """Place executors for good; raises `OverdrawnError`."""
        held = self.assignments.setdefault(topology.id, SchedulerAssignment({}, self.java))
        held.assign(slot, executors)
        node = self.nodes[slot[0]]
        node.hold(topology.id, slot[1])
        for executor in executors:
            node.take(topology.needs[executor])

    def release(self, topology: Storm1Topology) -> None:
        """Take all slots from a topology."""
        held = self.assignments[topology.id]
        for node in self.nodes:
            for port in node.ports_of(topology.id):
                slot = (node.index, port)
                cpu = memory = 0.0
                for executor in held.executors_in(slot):
                    cpu += topology.needs[executor].cpu
                    memory += topology.needs[executor].memory
                node.free(topology.id, port, cpu, memory)
                held.unassign(slot)


def _loaded_nodes(
    cluster: Storm1Cluster,
    topologies: dict[str, Storm1Topology],
    assignments: dict[str, SchedulerAssignment],
) -> list[Storm1Node]:
    """Return the nodes with what runs on them (``RAS_Nodes``); raises `OverdrawnError`."""
    held: list[dict[tuple[str, int], list[int]]] = [{} for _ in cluster.cpu]
    for key in _by_topology(assignments):
        for (index, port), executors in assignments[key].by_slot(cluster.slot_hash):
            held[index][key, port] = executors
    nodes = []
    for index, workers in enumerate(held):
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
    found: dict[str, SchedulerAssignment] = {}
    for topology in instance.topologies:
        places = running.get(topology.id)
        if places:
            names = [
                f"{one.id}[{i}]"
                for one in topology.placed_components
                for i in range(one.parallelism)
            ]
            slots = {
                executor: (index[places[name].node], places[name].worker)
                for executor, name in enumerate(names)
                if name in places
            }
            found[topology.id] = SchedulerAssignment(slots, java)
    order = map_copy(map_order(sorted(found)), string_hash, java)
    return {key: found[key] for key in order}


def _by_topology(assignments: dict[str, SchedulerAssignment]) -> list[str]:
    """Return the topologies in the order of a map that was made without buckets."""
    return walk(list(assignments), string_hash, least=1)
