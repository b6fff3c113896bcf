"""An instance with all its lists in reverse order: the same problem."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology


def reordered(instance: Instance) -> Instance:
    """Return the instance with nodes, topologies, components and streams in reverse order."""
    return replace(
        instance,
        cluster=_cluster(instance.cluster),
        topologies=tuple(_topology(one) for one in reversed(instance.topologies)),
        linear=instance.linear[::-1],
    )


def _cluster(cluster: Cluster) -> Cluster:
    matrix = cluster.matrix
    if matrix is not None:
        matrix = tuple(row[::-1] for row in reversed(matrix))
    return replace(cluster, nodes=cluster.nodes[::-1], matrix=matrix)


def _topology(topology: Topology) -> Topology:
    return replace(
        topology,
        components=topology.components[::-1],
        streams=topology.streams[::-1],
        shared_memory=topology.shared_memory[::-1],
    )
