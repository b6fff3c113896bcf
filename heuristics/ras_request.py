"""What topologies ask for and clusters offer, as Storm's Resource Aware Scheduler adds it up.

In doubles, added task by task in canonical order: Storm's scores and tests are made of doubles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from slotwise.models.cluster import Cluster
from slotwise.models.scaling import CPU, MEMORY
from slotwise.models.topology import MEMORY_PARTS, Topology

OWN = (CPU, MEMORY, *MEMORY_PARTS)
"""Resources that Storm counts by themselves; all others are its generic resources."""


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
    generic
        Of every other resource that some component names.
    """

    cpu: float
    onheap: float
    offheap: float
    shared_onheap: float
    shared_offheap: float
    generic: dict[str, float]

    @property
    def own_memory(self) -> float:
        """MB without shared regions."""
        return self.offheap + self.onheap

    @property
    def memory(self) -> float:
        """All MB, added in the order of Storm's priority strategies."""
        return (self.offheap + self.shared_offheap) + (self.shared_onheap + self.onheap)


def request_of(topology: Topology) -> Request:
    """Return what all tasks of `topology` ask for."""
    tasks = [one.resources for one in topology.placed_components for _ in range(one.parallelism)]
    generic: dict[str, float] = {}
    for resources in tasks:
        for key, value in resources.items():
            if key not in OWN:
                generic[key] = generic.get(key, 0.0) + float(value)
    return Request(
        cpu=added(task.get(CPU) for task in tasks),
        onheap=added(task.get("onheap_mb") for task in tasks),
        offheap=added(task.get("offheap_mb") for task in tasks),
        shared_onheap=added(one.mb for one in topology.shared_memory if one.kind == "onheap"),
        shared_offheap=added(one.mb for one in topology.shared_memory if one.kind != "onheap"),
        generic=generic,
    )


@dataclass(frozen=True, slots=True)
class Offer:
    """What all nodes together have: cpu (points), memory (MB), generic resources.

    A node without a limit makes the sum infinite.
    """

    cpu: float
    memory: float
    generic: dict[str, float]


def offer_of(cluster: Cluster) -> Offer:
    """Return the totals of `cluster`, whatever runs on it."""
    names = dict.fromkeys(key for node in cluster.nodes for key in node.resources if key not in OWN)
    return Offer(
        cpu=_offered(cluster, CPU),
        memory=_offered(cluster, MEMORY),
        generic={key: _offered(cluster, key) for key in names},
    )


def _offered(cluster: Cluster, key: str) -> float:
    total = 0.0
    for node in cluster.nodes:
        if key in node.resources:
            value = node.resources[key]
            total += float("inf") if value is None else float(value)
    return total


def added(values: Iterable[Decimal | None]) -> float:
    """Return the sum in doubles, from the first to the last; ``None`` counts 0."""
    total = 0.0
    for value in values:
        total += 0.0 if value is None else float(value)
    return total
