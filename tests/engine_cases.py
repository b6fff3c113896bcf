"""Instances that several tests of the engines share."""

from __future__ import annotations

from dataclasses import replace

from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.solver.core.result import Limits

LIMITS = Limits(time_s=60.0)


def network_topology(rng: Generator, *, most_components: int = 4, heap_mb: int | None) -> Topology:
    """Return a few components with random streams, tasks of 1-19 points and 1-3 MB on the heap."""
    components = tuple(
        Component(
            f"c{i}",
            "bolt" if i else "spout",
            int(rng.integers(1, 4)),
            {"cpu": int(rng.integers(1, 20)), "onheap_mb": int(rng.integers(1, 4))},
        )
        for i in range(int(rng.integers(2, most_components + 1)))
    )
    streams = tuple(
        Stream(a.id, b.id)
        for a in components
        for b in components
        if a is not b and rng.random() < 0.5
    )
    return Topology("t", components, streams, worker_max_heap_mb=heap_mb)


def racked(rng: Generator) -> Instance:
    """Return a topology on two racks with one or two equal nodes each; only the network counts."""
    each = int(rng.integers(1, 3))
    resources = {"cpu": int(rng.integers(15, 60)), "memory_mb": 100}
    nodes = tuple(Node(f"n{i}", f"r{i % 2}", "", 4, resources) for i in range(2 * each))
    topology = network_topology(rng, most_components=3, heap_mb=None)
    return Instance("racked", Cluster(nodes), (topology,), objective=Objective(("network",)))


def small_instance(rng: Generator, workers: str) -> Instance:
    """Return a topology on a few nodes: with single workers, one component in each, or split."""
    heap = None if workers == "single" else int(rng.integers(3, 8))
    topology = network_topology(rng, most_components=3, heap_mb=heap)
    topology = replace(topology, one_component_per_worker=workers == "isolated")
    sizes = [int(size) for size in rng.integers(15, 60, 2)]
    memory, slots, racks = (int(x) for x in rng.integers((4, 1, 1), (20, 5, 3)))
    nodes = tuple(
        Node(f"n{i}", f"r{i % racks}", "", slots, {"cpu": sizes[i % 2], "memory_mb": memory})
        for i in range(int(rng.integers(1, 5)))
    )
    return Instance("pieced", Cluster(nodes), (topology,), objective=Objective(("network",)))
