"""Instances of 15 to 40 tasks with a mix of rules: too large to enumerate, small enough to prove.

Tasks are planted on nodes (`planted`), then rules are added that the planted placement may or may
not keep: the optimum, or that there is none, is for the engines to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.families.random_planted import BREAKERS, PlantedSizes, planted
from slotwise.models.instance.instance import (
    Instance,
    LinearCost,
    Objective,
    Place,
    Running,
    Scheduler,
)
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import SharedMemory, Topology
from slotwise.testing.choices import Chooser, FromRng, chance, pick
from slotwise.testing.random_instances.objectives import with_any_objective
from slotwise.testing.random_instances.wide_numbers import with_wide_numbers

TERMS: tuple[tuple[str, ...], ...] = (
    ("overload", "network"),
    ("overload", "network"),
    ("overload", "network", "nodes"),
    ("network", "workers"),
    ("nodes", "overload", "network"),
    ("workers", "network"),
    ("overload+network",),
    ("rejected", "network"),
    ("rejected", "overload", "network"),
)
TERMS_RUNNING: tuple[tuple[str, ...], ...] = (
    ("moved", "network"),
    ("overload", "network", "moved"),
    ("network+moved",),
    ("rejected", "moved", "network"),
)
TERMS_LINEAR: tuple[tuple[str, ...], ...] = (
    ("network+linear",),
    ("overload", "linear", "network"),
)


def mid_instance(rng: Generator) -> Instance:
    """Return a random instance; the same generator state gives the same instance."""
    choose = FromRng(rng)
    instance = _ruled_instance(choose, rng)
    return with_wide_numbers(choose, instance) if chance(choose, 25) else instance


def _ruled_instance(choose: Chooser, rng: Generator) -> Instance:
    instance, placement = planted("mid", _shape(choose), rng)
    if chance(choose, 10):
        instance = pick(choose, tuple(BREAKERS.values()))(instance)
    instance = replace(
        instance,
        topologies=tuple(_with_rules(choose, t) for t in instance.topologies),
        scheduler=Scheduler(worker_min_cpu=Decimal(pick(choose, (0, 0, 25, 60)))),
    )
    if chance(choose, 40):
        return with_any_objective(choose, instance, _places(choose, instance, placement))
    kind = choose.whole(0, 5)
    if kind == 0:
        return _running(choose, instance, placement)
    if kind == 1:
        return replace(
            instance, linear=_linear(choose, instance), objective=_objective(choose, TERMS_LINEAR)
        )
    return replace(instance, objective=_objective(choose, TERMS))


def _shape(choose: Chooser) -> PlantedSizes:
    topologies = choose.whole(1, 2)
    return PlantedSizes(
        tasks=min(choose.whole(15, 40), choose.whole(15, 40)),
        components=choose.whole(topologies + 1, 5),
        topologies=topologies,
        nodes=min(choose.whole(4, 10), choose.whole(4, 10)),
        racks=choose.whole(1, 3),
        tightness_percent=choose.whole(40, 90),
        heterogeneity_percent=pick(choose, (0, 0, 30, 60)),
    )


def _objective(choose: Chooser, terms: Sequence[tuple[str, ...]]) -> Objective:
    soft = {"cpu": choose.whole(1, 3)} if chance(choose, 50) else {}
    return Objective(pick(choose, terms), soft)


def _with_rules(choose: Chooser, topology: Topology) -> Topology:
    """Add shared memory, isolation and a priority."""
    ids = [component.id for component in topology.components]
    kind = pick(choose, ("none", "none", "onheap", "offheap_worker", "offheap_node"))
    users = (pick(choose, ids),)
    shared = () if kind == "none" else (SharedMemory("cache", kind, Decimal(32), users),)
    return replace(
        topology,
        shared_memory=shared,
        one_component_per_worker=chance(choose, 10),
        priority=choose.whole(0, 2),
    )


def _running(choose: Chooser, instance: Instance, placement: Placement) -> Instance:
    """Let most tasks run where they were planted; count or limit the moves."""
    objective = _objective(choose, TERMS_RUNNING)
    limits = {"moved": choose.whole(1, 8)} if chance(choose, 50) else {}
    return replace(
        instance,
        running=_places(choose, instance, placement),
        objective=replace(objective, limits=limits),
    )


def _places(choose: Chooser, instance: Instance, placement: Placement) -> Running:
    """Return where most tasks were planted."""
    running: dict[str, dict[str, Place]] = {}
    nodes = instance.cluster.nodes
    for (topology, task), n, label in zip(
        instance.task_names(), placement.nodes, placement.workers, strict=True
    ):
        if chance(choose, 85):
            running.setdefault(topology, {})[task] = Place(nodes[n].id, label)
    return running


def _linear(choose: Chooser, instance: Instance) -> tuple[LinearCost, ...]:
    """Return costs of some components on some nodes; their tasks stay interchangeable."""
    rows = []
    for topology in instance.topologies:
        for component in topology.components:
            for node in instance.cluster.nodes:
                cost = Decimal(choose.whole(1, 3)) if chance(choose, 15) else Decimal(0)
                rows += [
                    LinearCost(f"{topology.id}/{component.id}[{i}]", node.id, cost)
                    for i in range(component.parallelism)
                    if cost
                ]
    return tuple(rows)
