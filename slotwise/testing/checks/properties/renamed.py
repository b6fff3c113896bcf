"""An instance with other names: the same problem.

Names of a kind change places in alphabetical order (the first becomes the last), so that whoever
sorts by name sees another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance, LinearCost, Place, Running
from slotwise.models.instance.topology import Constraints, Topology

Names = Mapping[str, str]


def renamed(instance: Instance) -> Instance:
    """Return the instance with other ids of nodes, hosts, racks, topologies and components."""
    nodes = instance.cluster.nodes
    places = _others("node", (one.id for one in nodes))
    hosts = _others("host", (one.host for one in nodes if one.host != one.id)) | places
    racks = _others("rack", instance.cluster.racks)
    ids = _others("topology", (one.id for one in instance.topologies))
    parts = {one.id: _others("c", (c.id for c in one.components)) for one in instance.topologies}
    moved = tuple(_node(one, places, hosts, racks) for one in nodes)
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=moved),
        topologies=tuple(_topology(t, ids[t.id], parts[t.id], hosts) for t in instance.topologies),
        running=_running(instance.running, ids, parts, places),
        linear=tuple(_linear(instance, row, ids, parts, places) for row in instance.linear),
    )


def _others(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Return name -> another one, whose rank in alphabetical order is the reverse."""
    known = sorted(set(names))
    width = len(str(len(known)))
    return {name: f"{kind}-{len(known) - rank:0{width}}" for rank, name in enumerate(known)}


def _node(node: Node, places: Names, hosts: Names, racks: Names) -> Node:
    return replace(node, id=places[node.id], host=hosts[node.host], rack=racks[node.rack])


def _topology(topology: Topology, key: str, parts: Names, hosts: Names) -> Topology:
    rules = topology.constraints
    pairs = tuple((parts.get(a, a), parts.get(b, b)) for a, b in rules.incompatible)
    most = {parts.get(one, one): count for one, count in rules.max_per_node.items()}
    return replace(
        topology,
        id=key,
        components=tuple(replace(c, id=parts[c.id]) for c in topology.components),
        streams=tuple(
            replace(s, source=parts.get(s.source, s.source), target=parts.get(s.target, s.target))
            for s in topology.streams
        ),
        constraints=Constraints(pairs, most),
        shared_memory=tuple(
            replace(region, components=tuple(parts.get(c, c) for c in region.components))
            for region in topology.shared_memory
        ),
        favored_nodes=tuple(hosts.get(one, one) for one in topology.favored_nodes),
        unfavored_nodes=tuple(hosts.get(one, one) for one in topology.unfavored_nodes),
    )


def _task(task: str, parts: Names) -> str:
    component, _, index = task.rpartition("[")
    return f"{parts.get(component, component)}[{index}"


def _running(
    running: Running | None, ids: Names, parts: Mapping[str, Names], places: Names
) -> Running | None:
    if running is None:
        return None
    return {
        ids[topology]: {
            _task(task, parts[topology]): Place(places[place.node], place.worker)
            for task, place in tasks.items()
        }
        for topology, tasks in running.items()
    }


def _linear(
    instance: Instance, row: LinearCost, ids: Names, parts: Mapping[str, Names], places: Names
) -> LinearCost:
    topology, task = instance.task_of(row.task)
    return LinearCost(f"{ids[topology]}/{_task(task, parts[topology])}", places[row.node], row.cost)
