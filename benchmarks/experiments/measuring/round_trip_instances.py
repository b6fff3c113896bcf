"""Random instances whose weights are known, and what is left of them without weights."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology

NODES, RACKS, SLOTS = 4, 2, 4
WORKERS = 2
"""In which tasks run on a node while the logs are written."""
GROUPINGS = ("shuffle", "fields", "local_or_shuffle", "all", "global")
LARGEST = Decimal("2.3")
"""Least capacity of a node over the largest demand: with a whole number, tasks would just fit."""
USED = 0.6
"""Share of the cluster that the tasks need."""


def draw_instance(index: int, attempt: int, seed: int) -> Instance:
    """Return an instance with 3 to 5 components in a random graph without cycles."""
    rng = np.random.default_rng([seed, index, attempt])
    names = [f"c{number}" for number in range(int(rng.integers(3, 6)))]
    streams = []
    rate = dict.fromkeys(names, 0.0)
    rate[names[0]] = float(rng.integers(200, 2000))
    tasks = {name: int(rng.integers(1, 4)) for name in names}
    for at, target in enumerate(names[1:], start=1):
        sources = rng.choice(at, size=int(rng.integers(1, min(at, 2) + 1)), replace=False)
        for source in sorted(int(one) for one in sources):
            stream = _stream(rng, names[source], target, rate[names[source]])
            copies = tasks[target] if stream.grouping == "all" else 1
            rate[target] += float(stream.rate or 0) * copies
            streams.append(stream)
    components = tuple(
        Component(
            name,
            "bolt" if any(one.target == name for one in streams) else "spout",
            tasks[name],
            {"cpu": _number(rng, 10, 60), "onheap_mb": _number(rng, 100, 600)},
        )
        for name in names
    )
    return Instance(
        name=f"round-trip-{index}",
        cluster=_cluster(components),
        topologies=(Topology(f"t{index}", components, tuple(streams)),),
        objective=Objective(("network",)),
        flow="rates",
    )


def _stream(rng: np.random.Generator, source: str, target: str, intake: float) -> Stream:
    """Return a stream that carries a share of what its source takes in, or more."""
    rate = Decimal(str(round(intake * float(rng.uniform(0.3, 2)), 1)))
    return Stream(source, target, str(rng.choice(GROUPINGS)), rate, _number(rng, 50, 5000))


def _number(rng: np.random.Generator, least: int, most: int) -> Decimal:
    return Decimal(int(rng.integers(100 * least, 100 * most))) / 100


def _cluster(components: tuple[Component, ...]) -> Cluster:
    """Return equal nodes of which the tasks need `USED`, with room for any two tasks on one."""

    def capacity(resource: str) -> Decimal:
        needs = [(one.resources[resource], one.parallelism) for one in components]
        whole = sum(need * count for need, count in needs) / Decimal(str(NODES * USED))
        return max(whole, LARGEST * max(need for need, _ in needs)).quantize(Decimal(1))

    offered = {"cpu": capacity("cpu"), "memory_mb": capacity("onheap_mb")}
    return Cluster(
        tuple(Node(f"n{n}", f"r{n % RACKS}", slots=SLOTS, resources=offered) for n in range(NODES))
    )


def draw_placement(instance: Instance, index: int, seed: int) -> Placement:
    """Return a random placement in `WORKERS` workers a node; capacities play no part."""
    rng = np.random.default_rng([seed, index])
    count = len(instance.task_names())
    nodes = tuple(int(one) for one in rng.integers(0, NODES, count))
    return Placement(nodes, tuple(int(one) for one in rng.integers(0, WORKERS, count)))


def without_weights(instance: Instance) -> Instance:
    """Return the instance as its author knows it before it has run.

    That is its shape and the memory of tasks, which authors state because Storm needs it; neither
    cpu nor rates nor sizes of tuples.
    """
    return replace(
        instance,
        topologies=tuple(
            replace(
                topology,
                components=tuple(
                    replace(c, resources={"onheap_mb": c.resources["onheap_mb"]})
                    for c in topology.components
                ),
                streams=tuple(replace(s, rate=None, tuple_bytes=None) for s in topology.streams),
            )
            for topology in instance.topologies
        ),
        flow="pairs",
    )


def with_demands(instance: Instance, factor: Decimal) -> Instance:
    """Return the instance with all demands times `factor`."""
    return replace(
        instance,
        topologies=tuple(
            replace(
                topology,
                components=tuple(
                    replace(
                        c, resources={name: need * factor for name, need in c.resources.items()}
                    )
                    for c in topology.components
                ),
            )
            for topology in instance.topologies
        ),
    )
