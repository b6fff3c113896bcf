"""What topologies ask for and clusters offer, as Storm's Resource Aware Scheduler adds it up.

In doubles, added task by task in the orders of Java's maps: Storm's scores and tests are made of
doubles, and its messages show them to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import add

from slotwise.heuristics.ras.java.hash_codes import (
    JAVA_RELEASE,
    executor_hash,
    executors_in_map,
    map_copy,
    set_order,
)
from slotwise.heuristics.ras.java.hash_map import compensated_sum
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.topology import ACKER, MEMORY_PARTS, Component, Topology
from slotwise.models.problem.scaling import CPU, MEMORY

OWN = (CPU, MEMORY, *MEMORY_PARTS)
"""Resources that Storm counts by themselves; all others are its generic resources."""


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
    def memory(self) -> float:
        """All MB, added in the order of Storm's priority strategies."""
        return (self.offheap + self.shared_offheap) + (self.shared_onheap + self.onheap)


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
    component_of = [one for one in topology.placed_components for _ in range(one.parallelism)]
    order = {one.id: i for i, one in enumerate(topology.placed_components)}

    def turn(task: int) -> tuple[int, int]:
        one = component_of[task]
        kind = 2 if one.id == ACKER else one.kind == "spout"
        return kind, order[one.id]

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
