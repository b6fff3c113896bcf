"""Racks of nodes like those of the two clusters, and whether they hold a topology."""

from __future__ import annotations

import math
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.families.family import draw
from slotwise.models.families.storm_like.statistics import cpu, memory, onheap, with_tasks
from slotwise.models.families.storm_like.tables import NodeKind, Tables
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.topology import Component, Topology

MIXED = 0.5
"""How often the racks of a cluster are of several kinds."""

MOST_LOAD = 0.7
"""A cluster takes a topology that fills at most such a share of it; in the data at most 0.68."""


def draw_cluster(tables: Tables, rng: Generator) -> Cluster:
    """Return a cluster: its racks equally large, each of one kind of nodes."""
    low, high = (math.log(one) for one in tables.racks)
    racks = round(math.exp(rng.uniform(low, high)))
    size = draw(rng, *tables.nodes_per_rack)
    weights = [one.racks for one in tables.nodes]
    shares = [one / sum(weights) for one in weights]
    chosen = [int(one) for one in rng.choice(len(weights), racks, p=shares)]
    if rng.random() >= MIXED:
        chosen = [chosen[0]] * racks
    kinds = [tables.nodes[one] for one in sorted(chosen, reverse=True)]
    return Cluster(
        tuple(_node(rack, index, kind) for rack, kind in enumerate(kinds) for index in range(size))
    )


def holds(cluster: Cluster, topology: Topology) -> bool:
    """Whether the shares of the cluster that the components fill, each alone, add up to little.

    The share of a component is its tasks over those that would fit alone. So large clusters take
    large topologies, and next to every instance has a placement.
    """
    kinds: dict[tuple[int | None, Decimal, Decimal], int] = {}
    for node in cluster.nodes:
        resources = node.resources
        key = (node.slots, resources["cpu"] or Decimal(0), resources["memory_mb"] or Decimal(0))
        kinds[key] = kinds.get(key, 0) + 1
    filled = 0.0
    for one in with_tasks(topology):
        room = sum(
            nodes * _fitting(one, topology, slots or 0, float(points), float(megabytes))
            for (slots, points, megabytes), nodes in kinds.items()
        )
        if not room:
            return False
        filled += one.parallelism / room
    return filled <= MOST_LOAD


def _fitting(
    one: Component, topology: Topology, slots: int, points: float, megabytes: float
) -> int:
    """Return how many tasks of a component an empty node takes."""
    most = [one.parallelism]
    if cpu(one):
        most.append(int(points // cpu(one)))
    if memory(one):
        most.append(int(megabytes // memory(one)))
    if topology.worker_max_heap_mb is not None and onheap(one):
        most.append(slots * int(float(topology.worker_max_heap_mb) // onheap(one)))
    return min(most)


def _node(rack: int, index: int, kind: NodeKind) -> Node:
    points = kind.cpu[index % len(kind.cpu)]
    return Node(
        id=f"r{rack:02d}n{index:03d}",
        rack=f"rack-{rack:02d}",
        slots=kind.slots,
        resources={"cpu": Decimal(points), "memory_mb": Decimal(kind.memory_mb)},
    )
