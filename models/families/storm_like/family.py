"""The families ``storm-like`` and ``storm-like-held-out``.

Both draw alike, from halves of the seeds: seed S of the first is 2 S of the draw, of the second
2 S + 1. Progress is measured on the first; the second is for final figures only.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.errors import InputError
from slotwise.models.families.family import Family, check_index, child_rng
from slotwise.models.families.storm_like.cluster import draw_cluster, holds
from slotwise.models.families.storm_like.demands import Demands, draw_demands
from slotwise.models.families.storm_like.parallelism import draw_parallelism
from slotwise.models.families.storm_like.statistics import kind_of
from slotwise.models.families.storm_like.streams import Structure, draw_structure
from slotwise.models.families.storm_like.tables import Kind, interpolated, tables
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.values import whole

NAME = "storm-like"
HELD_OUT = f"{NAME}-held-out"
COUNT = 100

ATTEMPTS = 20_000
"""So many topologies are drawn until one has the right size."""

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
    """Return a topology of the statistics; ``None`` = of any size.

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
    found = {"cpu": Decimal(demands.cpu[index]), "onheap_mb": Decimal(demands.onheap_mb[index])}
    if demands.offheap_mb[index]:
        found["offheap_mb"] = Decimal(demands.offheap_mb[index])
    return found


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
