"""What the states of one scheduling round have in common: names, orders, requests, capacities."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE
from slotwise.heuristics.ras.model.cluster import RasCluster, ras_cluster
from slotwise.heuristics.ras.model.topology import RasTopology, ras_topology
from slotwise.models.instance.instance import Instance

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
        for one in topology.components:
            need = one.need
            requested = (need.cpu, need.onheap, need.offheap, *need.generic)
            numbers.extend(requested)
            total += sum(requested) * len(one.executors)
        for region in topology.regions:
            sizes = (region.onheap, region.offheap_worker, region.offheap_node)
            numbers.extend(sizes)
            total += sum(sizes) * count
        total += least_cpu * count
    return total < LARGEST and all((number * FINEST).is_integer() for number in set(numbers))
