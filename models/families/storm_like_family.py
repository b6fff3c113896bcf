"""Topologies with the statistics of two decoded Storm clusters, drawn by seed.

They allow progress to be measured on topologies that nobody has tuned for. Each instance is one
topology alone on an empty cluster, as in the family ``storm``. `storm_like_statistics` defines the
statistics of a topology and holds the measured ones (``data/storm_like.json``),
`storm_like_streams` draws streams and parallelism from it; demands and nodes are drawn here. Both
families draw alike, from halves of the seeds: seed S of ``storm-like`` is 2 S of the draw, of
``storm-like-held-out`` 2 S + 1. Progress is measured on the first; the second is for final figures
only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Decimal

import numpy as np
from numpy.random import Generator

from slotwise.models.errors import InputError
from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.families.storm_like_statistics import (
    Kind,
    NodeKind,
    Tables,
    cpu,
    interpolated,
    kind_of,
    memory,
    onheap,
    tables,
    with_tasks,
)
from slotwise.models.families.storm_like_streams import Structure, draw_parallelism, draw_structure
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.values import whole

NAME = "storm-like"
HELD_OUT = f"{NAME}-held-out"
COUNT = 100

ATTEMPTS = 20_000
"""Most topologies drawn until one has the right size."""

NEAR = 1.25
"""A number of tasks is near another one if neither is more than this times the other."""


@dataclass(frozen=True, slots=True)
class StormLike:
    """Least and most tasks of the topologies."""

    least_tasks: int = 50
    most_tasks: int = 5000

    def __post_init__(self) -> None:
        """Check each number, then their order."""
        for field in fields(self):
            whole(getattr(self, field.name), field.name, least=1)
        if self.least_tasks > self.most_tasks:
            rule = f"must be at most most_tasks ({self.most_tasks})"
            raise InputError(rule, field="least_tasks", value=self.least_tasks)


def storm_like(sizes: StormLike, *, held_out: bool = False) -> Family[Instance]:
    """Return the family of topologies of these sizes, of one half of the seeds."""
    name = HELD_OUT if held_out else NAME

    def make(index: int, seed: int) -> Instance:
        check_index(name, index)
        return _instance(f"{prefix}-{seed}-{index:04d}", sizes, rng_of(index, seed, held_out))

    prefix = name
    if sizes != StormLike():
        prefix = f"{name}-{sizes.least_tasks}-{sizes.most_tasks}"
    purpose = "held out for final figures" if held_out else "for development"
    return Family(
        name=name,
        description=f"Topologies with the statistics of two Storm clusters, {purpose}",
        count=COUNT,
        make=make,
        parameters=asdict(sizes),
        held_out=held_out,
        with_tasks=lambda least, most: storm_like(StormLike(least, most), held_out=held_out),
    )


def rng_of(index: int, seed: int, held_out: bool) -> Generator:
    """Return the generator of an instance; even numbers are for development, odd ones held out."""
    return child_rng(NAME, 2 * seed + held_out, index)


def draw_topology(
    rng: Generator, name: str = "topology", sizes: StormLike | None = None
) -> Topology:
    """Return a topology drawn from the statistics; ``None`` = of any size.

    With sizes, the number of tasks is drawn first, from those measured of such sizes; then
    topologies, until one is near it.

    Raises
    ------
    InputError
        Where `ATTEMPTS` draws have none.
    """
    known = tables().kinds
    weights = [kind.topologies for kind in known.values()]
    shares = [weight / sum(weights) for weight in weights]
    least, most = (1, math.inf) if sizes is None else _near(sizes, rng)
    for _ in range(ATTEMPTS):
        shape = list(known)[int(rng.choice(len(shares), p=shares))]
        structure = draw_structure(shape, known[shape], rng)
        tasks = draw_parallelism(structure, known[shape], rng)
        if least <= sum(tasks) <= most:
            return _topology(name, structure, tasks, known[shape], rng)
    rule = f"no topology of {least:.0f} to {most:.0f} tasks among {ATTEMPTS} draws"
    raise InputError(f"{rule}; allow more sizes", field="tasks", has_value=False)


def _near(sizes: StormLike, rng: Generator) -> tuple[float, float]:
    """Return the least and most tasks that are near a drawn number, all of the sizes."""
    measured = tables().all["tasks"]
    within = [one for one in measured if sizes.least_tasks <= one <= sizes.most_tasks]
    ends = (sizes.least_tasks, *within, sizes.most_tasks)
    number = math.exp(interpolated(tuple(map(math.log, ends)), float(rng.random())))
    return max(sizes.least_tasks, number / NEAR), min(sizes.most_tasks, number * NEAR)


def _topology(
    name: str, structure: Structure, tasks: tuple[int, ...], kind: Kind, rng: Generator
) -> Topology:
    demands = draw_demands(tasks, kind, rng)
    fed = {target for _, target in structure.streams}
    kinds = ["bolt" if index in fed else "spout" for index in range(len(tasks))]
    ids = [f"{one}-{index}" for index, one in enumerate(kinds)]
    components = tuple(
        Component(ids[index], kinds[index], tasks[index], _resources(demands, index))
        for index in range(len(tasks))
    )
    heap = None if demands.worker_max_heap_mb is None else Decimal(demands.worker_max_heap_mb)
    return Topology(
        id=name,
        components=components,
        streams=tuple(Stream(ids[a], ids[b]) for a, b in structure.streams),
        strategy="ras-default",
        worker_max_heap_mb=heap,
        one_component_per_worker=bool(rng.random() < kind.one_component_per_worker),
    )


def _resources(demands: Demands, index: int) -> dict[str, Decimal]:
    resources = {"cpu": Decimal(demands.cpu[index]), "onheap_mb": Decimal(demands.onheap_mb[index])}
    if demands.offheap_mb[index]:
        resources["offheap_mb"] = Decimal(demands.offheap_mb[index])
    return resources


def _instance(name: str, sizes: StormLike, rng: Generator) -> Instance:
    """Return a topology on a cluster that holds it, its kind in the name; else draw both again."""
    for _ in range(ATTEMPTS):
        topology, cluster = draw_topology(rng, "topology", sizes), draw_cluster(tables(), rng)
        if holds(cluster, topology):
            return Instance(
                name=f"{name}-{kind_of(topology)}", cluster=cluster, topologies=(topology,)
            )
    rule = f"no cluster holds a topology of {sizes.least_tasks} to {sizes.most_tasks} tasks"
    raise InputError(f"{rule}; allow smaller ones", field="tasks", has_value=False)


STORM_LIKE = storm_like(StormLike())
STORM_LIKE_HELD_OUT = storm_like(StormLike(), held_out=True)


# Racks of nodes like those of the two clusters, and whether they hold a topology.

MIXED = 0.5
"""Probability that the racks of a cluster are of several kinds."""

MOST_LOAD = 0.7
"""Largest share of a cluster that its topology may fill; in the data at most 0.68."""


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


# Demands of the tasks of a drawn topology: cpu, memory on and off the heap, and a worker's heap.

DEMAND_ATTEMPTS = 20
"""Most draws of a further demand that must differ from those before."""

MOST_CPU, MOST_MEMORY_MB = 1800, 45000
"""Largest demands of a task in the clusters."""

HEAP_STEP_MB = 64
OTHER_OFFHEAP = 0.15
"""Probability that a component's off-heap memory differs from that of the others."""


@dataclass(frozen=True, slots=True)
class Demands:
    """Of a task of each component: cpu in points, memory in MB; and the heap of a worker, MB."""

    cpu: tuple[int, ...]
    onheap_mb: tuple[int, ...]
    offheap_mb: tuple[int, ...]
    worker_max_heap_mb: int | None


def draw_demands(tasks: Sequence[int], kind: Kind, rng: Generator) -> Demands:
    """Return the demands of components with these numbers of tasks; some share a demand."""
    originals = _originals(tasks, round(kind.draw("types", rng) * len(tasks)), rng)
    drawn = _draw_different(len(tasks), sorted(set(originals)), kind, rng)
    cpu, onheap, offheap = zip(*(drawn[one] for one in originals), strict=True)
    heap = max(onheap) * kind.draw_size("heap", rng)
    return Demands(
        cpu,
        onheap,
        offheap,
        math.ceil(heap / HEAP_STEP_MB) * HEAP_STEP_MB if heap else None,
    )


def _originals(tasks: Sequence[int], wanted: int, rng: Generator) -> list[int]:
    """Return for each component the one whose demand it has, for about `wanted` different ones.

    A component has its own demand if it is the first with its number of tasks, or while there are
    too few different ones.
    """
    originals = list(range(len(tasks)))
    missing = max(0, wanted - len(set(tasks)))
    first: dict[int, list[int]] = {}
    others = []
    for place in (int(one) for one in rng.permutation(len(tasks))):
        if tasks[place] not in first:
            first[tasks[place]] = [place]
        elif missing:
            first[tasks[place]].append(place)
            missing -= 1
        else:
            others.append(place)
    for place in others:
        originals[place] = int(rng.choice(first[tasks[place]]))
    return originals


def _draw_different(
    count: int, places: Sequence[int], kind: Kind, rng: Generator
) -> dict[int, tuple[int, int, int]]:
    """Return cpu, on-heap and off-heap memory of the components in `places`, of `count` in all."""
    idle = round(kind.draw("idle", rng) * count)
    busy = len(places) - min(len(places) - 1, idle)
    cpus = _values("cpu", count, busy, kind, rng)
    memories = _values("memory", count, busy, kind, rng)
    measured = kind.draw("correlation", rng)
    correlation = math.copysign(math.sqrt(abs(measured)), measured)  # ties will weaken it
    first = rng.standard_normal(busy)
    second = correlation * first + math.sqrt(1 - correlation**2) * rng.standard_normal(busy)
    shuffled = [int(one) for one in rng.permutation(list(places))]
    by_rank = zip(shuffled[:busy], _by_rank(cpus, first), _by_rank(memories, second), strict=True)
    drawn = dict.fromkeys(places, (0, 0, 0))
    usual_offheap = _offheap(kind, rng) if kind.draw("offheap", rng) >= 0.5 else 0
    for place, points, megabytes in by_rank:
        offheap = 0
        if usual_offheap:
            other = rng.random() < OTHER_OFFHEAP
            offheap = min(_offheap(kind, rng) if other else usual_offheap, megabytes // 2)
        drawn[place] = (points, megabytes - offheap, offheap)
    return drawn


def usual_cpu(points: float) -> int:
    """Return the points that people would choose for a task of about `points`."""
    step = 1 if points < 20 else 5 if points < 150 else 50
    return min(MOST_CPU, max(1, round(points / step) * step))


def usual_memory(megabytes: float) -> int:
    """Return the MB that people would choose for a task of about `megabytes`."""
    step = 32 if megabytes < 1024 else 128 if megabytes < 8192 else 1024
    return min(MOST_MEMORY_MB, max(32, round(megabytes / step) * step))


def _values(what: str, count: int, busy: int, kind: Kind, rng: Generator) -> list[int]:
    """Return `busy` sorted demands, of the level and as many different ones as drawn."""
    snapped = usual_cpu if what == "cpu" else usual_memory
    level = kind.draw_size(f"{what}_level", rng)
    wanted = min(busy, max(1, round(kind.draw(f"{what}_kinds", rng) * count)))
    steps = [snapped(level)]
    for _ in range(DEMAND_ATTEMPTS * wanted):
        if len(steps) == wanted:
            break
        value = snapped(level * 2 ** kind.draw(f"{what}_ratio", rng))
        if value not in steps:
            steps.append(value)
    cuts = np.sort(rng.choice(busy - 1, len(steps) - 1, replace=False)) + 1 if busy > 1 else ()
    sizes = np.diff(np.array([0, *cuts, busy]))
    ordered = sorted((int(one) for one in sizes), reverse=True)
    return sorted(value for value, size in zip(steps, ordered, strict=True) for _ in range(size))


def _by_rank(values: Sequence[int], ranked: Sequence[float] | np.ndarray) -> list[int]:
    """Return the sorted `values` in the order of `ranked`: the least where that is least."""
    restored = [0] * len(values)
    for value, place in zip(values, np.argsort(ranked, kind="stable"), strict=True):
        restored[int(place)] = value
    return restored


def _offheap(kind: Kind, rng: Generator) -> int:
    values = kind.values["offheap_mb"]
    return round(values[int(rng.integers(len(values)))])
