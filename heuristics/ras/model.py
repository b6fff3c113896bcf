"""Cluster and topologies as RAS sees them; nothing here changes during a round.

Executors, requests and neighbours of a topology; racks, hosts, nodes and slots of a cluster; the
sums of demand and supply, in doubles and in the order of Java's maps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import add

import numpy as np

from slotwise.heuristics.ras.java.hash_codes import (
    JAVA_RELEASE,
    computed_order,
    executor_hash,
    executors_in_map,
    map_copy,
    set_order,
    shared_memory_hash,
    slot_hash,
)
from slotwise.heuristics.ras.java.hash_map import compensated_sum
from slotwise.heuristics.ras.java.iteration_order import code_units, map_order, string_hash
from slotwise.heuristics.ras.java.many_keys import many_in_order, numbered_hashes
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import (
    ACKER,
    MEMORY_PARTS,
    SHARED_KINDS,
    Component,
    SharedMemory,
    Topology,
)
from slotwise.models.problem.scaling import CPU, MEMORY

# A topology as Storm's Resource Aware Scheduler sees it: executors, requests, neighbours.
#
# Executor k of a topology is the k-th task of its file, from 0: components in the order of the
# file, ackers last. Storm's own tests of the scheduler number the tasks of spouts, then bolts, in
# the order of Java's maps of component names (``genExecsAndComps``); a file in that order, as
# those made from them are, has the same numbers. A running Storm numbers from 1 in the order of
# component names, ackers and its system tasks among them (``StormCommon.stormTaskInfoImpl``), so
# that its tables list executors in another order. Storm's executors may hold several tasks, ours
# hold one.

SHUFFLES = ("shuffle", "local_or_shuffle")
SYSTEM_PREFIX = "__"


@dataclass(frozen=True, slots=True)
class Need:
    """What one executor asks for: cpu points, MB, and each generic resource of the cluster."""

    cpu: float
    onheap: float
    offheap: float
    memory: float
    generic: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RasRegion:
    """A shared memory region, MB, of which one part is not 0; `hash` is its Java hash code."""

    hash: int
    onheap: float
    offheap_worker: float
    offheap_node: float


@dataclass(frozen=True, slots=True)
class RasComponent:
    """A component and its executors.

    Parameters
    ----------
    id, spout, system
        System components (ackers, say) take no part in the executor orders.
    hash
        Java's hash code of the id.
    need
        Of one executor.
    executors
        In the order of ``Component.getExecs``.
    set_order
        The same in the order of a ``HashSet`` (``getComponentToExecutors``).
    regions
        Indices of the shared regions that its executors touch, in the order of Java's set of their
        names.
    children, parents
        Indices of user components at the other end of a stream, each once, in the order of Java's
        sets.
    shuffled
        The children that it sends to by shuffle or local-or-shuffle grouping.
    """

    id: str
    hash: int
    spout: bool
    system: bool
    need: Need
    executors: tuple[int, ...]
    set_order: tuple[int, ...]
    regions: tuple[int, ...]
    children: tuple[int, ...]
    parents: tuple[int, ...]
    shuffled: frozenset[int]


@dataclass(frozen=True, slots=True)
class RasTopology:
    """A topology.

    Parameters
    ----------
    topology
        The topology of the instance.
    components
        In the order of the file, ``__acker`` last.
    component_of
        Index of the component of each executor.
    executors
        All executors in the order of Java's map of them.
    map_order
        Indices of the user components in the order of Java's map of them.
    regions
        Shared memory.
    node_shared
        Whether a region is counted once per node.
    heap_limit
        MB; infinite = none.
    acker
        Index of the component ``__acker``, or ``None``.
    """

    topology: Topology
    components: tuple[RasComponent, ...]
    component_of: tuple[int, ...]
    executors: tuple[int, ...]
    map_order: tuple[int, ...]
    regions: tuple[RasRegion, ...]
    node_shared: bool
    heap_limit: float
    acker: int | None

    def regions_of(self, components: Iterable[int]) -> list[int]:
        """Return the regions that `components` touch, in the order of Java's set of them.

        It is filled component by component, in the order of a set of their names.
        """
        listed = set_order(components, lambda c: self.components[c].hash)
        touched = dict.fromkeys(r for c in listed for r in self.components[c].regions)
        return set_order(touched, lambda r: self.regions[r].hash)

    @property
    def has_spout(self) -> bool:
        """Whether there is a spout, with or without tasks."""
        return any(one.spout and not one.system for one in self.components)


def ras_topology(topology: Topology, generic: Sequence[str], java: int) -> RasTopology:
    """Return the scheduler's view of `topology`; `generic` names the cluster's resources."""
    placed = topology.placed_components
    component_of = tuple(index for index, one in enumerate(placed) for _ in range(one.parallelism))
    executors = tuple(executors_in_map(len(component_of), java))
    own: list[list[int]] = [[] for _ in placed]
    for task in executors:
        own[component_of[task]].append(task)
    links = _links(topology)
    regions = tuple(_region(one) for one in topology.shared_memory)
    ids = [one.id for one in placed]
    heap = topology.worker_max_heap_mb
    return RasTopology(
        topology=topology,
        components=tuple(
            _component(topology, one, generic, own[index], links)
            for index, one in enumerate(placed)
        ),
        component_of=component_of,
        executors=executors,
        map_order=tuple(ids.index(key) for key in map_order(_user_ids(topology))),
        regions=regions,
        node_shared=any(one.offheap_node > 0 for one in regions),
        heap_limit=float("inf") if heap is None else float(heap),
        acker=ids.index(ACKER) if ACKER in ids else None,
    )


def is_system(component: Component) -> bool:
    """Whether Storm keeps the component to itself: such names begin with two underscores."""
    return component.kind == "system" or component.id.startswith(SYSTEM_PREFIX)


def _user_ids(topology: Topology) -> list[str]:
    """Return the user components, spouts first, as Storm puts them into its map."""
    users = [one for one in topology.placed_components if not is_system(one)]
    return [one.id for one in sorted(users, key=lambda one: one.kind != "spout")]


def _links(topology: Topology) -> list[tuple[str, str]]:
    """Return (source, target) of user components as Storm links them: by target, spouts first."""
    users = _user_ids(topology)
    links: dict[tuple[str, str], None] = {}
    for target in users:
        sources = dict.fromkeys(s.source for s in topology.streams if s.target == target)
        for source in map_order(sources):
            if source in users:
                links[source, target] = None
    return list(links)


def _component(
    topology: Topology,
    component: Component,
    generic: Sequence[str],
    own: Sequence[int],
    links: list[tuple[str, str]],
) -> RasComponent:
    ids = [one.id for one in topology.placed_components]
    children = map_order(b for a, b in links if a == component.id)
    parents = map_order(a for a, b in links if b == component.id)
    regions = {
        one.id: r for r, one in enumerate(topology.shared_memory) if component.id in one.components
    }
    shuffled = {
        ids.index(stream.target)
        for stream in topology.streams
        if stream.source == component.id and stream.grouping in SHUFFLES
    }
    return RasComponent(
        id=component.id,
        hash=string_hash(component.id),
        spout=component.kind == "spout",
        system=is_system(component),
        need=need_of(component, generic),
        executors=tuple(own),
        set_order=tuple(set_order(own, executor_hash)),
        regions=tuple(regions[name] for name in map_order(regions)),
        children=tuple(ids.index(key) for key in children),
        parents=tuple(ids.index(key) for key in parents),
        shuffled=frozenset(shuffled),
    )


def need_of(component: Component, generic: Sequence[str]) -> Need:
    """Return what one executor of `component` asks for."""
    requested = {key: float(value) for key, value in component.resources.items()}
    onheap, offheap = requested.get("onheap_mb", 0.0), requested.get("offheap_mb", 0.0)
    return Need(
        cpu=requested.get(CPU, 0.0),
        onheap=onheap,
        offheap=offheap,
        memory=onheap + offheap,
        generic=tuple(requested.get(key, 0.0) for key in generic),
    )


def _region(shared: SharedMemory) -> RasRegion:
    mb = float(shared.mb)
    parts = [mb if shared.kind == kind else None for kind in SHARED_KINDS]
    onheap, worker, node = (part or 0.0 for part in parts)
    return RasRegion(shared_memory_hash(shared.id, parts), onheap, worker, node)


# A cluster as Storm's Resource Aware Scheduler sees it: racks, hosts, nodes and their slots.
#
# Orders are those of Java's hash tables: sums of doubles are taken in them, and hosts of favoured
# nodes are listed in them. A node's rack is that of its host: hosts lie in one rack each.


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
        them, and adds up shares in this order; all count as known from the start (as they are
        once a scheduler has run).
    cpu, memory, generics
        What each node has in all.
    slots
        Most workers on each node; without a limit as many as the instance has tasks.
    running
        Labels that workers on each node had when the round began.
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
    slots: tuple[int, ...]
    running: tuple[frozenset[int], ...]
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
    generic = _generic_names(instance, java)
    hosts: dict[str, list[int]] = {}
    for node in order:
        hosts.setdefault(nodes[node].host, []).append(node)
    names = {key for node in nodes for key in (node.id, node.host, node.rack)}
    running = running_labels(instance)
    return RasCluster(
        ids=tuple(node.id for node in nodes),
        generic=generic,
        cpu=tuple(_capacity(node, CPU) for node in nodes),
        memory=tuple(_capacity(node, MEMORY) for node in nodes),
        generics=tuple(tuple(_capacity(node, key) for key in generic) for node in nodes),
        slots=slots_of_nodes(instance),
        running=tuple(frozenset(running[node.id]) for node in nodes),
        supervisor_order=tuple(index[key] for key in ids),
        racks=_racks(instance.cluster, order, hosts),
        hosts={name: tuple(own) for name, own in hosts.items()},
        text_keys={name: code_units(name) for name in names},
    )


def running_labels(instance: Instance) -> dict[str, set[int]]:
    """Return the labels of the workers that run on each node."""
    labels: dict[str, set[int]] = {node.id: set() for node in instance.cluster.nodes}
    for tasks in (instance.still_running or {}).values():
        for place in tasks.values():
            labels[place.node].add(place.worker)
    return labels


def slots_of_nodes(instance: Instance) -> tuple[int, ...]:
    """Return the slots of each node; without a limit as many as the instance has tasks."""
    tasks = len(instance.task_names())
    return tuple(tasks if node.slots is None else node.slots for node in instance.cluster.nodes)


def ports_of(labels: Collection[int], slots: int) -> Sequence[int]:
    """Return a node's ports, ascending: `labels` and the lowest other numbers, `slots` in all."""
    if max(labels, default=0) < slots:
        return range(slots)
    others = [port for port in range(slots) if port not in labels]
    return sorted([*labels, *others[: max(0, slots - len(labels))]])


MANY_PORTS = 64
"""Free ports of a node up to which plain lists are as fast as arrays."""


def slot_order(node: str, ports: Sequence[int], used: Collection[int]) -> list[int]:
    """Return those of a node's `ports` not `used`, in the order of ``RasNode``'s set of slots."""
    if isinstance(ports, range) and len(ports) - len(used) > MANY_PORTS:
        return _order_of_many(node, len(ports), used)
    start = string_hash(node)
    text = {f"{node}:{port}": port for port in set_order(ports, int)}
    free = [text[key] for key in map_order(text) if text[key] not in used]
    return set_order(free, lambda port: slot_hash(start, port))


def _order_of_many(node: str, count: int, used: Collection[int]) -> list[int]:
    """Return the same for the ports from 0 to `count` - 1."""
    ports = np.arange(count, dtype=np.uint32)
    texts = numbered_hashes(f"{node}:", ports)
    ports = ports[many_in_order(ports)]
    ports = ports[many_in_order(texts[ports])]
    free = ports[np.isin(ports, list(used), invert=True)]
    hashes = free * np.uint32(slot_hash(0, 1)) + np.uint32(string_hash(node) & 0xFFFFFFFF)
    order: list[int] = free[many_in_order(hashes)].tolist()
    return order


def _racks(cluster: Cluster, order: list[int], hosts: dict[str, list[int]]) -> tuple[Rack, ...]:
    members: dict[str, dict[str, None]] = {}
    for node in order:
        members.setdefault(cluster.nodes[node].rack, {})[cluster.nodes[node].host] = None
    names = computed_order(cluster.nodes[node].rack for node in order)
    return tuple(
        Rack(name, tuple(Host(host, tuple(hosts[host])) for host in map_order(members[name])))
        for name in names
    )


def _generic_names(instance: Instance, java: int) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for node in instance.cluster.nodes:
        # Storm meets them in a copy of the node's map, where cpu and memory take up room, too;
        # the keys of a file have no order, so the map is filled in that of their names.
        own = sorted(key for key in node.resources if key not in OWN)
        listed = map_copy(map_order([CPU_NAME, MEMORY_NAME, *own]), string_hash, java)
        names.update(dict.fromkeys(key for key in listed if key in own))
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
        for component in topology.components:
            need = component.need
            requested = (need.cpu, need.onheap, need.offheap, *need.generic)
            numbers.extend(requested)
            total += sum(requested) * len(component.executors)
        for region in topology.regions:
            sizes = (region.onheap, region.offheap_worker, region.offheap_node)
            numbers.extend(sizes)
            total += sum(sizes) * count
        total += least_cpu * count
    return total < LARGEST and all((number * FINEST).is_integer() for number in set(numbers))


# What topologies ask for and clusters offer, as Storm's Resource Aware Scheduler adds it up.
#
# In doubles, added task by task in the orders of Java's maps: Storm's scores and tests are made
# of doubles, and its messages show them to the last digit.

OWN = (CPU, MEMORY, *MEMORY_PARTS)
"""Resources that Storm counts by themselves; all others are its generic resources."""

CPU_NAME, MEMORY_NAME = "cpu.pcore.percent", "memory.mb"
"""Storm's names of a node's cpu and memory."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What all nodes together have: cpu (points), memory (MB), generic resources.

    A node without a limit makes the sum infinite.
    """

    cpu: float
    memory: float
    generic: dict[str, float]


@dataclass(frozen=True, slots=True)
class Request:
    """What a topology asks for in all (Storm's ``getTotalRequested...``).

    Parameters
    ----------
    cpu
        Points, without any least cpu of workers.
    onheap, offheap
        MB, without shared regions.
    shared_onheap, shared_offheap
        MB of the shared regions, each counted once (Storm's lower bound).
    approximate
        The same without shared regions, added in another order
        (``getApproximateTotalResources``).
    """

    cpu: float
    onheap: float
    offheap: float
    shared_onheap: float
    shared_offheap: float
    approximate: Offer

    @property
    def generic(self) -> dict[str, float]:
        """Of every other resource that some component names."""
        return self.approximate.generic

    @property
    def own_memory(self) -> float:
        """MB without shared regions."""
        return self.offheap + self.onheap

    @property
    def memory_parts(self) -> tuple[float, float]:
        """Off-heap and on-heap MB, each with its shared regions."""
        return self.offheap + self.shared_offheap, self.shared_onheap + self.onheap

    @property
    def memory(self) -> float:
        """All MB, as one sum of the `memory_parts`."""
        offheap, onheap = self.memory_parts
        return offheap + onheap


def request_of(
    topology: Topology, java: int = JAVA_RELEASE, token: CancellationToken | None = None
) -> Request:
    """Return what all tasks of `topology` ask for, added as Java of release `java` would.

    `token` stops it; ``None`` = nobody does.
    """
    if token is not None:
        token.check()
    component_of = [one for one in topology.placed_components for _ in range(one.parallelism)]
    listed = executors_in_map(len(component_of), java)
    needs = [component_of[task].resources for task in listed]
    return Request(
        cpu=added(need.get(CPU) for need in needs),
        onheap=added(need.get("onheap_mb") for need in needs),
        offheap=added(need.get("offheap_mb") for need in needs),
        shared_onheap=added(one.mb for one in topology.shared_memory if one.kind == "onheap"),
        shared_offheap=added(one.mb for one in topology.shared_memory if one.kind != "onheap"),
        approximate=_approximate([component_of[task] for task in _resource_list(topology, listed)]),
    )


def _approximate(components: Sequence[Component]) -> Offer:
    """Return what one task of each of `components` asks for, added in this order."""
    needs = [one.resources for one in components]
    names = dict.fromkeys(key for need in needs for key in need if key not in OWN)
    onheap, offheap = (added(need.get(part) for need in needs) for part in MEMORY_PARTS)
    return Offer(
        cpu=added(need.get(CPU) for need in needs),
        memory=onheap + offheap,
        generic={key: added(need.get(key) for need in needs) for key in names},
    )


def _resource_list(topology: Topology, listed: Iterable[int]) -> list[int]:
    """Return the executors in the order of the map that holds what each one asks for.

    ``TopologyDetails.initResourceList`` fills it bolt by bolt, then spout by spout, then with
    those of system components.
    """
    component_of = [
        component for component in topology.placed_components for _ in range(component.parallelism)
    ]
    order = {component.id: i for i, component in enumerate(topology.placed_components)}

    def turn(task: int) -> tuple[int, int]:
        component = component_of[task]
        kind = 2 if component.id == ACKER else component.kind == "spout"
        return kind, order[component.id]

    filled = sorted(listed, key=turn)
    return set_order(filled, executor_hash)


def offer_of(cluster: Cluster, java: int = JAVA_RELEASE) -> Offer:
    """Return the totals of `cluster`, whatever runs on it.

    Nodes are added in the order of the cluster's map of them; cpu and memory as a stream of
    doubles (``Cluster.computeClusterCpuResource``), other resources one by one.
    """
    by_id = {node.id: node for node in cluster.nodes}
    nodes = [by_id[key] for key in map_copy(map_order(by_id), string_hash, java)]
    names = dict.fromkeys(key for node in cluster.nodes for key in node.resources if key not in OWN)
    return Offer(
        cpu=compensated_sum(_offered(nodes, CPU)),
        memory=compensated_sum(_offered(nodes, MEMORY)),
        generic={key: reduce(add, _offered(nodes, key), 0.0) for key in names},
    )


def _offered(nodes: Iterable[Node], key: str) -> Iterator[float]:
    for node in nodes:
        value = node.resources.get(key, Decimal(0))
        yield float("inf") if value is None else float(value)


def added(values: Iterable[Decimal | None]) -> float:
    """Return the sum in doubles, from the first to the last; ``None`` counts 0."""
    total = 0.0
    for value in values:
        total += 0.0 if value is None else float(value)
    return total
