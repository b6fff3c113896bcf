"""A topology as Storm's Resource Aware Scheduler sees it: executors, requests, neighbours.

Executor k of a topology is the k-th task of its file: components in the order of the file, ackers
last. Storm numbers the tasks of spouts, then bolts, in the order of Java's map of component names;
a file in that order (as those made from Storm's tests are) has Storm's own numbers. Storm's
executors may hold several tasks, ours hold one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import (
    executor_hash,
    executors_in_map,
    set_order,
    shared_memory_hash,
)
from slotwise.heuristics.ras.java.iteration_order import map_order
from slotwise.models.instance.topology import ACKER, SHARED_KINDS, Component, SharedMemory, Topology
from slotwise.models.problem.scaling import CPU

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
    need
        Of one executor.
    executors
        In the order of ``Component.getExecs``.
    set_order
        The same in the order of a ``HashSet`` (``getComponentToExecutors``).
    regions
        Indices of the shared regions that its executors touch.
    children, parents
        Indices of user components at the other end of a stream, each once, in the order of Java's
        sets.
    shuffled
        The children that it sends to by shuffle or local-or-shuffle grouping.
    """

    id: str
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

    def in_set(self, regions: Iterable[int]) -> list[int]:
        """Return indices of regions in the order of Java's set of them."""
        return set_order(sorted(regions), lambda r: self.regions[r].hash)

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
    found: dict[tuple[str, str], None] = {}
    for target in users:
        sources = dict.fromkeys(s.source for s in topology.streams if s.target == target)
        for source in map_order(sources):
            if source in users:
                found[source, target] = None
    return list(found)


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
    shuffled = {
        ids.index(one.target)
        for one in topology.streams
        if one.source == component.id and one.grouping in SHUFFLES
    }
    return RasComponent(
        id=component.id,
        spout=component.kind == "spout",
        system=is_system(component),
        need=need_of(component, generic),
        executors=tuple(own),
        set_order=tuple(set_order(own, executor_hash)),
        regions=tuple(
            r for r, one in enumerate(topology.shared_memory) if component.id in one.components
        ),
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


def _region(one: SharedMemory) -> RasRegion:
    mb = float(one.mb)
    parts = [mb if one.kind == kind else None for kind in SHARED_KINDS]
    onheap, worker, node = (part or 0.0 for part in parts)
    return RasRegion(shared_memory_hash(one.id, parts), onheap, worker, node)
