"""Topologies of tiny instances: components, streams, and every rule about workers."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal

from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.testing.choices import Chooser, chance, pick

GROUPINGS = ("shuffle", "global", "all", "fields", "global", "all", "local_or_shuffle")


def make_topology(
    choose: Chooser,
    key: str,
    tasks: int,
    dims: tuple[str, ...],
    rates: bool,
    most_components: int = 5,
) -> Topology:
    """Return a topology of about `tasks` tasks whose demands are of the resources `dims`."""
    ackers = None
    if chance(choose, 15) and tasks > 1:
        ackers = Ackers(1, resources=_demand(choose, dims))
        tasks -= 1
    components: list[Component] = []
    while tasks > 0 or not components:
        parallelism = 0 if chance(choose, 8) else min(tasks, choose.whole(1, 3))
        kind = "bolt" if components else "spout"
        name = f"bolt-{len(components)}" if components else "spout"
        components.append(Component(name, kind, parallelism, _demand(choose, dims)))
        tasks -= parallelism
        if len(components) == most_components:
            break
    ids = [component.id for component in components]
    isolation = pick(choose, ("none",) * 8 + ("task", "component", "component", "both"))
    return Topology(
        id=key,
        components=tuple(components),
        streams=_streams(choose, ids, rates),
        priority=pick(choose, (0, 1, 3)),
        worker_max_heap_mb=_heap_limit(choose, dims),
        constraints=_constraints(choose, ids),
        one_task_per_worker=isolation in ("task", "both"),
        one_component_per_worker=isolation in ("component", "both"),
        shared_memory=_shared(choose, ids) if "memory_mb" in dims else (),
        ackers=ackers,
    )


def with_tasks(topology: Topology) -> Topology:
    """Return the topology with a task of its first component if it has no task at all."""
    if any(component.parallelism for component in topology.components):
        return topology
    first, *others = topology.components
    return replace(topology, components=(replace(first, parallelism=1), *others))


def _demand(choose: Chooser, dims: tuple[str, ...]) -> dict[str, Decimal]:
    demand: dict[str, Decimal] = {}
    if "cpu" in dims:
        demand["cpu"] = Decimal(pick(choose, ("10", "20", "35", "0", "15.1", "30", "25")))
    if "memory_mb" in dims:
        demand["onheap_mb"] = Decimal(pick(choose, ("16", "32", "0", "60", "20.1", "40")))
        if chance(choose, 40):
            demand["offheap_mb"] = Decimal(pick(choose, ("8", "30", "0.1")))
    if "gpu" in dims and chance(choose, 35):
        demand["gpu"] = Decimal(pick(choose, ("1", "0.1", "0.2", "0.5")))
    return demand


def _heap_limit(choose: Chooser, dims: tuple[str, ...]) -> Decimal | None:
    if "memory_mb" not in dims or not chance(choose, 35):
        return None
    return Decimal(pick(choose, ("100", "64", "40", "20.1")))


def _streams(choose: Chooser, ids: list[str], rates: bool) -> tuple[Stream, ...]:
    pairs = [(a, b) for a, b in itertools.pairwise(ids) if not chance(choose, 15)]
    for _ in range(choose.whole(0, 2)):
        pairs.append((pick(choose, ids), pick(choose, ids)))
    return tuple(_stream(choose, a, b, rates) for a, b in pairs)


def _stream(choose: Chooser, source: str, target: str, rates: bool) -> Stream:
    grouping = pick(choose, GROUPINGS)
    if not rates:
        return Stream(source, target, grouping)
    rate = Decimal(pick(choose, ("12", "1", "0", "7.5", "10", "3")))
    size = pick(choose, (None, Decimal(2), Decimal("0.5")))
    return Stream(source, target, grouping, rate, size)


def _constraints(choose: Chooser, ids: list[str]) -> Constraints:
    incompatible = []
    if chance(choose, 35):
        incompatible.append((ids[0], ids[-1]))
    if chance(choose, 15):
        one = pick(choose, ids)
        incompatible.append((one, one))
    most = {pick(choose, ids): choose.whole(1, 2)} if chance(choose, 20) else {}
    return Constraints(tuple(incompatible), most)


def _shared(choose: Chooser, ids: list[str]) -> tuple[SharedMemory, ...]:
    regions = []
    for kind in ("onheap", "offheap_worker", "offheap_node"):
        if chance(choose, 30):
            members = [key for key in ids if chance(choose, 50)] or ids[:1]
            size = Decimal(pick(choose, ("10", "25", "40", "30.5")))
            regions.append(SharedMemory(f"{kind}-region", kind, size, tuple(members)))
    return tuple(regions)
