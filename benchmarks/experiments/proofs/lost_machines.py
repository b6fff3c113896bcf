"""Random clusters of which one or two machines died, with round robin's placement running.

6 to 40 machines in 1 to 4 racks, 1 to 5 topologies of up to 240 tasks in all, 3 to 14 orphans; each
has a placement in which nothing but orphans moves, for ten lines of first fit find one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.random import Generator

from slotwise.benchmarks.experiments.proofs.running_clusters import drawn_components
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.lost_nodes import without_nodes
from slotwise.models.instance.placement import UNPLACED, Placement, to_places
from slotwise.models.instance.topology import Stream, Topology
from slotwise.models.judge.accounting import account
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.compile import compile_problem

ORPHANS = (3, 14)
"""Fewest and most tasks of the machines that died."""
OBJECTIVES = (("network",), ("network", "nodes"), ("nodes", "network"), ("network", "workers"))


@dataclass(frozen=True, slots=True)
class LostMachines:
    """A cluster as it was, and the ids of the machines that died."""

    whole: Instance
    lost: tuple[str, ...]

    @property
    def left(self) -> Instance:
        """The instance without them."""
        return without_nodes(self.whole, self.lost)


def lost_machines(seed: int) -> Iterator[LostMachines]:
    """Yield cases without end; the same seed gives the same."""
    number = 0
    while True:
        rng = np.random.default_rng((seed, number))
        whole = _running(rng, f"lost-{seed}-{number}")
        number += 1
        if whole is None:
            continue
        count = int(rng.integers(1, 3))
        ids = [node.id for node in whole.cluster.nodes]
        case = LostMachines(whole, tuple(rng.choice(ids, count, replace=False).tolist()))
        orphans = sum(len(tasks) for tasks in case.left.lost.values())
        if ORPHANS[0] <= orphans <= ORPHANS[1] and _has_places(case.left):
            yield case


def _running(rng: Generator, name: str) -> Instance | None:
    """Return a cluster with round robin's placement running, where that keeps all rules."""
    tasks, nodes = int(rng.integers(20, 241)), int(rng.integers(6, 41))
    count = int(rng.integers(1, 6))
    cuts = sorted(rng.choice(np.arange(4, tasks - 3), count - 1, replace=False).tolist())
    sizes = np.diff([0, *cuts, tasks]).tolist()
    if min(sizes) < 4:
        return None
    topologies = tuple(_topology(rng, f"t{i}", size) for i, size in enumerate(sizes))
    terms = OBJECTIVES[int(rng.integers(len(OBJECTIVES)))]
    cluster = _cluster(rng, topologies, nodes)
    instance = Instance(name, cluster, topologies, objective=Objective(terms))
    problem = compile_problem(instance)
    placement = run_method(problem, find_method("round-robin"), seed=0)
    if not isinstance(placement, Placement) or not judge(problem, placement).valid:
        return None
    return replace(instance, running=to_places(instance, placement))


def _topology(rng: Generator, name: str, tasks: int) -> Topology:
    count = min(int(rng.integers(2, 7)), tasks)
    components = drawn_components(rng, tasks, count)
    ends = {(f"c{int(rng.integers(0, i))}", f"c{i}") for i in range(1, count)}
    streams = tuple(Stream(a, b, "shuffle") for a, b in sorted(ends))
    heap = Decimal(2048) if rng.random() < 0.5 else None
    return Topology(name, components, streams, worker_max_heap_mb=heap)


def _cluster(rng: Generator, topologies: tuple[Topology, ...], count: int) -> Cluster:
    """Return equal nodes with 1.4 to 2.2 times the demanded room in all."""
    racks, slack = int(rng.integers(1, 5)), rng.uniform(1.4, 2.2)
    room = {}
    for offered, needed, step in (("cpu", "cpu", 10), ("memory_mb", "onheap_mb", 128)):
        demand = sum(
            int(c.resources[needed]) * c.parallelism for t in topologies for c in t.components
        )
        room[offered] = Decimal(int(-(-demand * slack / count // step)) * step)
    slots = len(topologies) + int(rng.integers(1, 3))
    return Cluster(
        tuple(Node(f"n{n}", f"r{n % racks}", slots=slots, resources=room) for n in range(count))
    )


def _has_places(left: Instance) -> bool:
    """Whether first fit places the orphans, those with most cpu first; the judge decides."""
    problem = compile_problem(left)
    now = running_placement(problem)
    assert now is not None, "round robin's placement runs"
    nodes, workers = list(now.nodes), list(now.workers)
    free = problem.capacity - account(problem, now).node_load
    of_class = problem.task_class.tolist()
    labels = {
        (problem.classes[c].topology, node): label
        for c, node, label in zip(of_class, nodes, workers, strict=True)
    }
    orphans = [task for task, node in enumerate(nodes) if node == UNPLACED]
    for task in sorted(orphans, key=lambda task: -int(problem.demand[of_class[task]].max())):
        own, need = problem.classes[of_class[task]].topology, problem.demand[of_class[task]]
        fitting = np.flatnonzero((free >= need).all(axis=1)).tolist()
        if not fitting:
            return False
        node = next((n for n in fitting if (own, n) in labels), fitting[0])
        free[node] -= need
        nodes[task] = node
        workers[task] = labels.setdefault((own, node), len(left.topologies) + own)
    return judge(problem, Placement(tuple(nodes), tuple(workers))).valid
