"""Topologies of tiny instances: components, streams, and every rule about workers."""

from __future__ import annotations

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
    links = _linked_components(choose, tasks, dims, rates, most_components)
    components = tuple(component for component, _ in links)
    ids = [component.id for component in components]
    chain = tuple(stream for _, stream in links if stream is not None)
    isolation = pick(choose, ("none",) * 8 + ("task", "component", "component", "both"))
    return Topology(
        id=key,
        components=components,
        streams=chain + _extra_streams(choose, ids, rates),
        priority=pick(choose, (0, 1, 3)),
        worker_max_heap_mb=_heap_limit(choose, dims),
        constraints=_constraints(choose, ids),
        one_task_per_worker=isolation in ("task", "both"),
        one_component_per_worker=isolation in ("component", "both"),
        shared_memory=_shared(choose, ids) if "memory_mb" in dims else (),
        ackers=ackers,
    )


def with_tasks(topology: Topology, least: int = 1) -> Topology:
    """Return the topology with `least` tasks, ackers included, of which one is no acker.

    Where there are fewer, the first component gets more.
    """
    own = sum(component.parallelism for component in topology.components)
    ackers = topology.ackers.count if topology.ackers else 0
    missing = max(least - own - ackers, 1 - own, 0)
    first, *others = topology.components
    first = replace(first, parallelism=first.parallelism + missing)
    return replace(topology, components=(first, *others))


def _linked_components(
    choose: Chooser, tasks: int, dims: tuple[str, ...], rates: bool, most: int
) -> list[tuple[Component, Stream | None]]:
    """Return components for so many tasks, each with a stream from the one before, or without."""
    made: list[Component] = []
    left = tasks

    def make() -> tuple[Component, Stream | None] | None:
        nonlocal left
        if made and left <= 0:
            return None
        parallelism = 0 if chance(choose, 8) else min(left, choose.whole(1, 3))
        left -= parallelism
        kind = "bolt" if made else "spout"
        name = f"bolt-{len(made)}" if made else "spout"
        component = Component(name, kind, parallelism, _demand(choose, dims))
        linked = not chance(choose, 15)
        before = made[-1].id if made else name
        stream = _stream(choose, before, name, rates) if linked else None
        made.append(component)
        return component, stream if before != name else None

    return choose.parts(1, most, make)


def _demand(choose: Chooser, dims: tuple[str, ...]) -> dict[str, Decimal]:
    """Return what a task needs; the choices do not depend on `dims`, so that they shrink apart."""
    cpu = pick(choose, ("10", "20", "35", "0", "15.1", "30", "25"))
    onheap = pick(choose, ("16", "32", "0", "60", "20.1", "40"))
    offheap = pick(choose, ("8", "30", "0.1")) if chance(choose, 40) else None
    gpu = pick(choose, ("1", "0.1", "0.2", "0.5")) if chance(choose, 35) else None
    amounts = {
        "cpu": cpu if "cpu" in dims else None,
        "onheap_mb": onheap if "memory_mb" in dims else None,
        "offheap_mb": offheap if "memory_mb" in dims else None,
        "gpu": gpu if "gpu" in dims else None,
    }
    return {key: Decimal(amount) for key, amount in amounts.items() if amount is not None}


def _heap_limit(choose: Chooser, dims: tuple[str, ...]) -> Decimal | None:
    if "memory_mb" not in dims or not chance(choose, 35):
        return None
    return Decimal(pick(choose, ("100", "64", "40", "20.1")))


def _extra_streams(choose: Chooser, ids: list[str], rates: bool) -> tuple[Stream, ...]:
    """Return up to two streams between any components, those from one to itself among them."""

    def make() -> Stream:
        source, target = pick(choose, ids), pick(choose, ids)
        return _stream(choose, source, target, rates)

    return tuple(choose.parts(0, choose.whole(0, 2), make))


def _stream(choose: Chooser, source: str, target: str, rates: bool) -> Stream:
    """Return a stream; the choices do not depend on `rates`, so that they shrink apart."""
    grouping = pick(choose, GROUPINGS)
    rate = Decimal(pick(choose, ("12", "1", "0", "7.5", "10", "3")))
    size = pick(choose, (None, Decimal(2), Decimal("0.5")))
    return (
        Stream(source, target, grouping, rate, size) if rates else Stream(source, target, grouping)
    )


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
