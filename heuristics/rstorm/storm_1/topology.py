"""A topology as the scheduler of Apache Storm 1.0.6 sees it: needs, and the order of executors.

Read from ``TopologyDetails`` and the traversal in ``DefaultResourceAwareStrategy`` (tag v1.0.6).
Executor k is the k-th task of the file, ackers last. Components come breadth first from every
spout that has not been visited, children before parents. Spouts come in the order of Java's map
of components, children in that of the maps of spouts and bolts, parents in that of a component's
inputs, all as they are after Thrift. System components (ackers among them) are not in the graph.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from slotwise.heuristics.ras.java.hash_codes import executors_in_map, thrift_order
from slotwise.heuristics.ras.java.iteration_order import code_units, map_order, string_hash
from slotwise.heuristics.ras.model import Need, is_system, need_of
from slotwise.models.instance.topology import Topology

UNLIMITED = sys.float_info.max
"""Java's ``Double.MAX_VALUE``, which Storm's own tests take for no limit."""

TRUE_HASH = 1231
"""``Boolean.TRUE.hashCode()``."""


@dataclass(frozen=True)
class Storm1Topology:
    """A topology.

    Parameters
    ----------
    id, owner, heap_limit
        The heap limit in MB.
    turn
        Key by which a user's topologies are sorted: priority, launch time, id.
    needs
        Of each executor.
    executors
        In the order of Java's map of them.
    ranks
        Executors of each component, in the order of the traversal; ``None`` = there is no spout.
    """

    id: str
    owner: str
    heap_limit: float
    turn: tuple[int, int, tuple[int, ...]]
    needs: tuple[Need, ...]
    executors: tuple[int, ...]
    ranks: tuple[tuple[int, ...], ...] | None

    @cached_property
    def cpu(self) -> float:
        """Points that all executors ask for."""
        return _sum(self.needs[executor].cpu for executor in self.executors)

    @cached_property
    def memory(self) -> float:
        """MB that all executors ask for."""
        onheap = _sum(self.needs[executor].onheap for executor in self.executors)
        return onheap + _sum(self.needs[executor].offheap for executor in self.executors)


def storm_1_topology(topology: Topology, java: int) -> Storm1Topology:
    """Return the scheduler's view of `topology`."""
    placed = topology.placed_components
    component_of = [one.id for one in placed for _ in range(one.parallelism)]
    need = {one.id: need_of(one, ()) for one in placed}
    executors = executors_in_map(len(component_of), java)
    own: dict[str, list[int]] = {one.id: [] for one in placed}
    for executor in executors:
        own[component_of[executor]].append(executor)
    order = _traversal(topology)
    heap = topology.worker_max_heap_mb
    return Storm1Topology(
        id=topology.id,
        owner=topology.owner,
        heap_limit=UNLIMITED if heap is None else float(heap),
        turn=(topology.priority, topology.launch_time, code_units(topology.id)),
        needs=tuple(need[component] for component in component_of),
        executors=tuple(executors),
        ranks=tuple(tuple(own[component]) for component in order) if order else None,
    )


@dataclass(slots=True)
class _Links:
    """Neighbours of a component; one that two streams join stands twice."""

    children: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)


def _traversal(topology: Topology) -> list[str]:
    """Return the components that a spout reaches, in the order of the ranks."""
    links = _links(topology)
    spouts = {one.id for one in topology.components if one.kind == "spout"}
    visited: dict[str, None] = {}
    for spout in map_order(links):
        if spout in spouts and spout not in visited:
            queue = deque([spout])
            visited[spout] = None
            while queue:
                link = links[queue.popleft()]
                for neighbour in link.children + link.parents:
                    if neighbour not in visited:
                        visited[neighbour] = None
                        queue.append(neighbour)
    return list(visited)


def _links(topology: Topology) -> dict[str, _Links]:
    """Return the components of users in the order in which Storm comes upon them."""
    spouts = [one.id for one in topology.components if one.kind == "spout"]
    bolts = [one.id for one in topology.components if one.kind != "spout"]
    system = {one.id for one in topology.components if is_system(one)}
    by_component: dict[str, _Links] = {}
    for component in (*thrift_order(spouts, string_hash), *thrift_order(bolts, string_hash)):
        if component not in system:
            links = by_component.setdefault(component, _Links())
            for source, _ in thrift_order(_inputs(topology, component, system), _input_hash):
                links.parents.append(source)
                by_component.setdefault(source, _Links()).children.append(component)
    return by_component


def _inputs(topology: Topology, component: str, system: set[str]) -> list[tuple[str, str]]:
    """Return component and stream of each input; streams after the first of a pair get names."""
    inputs: list[tuple[str, str]] = []
    for stream in topology.streams:
        if stream.target == component and stream.source not in system:
            number = sum(source == stream.source for source, _ in inputs)
            inputs.append((stream.source, f"s{number}" if number else "default"))
    return inputs


def _input_hash(one: tuple[str, str]) -> int:
    """Return ``GlobalStreamId.hashCode``, that of a list with a ``true`` before each part."""
    value = 1
    for part in one:
        value = (31 * value + TRUE_HASH) * 31 + string_hash(part)
    return value


def _sum(values: Iterable[float]) -> float:
    """Add one by one, as Java's loops do (Python's own ``sum`` compensates from 3.12 on)."""
    total = 0.0
    for value in values:
        total += value
    return total
