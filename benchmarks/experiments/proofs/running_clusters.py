"""Random clusters on which a topology runs: 10 to 60 tasks, 4 to 12 nodes, 1 to 3 racks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem

STARTS = ("round-robin", "ras-round-robin")
"""What placed the tasks that run: the first of these whose placement is valid."""


def running_clusters(seed: int) -> Iterator[Instance]:
    """Yield instances with `running` and the terms network, then moved, without end."""
    number = 0
    while True:
        rng = np.random.default_rng((seed, number))
        placed = _with_running(_empty(rng, f"running-{seed}-{number}"))
        number += 1
        if placed is not None:
            yield placed


def _with_running(instance: Instance) -> Instance | None:
    problem = compile_problem(instance)
    for name in STARTS:
        placement = run_method(problem, find_method(name), seed=0)
        if isinstance(placement, Placement) and judge(problem, placement).valid:
            running = to_places(instance, placement)
            return replace(instance, running=running, objective=Objective(("network", "moved")))
    return None


def _empty(rng: Generator, name: str) -> Instance:
    tasks, nodes = int(rng.integers(10, 61)), int(rng.integers(4, 13))
    components = drawn_components(rng, tasks, int(rng.integers(3, 7)))
    names = [one.id for one in components]
    ends = {(names[int(rng.integers(0, i))], names[i]) for i in range(1, len(names))}
    if rng.random() < 0.4:
        first, second = sorted(rng.choice(len(names), 2, replace=False).tolist())
        ends.add((names[first], names[second]))
    streams = tuple(Stream(a, b, "shuffle") for a, b in sorted(ends))
    topology = Topology("t", components, streams, worker_max_heap_mb=None)
    cluster = _cluster(rng, components, nodes)
    return Instance(name, cluster, (topology,), objective=Objective(("network",)))


def drawn_components(rng: Generator, tasks: int, count: int) -> tuple[Component, ...]:
    """Return components with a number of tasks in all; the first is a spout."""
    cuts = sorted(rng.choice(np.arange(1, tasks), count - 1, replace=False).tolist())
    components = []
    for i, size in enumerate(np.diff([0, *cuts, tasks]).tolist()):
        demand = {
            "cpu": Decimal(int(rng.choice([10, 20, 25, 50]))),
            "onheap_mb": Decimal(int(rng.choice([128, 256, 512]))),
        }
        components.append(Component(f"c{i}", "bolt" if i else "spout", size, demand))
    return tuple(components)


def _cluster(rng: Generator, components: tuple[Component, ...], count: int) -> Cluster:
    """Return nodes, half the time of two sizes, with 1.2 to 2 times the demanded room in all."""
    racks, slack, is_mixed = int(rng.integers(1, 4)), rng.uniform(1.2, 2.0), rng.random() < 0.5
    nodes = []
    for n in range(count):
        share = slack * (1.5 if is_mixed and n % 2 == 0 else 1.0) / count
        room = {"cpu": _room(components, "cpu", share, 10)}
        room["memory_mb"] = _room(components, "onheap_mb", share, 128)
        nodes.append(Node(f"n{n}", f"r{n % racks}", slots=4, resources=room))
    return Cluster(tuple(nodes))


def _room(components: tuple[Component, ...], resource: str, share: float, step: int) -> Decimal:
    demand = sum(int(one.resources[resource]) * one.parallelism for one in components)
    return Decimal(int(-(-demand * share // step)) * step)
