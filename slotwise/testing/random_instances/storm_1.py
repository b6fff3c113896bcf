"""Seeded random instances for the comparison with the scheduler of Storm 1.0.6.

`story` is one of `storm` without what 1.0.6 lacks. `tight_story` is made to be filled to
the last digit: few nodes, demands in tenths, capacities that are sums of demands, guarantees and
priorities that evict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.families.family import child_rng, draw
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import Ackers, Component, Constraints, Stream, Topology
from slotwise.testing.choices import FromRng, pick
from slotwise.testing.random_instances import storm
from slotwise.testing.random_instances.storm import Story

KNOWN = ("cpu", "memory_mb", "onheap_mb", "offheap_mb")
"""The resources of Storm 1.0.6."""


def story(seed: int, index: int) -> Story:
    """Return story `index` of `seed`."""
    one = storm.story(seed, index)
    arrivals = tuple(tuple(stripped(topology) for topology in group) for group in one.arrivals)
    return replace(one, first=for_storm_1(one.first), arrivals=arrivals)


def for_storm_1(instance: Instance) -> Instance:
    """Return `instance` without rules, resources and priorities that Storm 1.0.6 lacks."""
    return replace(
        instance,
        topologies=tuple(stripped(topology) for topology in instance.topologies),
        scheduler=Scheduler(pools=instance.scheduler.pools),
    )


def stripped(topology: Topology) -> Topology:
    """Return `topology` with cpu and memory only, without rules and shared memory."""
    ackers = topology.ackers
    return replace(
        topology,
        components=tuple(
            replace(one, resources=_known(one.resources)) for one in topology.components
        ),
        ackers=replace(ackers, resources=_known(ackers.resources)) if ackers else None,
        constraints=Constraints(),
        one_task_per_worker=False,
        one_component_per_worker=False,
        shared_memory=(),
    )


def _known(resources: Mapping[str, Decimal]) -> dict[str, Decimal]:
    return {key: amount for key, amount in resources.items() if key in KNOWN}


def tight_story(seed: int, index: int) -> Story:
    """Return tight story `index` of `seed`."""
    rng = child_rng("storm-1-tight", seed, index)
    names = [f"t{draw(rng, 0, 10**6)}-{number}" for number in range(draw(rng, 3, 6))]
    owners = [f"u{draw(rng, 0, 10**6)}" for _ in range(draw(rng, 1, 2))]
    topologies = [_topology(rng, name, pick(FromRng(rng), owners)) for name in names]
    early = draw(rng, 1, len(topologies) - 1)
    pools = {
        owner: {"cpu": Decimal(draw(rng, 1, 40)), "memory_mb": Decimal(draw(rng, 1, 40))}
        for owner in owners
    }
    cluster = _cluster(rng, topologies)
    first = Instance(
        f"tight-{seed}-{index}", cluster, tuple(topologies[:early]), Scheduler(pools=pools)
    )
    return Story(first, (tuple(topologies[early:]),), pick(FromRng(rng), (0, 0, 50)))


def _cluster(rng: Generator, topologies: Sequence[Topology]) -> Cluster:
    """Return nodes each of which some of the tasks fill exactly."""
    tasks = [
        component.resources
        for topology in topologies
        for component in topology.placed_components
        for _ in range(component.parallelism)
    ]
    nodes = []
    for number in range(draw(rng, 1, 4)):
        chosen = [pick(FromRng(rng), tasks) for _ in range(draw(rng, 2, 12))]
        capacity = {
            "cpu": sum((one["cpu"] for one in chosen), Decimal(0)),
            "memory_mb": sum((one["onheap_mb"] for one in chosen), Decimal(0)),
        }
        name = f"n{draw(rng, 0, 10**6)}-{number}"
        rack = f"r{draw(rng, 0, 1)}"
        nodes.append(Node(name, rack, slots=draw(rng, 1, 6), resources=capacity))
    return Cluster(tuple(nodes))


def _topology(rng: Generator, name: str, owner: str) -> Topology:
    components = tuple(
        Component(f"c{number}", "bolt" if number else "spout", draw(rng, 1, 4), _demand(rng))
        for number in range(draw(rng, 1, 3))
    )
    heap = pick(FromRng(rng), (None, Decimal("2.1"), Decimal(4)))
    return Topology(
        id=name,
        components=components,
        streams=tuple(Stream(f"c{n}", f"c{n + 1}") for n in range(len(components) - 1)),
        owner=owner,
        priority=pick(FromRng(rng), (0, 10, 20, 29)),
        launch_time=draw(rng, 0, 3),
        worker_max_heap_mb=heap,
        ackers=Ackers(draw(rng, 0, 2), 1, _demand(rng)) if draw(rng, 0, 1) else None,
    )


def _demand(rng: Generator) -> dict[str, Decimal]:
    return {key: Decimal(draw(rng, 1, 20)) / 10 for key in ("cpu", "onheap_mb")}
