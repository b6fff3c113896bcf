"""Instances whose distances are large where a placement has its tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement

NEAR, FAR = Decimal(1), Decimal(3)


def far_apart(instance: Instance, placement: Placement) -> Iterator[Instance]:
    """Yield the instance with distances by which other nodes are nearer to each other.

    First by racks: the first node that is used is alone in one, and the others have slots for all.
    Then by a matrix. Tasks that share a worker pay nothing for streams, so each gets one of its
    own. Nothing is yielded where that makes no difference: on a single node, or where the network
    costs nothing.
    """
    cluster = instance.cluster
    used = set(placement.nodes)
    if len(cluster.nodes) < 2 or "network" not in instance.objective.parts:
        return
    if not any(topology.streams for topology in instance.topologies):
        return
    count = range(len(cluster.nodes))
    matrix = tuple(tuple(FAR if {i, j} <= used else NEAR for j in count) for i in count)
    alone = tuple(replace(one, one_task_per_worker=True) for one in instance.topologies)
    apart = replace(instance, topologies=alone)
    if len(cluster.nodes) > 2:
        yield _one_alone(apart, min(used), -(-len(placement.nodes) // (len(cluster.nodes) - 1)))
    yield replace(apart, cluster=replace(cluster, matrix=matrix))


def _one_alone(instance: Instance, alone: int, slots: int) -> Instance:
    nodes = tuple(
        replace(node, slots=slots, rack="alone" if n == alone else "together")
        for n, node in enumerate(instance.cluster.nodes)
    )
    return replace(instance, cluster=replace(instance.cluster, nodes=nodes, matrix=None))
