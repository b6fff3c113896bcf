"""Large instances of different shapes, on which the time limit must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology

CORES = 4
HEAP_MB = 768


def _nodes(count: int, racks: int, uneven: int | None = None) -> tuple[Node, ...]:
    """Return nodes of four cores and 8 GB; with a seed in `uneven`, each of another size."""
    scale = [1.0] * count
    if uneven is not None:
        scale = np.random.default_rng(uneven).uniform(0.7, 1.3, count).tolist()
    return tuple(
        Node(
            f"n{n}",
            f"r{n * racks // count}",
            slots=CORES,
            resources={
                "cpu": Decimal(int(100 * CORES * scale[n])),
                "memory_mb": Decimal(int(8192 * scale[n])),
            },
        )
        for n in range(count)
    )


def _topology(name: str, components: int, parallelism: int, *, rated: bool = False) -> Topology:
    """Return a chain of components with a shortcut at every fifth."""
    rng = np.random.default_rng(components)
    demand = rng.integers(5, 40, components).tolist()
    built = tuple(
        Component(
            f"c{i}",
            "bolt" if i else "spout",
            parallelism,
            {"cpu": Decimal(demand[i]), "onheap_mb": Decimal(64 + 8 * (i % 5))},
        )
        for i in range(components)
    )
    hops = [(i, i + 1) for i in range(components - 1)]
    hops += [(i, i + 3) for i in range(0, components - 3, 5)]
    rates = rng.uniform(1, 1000, len(hops)).round(3).tolist()
    streams = tuple(
        Stream(f"c{a}", f"c{b}", rate=Decimal(str(rates[i])) if rated else None)
        for i, (a, b) in enumerate(hops)
    )
    return Topology(name, built, streams, worker_max_heap_mb=Decimal(HEAP_MB))


def _one(
    components: int, parallelism: int, nodes: int, racks: int = 1, uneven: int | None = None
) -> Instance:
    cluster = Cluster(_nodes(nodes, racks, uneven))
    return Instance("time-limits", cluster, (_topology("t", components, parallelism),))


def _several(count: int, components: int, parallelism: int, nodes: int, racks: int) -> Instance:
    topologies = tuple(_topology(f"t{i}", components + i % 3, parallelism) for i in range(count))
    return Instance("time-limits", Cluster(_nodes(nodes, racks)), topologies)


def _rates(components: int, parallelism: int, nodes: int, racks: int) -> Instance:
    topology = _topology("t", components, parallelism, rated=True)
    return Instance("time-limits", Cluster(_nodes(nodes, racks)), (topology,), flow="rates")


def _matrix(components: int, parallelism: int, nodes: int) -> Instance:
    rng = np.random.default_rng(nodes)
    at = rng.integers(0, 100, (nodes, 2))
    apart = np.abs(at[:, None] - at[None]).sum(axis=2)
    cluster = Cluster(
        _nodes(nodes, 1), matrix=tuple(tuple(Decimal(d) for d in row) for row in apart.tolist())
    )
    return Instance("time-limits", cluster, (_topology("t", components, parallelism),))


def _soft(components: int, parallelism: int, nodes: int, racks: int) -> Instance:
    instance = _one(components, parallelism, nodes, racks)
    return replace(instance, objective=Objective(soft={"cpu": 1}))


SHAPES: dict[str, Callable[[], Instance]] = {
    "chain": lambda: _one(2_000, 1, 500),
    "mid": lambda: _one(20, 100, 500, racks=10),
    "uneven": lambda: _one(20, 100, 500, racks=10, uneven=1),
    "topologies": lambda: _several(40, 5, 10, 500, racks=10),
    "rates": lambda: _rates(20, 100, 500, racks=10),
    "soft": lambda: _soft(20, 100, 500, racks=10),
    "matrix": lambda: _matrix(20, 100, 500),
    "long-matrix": lambda: _matrix(400, 1, 200),
    "large": lambda: _one(50, 200, 2_000, racks=40),
    "large-uneven": lambda: _one(50, 200, 2_000, racks=40, uneven=2),
    "large-topologies": lambda: _several(100, 9, 10, 2_000, racks=40),
    "large-chain": lambda: _one(10_000, 1, 2_000, racks=4),
    "large-matrix": lambda: _matrix(100, 100, 2_000),
}
"""Name -> what makes it: one chain of components, one topology of many tasks, nodes that all
differ, several topologies, flows by rate, soft cpu, distances by matrix; ``large`` are the largest
for which the limit is promised, 10,000 tasks on 2,000 nodes."""

BEYOND: dict[str, Callable[[], Instance]] = {
    "million": lambda: _one(100, 10_000, 2_000, racks=40),
    "million-fits": lambda: _one(10, 100_000, 60_000, racks=100),
}
"""A million tasks, for which nothing is promised."""
