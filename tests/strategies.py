"""Tiny instances in which every rule of the problem occurs, for Hypothesis and for seeded loops.

One grammar, two sources of choice: `instances()` draws from Hypothesis, `tiny_instance(rng)` from
a NumPy generator. The first alternative is always the plainest, so that Hypothesis shrinks towards
one node, one task and no rule at all.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar

import networkx as nx
from hypothesis import strategies as st
from numpy.random import Generator

from slotwise.models.cluster import Cluster, Distance, Node
from slotwise.models.instance import Instance, LinearCost, Objective, Place, Scheduler
from slotwise.models.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)

X = TypeVar("X")

DISTANCES = (
    (0, 1, 2, 3),
    (0, 0, 1, 2),
    ("0.5", 1, "1.5", "4.2"),
    (0, 1, 2, 3),
    (0, 0, 1, 1),
    (0, 1, 1, 4),
)
GROUPINGS = ("shuffle", "global", "all", "fields", "global", "all", "local_or_shuffle")
TERMS = (
    ("overload", "network"),
    ("network",),
    ("overload", "network", "nodes"),
    ("overload+network", "workers"),
    ("nodes", "network"),
    ("workers", "network", "overload"),
    ("network+nodes",),
    ("rejected", "overload", "network"),
    ("rejected", "nodes", "workers"),
    ("rejected+nodes", "network"),
    ("rejected", "network+workers"),
)
TERMS_LINEAR = (
    ("network+linear",),
    ("overload", "linear", "network"),
    ("rejected", "linear+network"),
    ("linear",),
)
TERMS_RUNNING = (
    ("moved", "network"),
    ("network", "moved"),
    ("overload", "network+moved"),
    ("moved", "workers"),
    ("rejected", "moved", "network"),
    ("moved+rejected", "network"),
)
RULES = frozenset(
    {
        "hard capacity",
        "soft capacity",
        "unlimited capacity",
        "generic resource",
        "decimals",
        "slots",
        "unlimited slots",
        "no slots",
        "several racks",
        "heap limit",
        "shared onheap",
        "shared offheap_worker",
        "shared offheap_node",
        "one task per worker",
        "one component per worker",
        "incompatible pair",
        "incompatible with itself",
        "max per node",
        "minimum worker cpu",
        "ackers",
        "several topologies",
        "symmetric matrix",
        "asymmetric matrix",
        "linear",
        "running",
        "max moved",
        "term overload",
        "term network",
        "term rejected",
        "term nodes",
        "term workers",
        "term moved",
        "term linear",
        "sum of terms",
        "priorities",
        "rates",
        "grouping global",
        "grouping all",
        "parallelism 0",
        "cyclic streams",
        "self stream",
        "parallel streams",
    }
)


class Chooser(Protocol):
    """A source of choices."""

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        ...


@dataclass(frozen=True)
class FromRng:
    """Choices of a seeded NumPy generator."""

    rng: Generator

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))


@dataclass(frozen=True)
class FromHypothesis:
    """Choices that Hypothesis draws and shrinks."""

    draw: st.DrawFn

    def whole(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


def tiny_instance(rng: Generator, *, most_tasks: int = 6, most_nodes: int = 4) -> Instance:
    """Return a random tiny instance; the same generator state gives the same instance."""
    return _instance(FromRng(rng), most_tasks, most_nodes)


@st.composite
def instances(draw: st.DrawFn, most_tasks: int = 6, most_nodes: int = 4) -> Instance:
    """Tiny instances of every kind."""
    return _instance(FromHypothesis(draw), most_tasks, most_nodes)


def rules_in(instance: Instance) -> set[str]:
    """Return which of `RULES` occur in an instance."""
    found = _cluster_rules(instance) | _objective_rules(instance)
    for topology in instance.topologies:
        found |= _topology_rules(topology) | _stream_rules(topology, instance.flow)
    held = {
        "several topologies": len(instance.topologies) > 1,
        "priorities": len({t.priority for t in instance.topologies}) > 1,
        "linear": bool(instance.linear),
        "running": bool(instance.running),
        "max moved": bool(instance.objective.limits),
        "minimum worker cpu": instance.scheduler.worker_min_cpu > 0,
        "rates": instance.flow == "rates",
    }
    return found | {rule for rule, holds in held.items() if holds}


def _instance(choose: Chooser, most_tasks: int, most_nodes: int) -> Instance:
    dims = _resources(choose)
    cluster = _cluster(choose, most_nodes, dims)
    rates = _chance(choose, 40)
    left = max(choose.whole(1, most_tasks), choose.whole(1, most_tasks))
    several = _chance(choose, 35) and left > 1
    shares = (left - left // 2, left // 2) if several else (left,)
    topologies = tuple(
        _topology(choose, f"t{t}", share, dims, rates) for t, share in enumerate(shares)
    )
    names = [
        (topology.id, f"{component.id}[{index}]")
        for topology in topologies
        for component in topology.placed_components
        for index in range(component.parallelism)
    ]
    running = _running(choose, names, cluster) if _chance(choose, 30) else None
    linear = _linear(choose, names, cluster) if _chance(choose, 25) else ()
    least_cpu = _one(choose, (0, 10, 30, "12.5")) if "cpu" in dims else 0
    return Instance(
        name="tiny",
        cluster=cluster,
        topologies=topologies,
        scheduler=Scheduler(worker_min_cpu=Decimal(least_cpu)),
        running=running,
        objective=_objective(choose, cluster, running is not None, bool(linear)),
        linear=linear,
        flow="rates" if rates else "pairs",
    )


def _chance(choose: Chooser, percent: int) -> bool:
    return choose.whole(0, 99) >= 100 - percent


def _one(choose: Chooser, options: Sequence[X]) -> X:
    return options[choose.whole(0, len(options) - 1)]


def _resources(choose: Chooser) -> tuple[str, ...]:
    return tuple(d for d in ("cpu", "memory_mb", "gpu") if _chance(choose, 70))


def _cluster(choose: Chooser, most_nodes: int, dims: tuple[str, ...]) -> Cluster:
    count = max(choose.whole(1, most_nodes), choose.whole(1, most_nodes))
    racks = _one(choose, (1, 2, 2))
    alike = _chance(choose, 50)
    base = _node_shape(choose, dims)
    nodes = []
    for n in range(count):
        slots, resources = base if alike else _node_shape(choose, dims)
        rack = f"r{choose.whole(0, racks - 1)}"
        nodes.append(Node(f"n{n}", rack, slots=slots, resources=dict(resources)))
    distance = Distance(*(Decimal(d) for d in _one(choose, DISTANCES)))
    return Cluster(tuple(nodes), distance, _matrix(choose, count))


def _node_shape(
    choose: Chooser, dims: tuple[str, ...]
) -> tuple[int | None, dict[str, Decimal | None]]:
    offers: dict[str, tuple[str | None, ...]] = {
        "cpu": (None, "40", "60", "50", "35", "70", "25.5", "100"),
        "memory_mb": (None, "80", "120", "100", "64.2", "60", "90.1", "200"),
        "gpu": (None, "1", "2", "0.3", "1", "1.5"),
    }
    slots = _one(choose, (None, 3, 2, 1, 2, 3, 2, None)) if not _chance(choose, 4) else 0
    resources: dict[str, Decimal | None] = {}
    for d in dims:
        offered = _one(choose, offers[d])
        resources[d] = None if offered is None else Decimal(offered)
    return slots, resources


def _matrix(choose: Chooser, count: int) -> tuple[tuple[Decimal, ...], ...] | None:
    if not _chance(choose, 20):
        return None
    symmetric = _chance(choose, 40)
    rows = [
        [Decimal(choose.whole(0, 5)) / (2 if i < j else 1) for j in range(count)]
        for i in range(count)
    ]
    for i, j in itertools.combinations(range(count), 2):
        rows[j][i] = rows[i][j] if symmetric else rows[j][i]
    return tuple(tuple(row) for row in rows)


def _topology(
    choose: Chooser, key: str, tasks: int, dims: tuple[str, ...], rates: bool
) -> Topology:
    ackers = None
    if _chance(choose, 15) and tasks > 1:
        ackers = Ackers(1, resources=_demand(choose, dims))
        tasks -= 1
    components = []
    while tasks > 0 or not components:
        parallelism = 0 if _chance(choose, 8) else min(tasks, choose.whole(1, 3))
        kind = "bolt" if components else "spout"
        components.append(
            Component(f"c{len(components)}", kind, parallelism, _demand(choose, dims))
        )
        tasks -= parallelism
        if len(components) == 5:
            break
    ids = [component.id for component in components]
    isolation = _one(choose, ("none",) * 8 + ("task", "component", "component", "both"))
    return Topology(
        id=key,
        components=tuple(components),
        streams=_streams(choose, ids, rates),
        priority=_one(choose, (0, 1, 3)),
        worker_max_heap_mb=_heap_limit(choose, dims),
        constraints=_constraints(choose, ids),
        one_task_per_worker=isolation in ("task", "both"),
        one_component_per_worker=isolation in ("component", "both"),
        shared_memory=_shared(choose, ids) if "memory_mb" in dims else (),
        ackers=ackers,
    )


def _demand(choose: Chooser, dims: tuple[str, ...]) -> dict[str, Decimal]:
    demand: dict[str, Decimal] = {}
    if "cpu" in dims:
        demand["cpu"] = Decimal(_one(choose, ("10", "20", "35", "0", "15.1", "30", "25")))
    if "memory_mb" in dims:
        demand["onheap_mb"] = Decimal(_one(choose, ("16", "32", "0", "60", "20.1", "40")))
        if _chance(choose, 40):
            demand["offheap_mb"] = Decimal(_one(choose, ("8", "30", "0.1")))
    if "gpu" in dims and _chance(choose, 35):
        demand["gpu"] = Decimal(_one(choose, ("1", "0.1", "0.2", "0.5")))
    return demand


def _heap_limit(choose: Chooser, dims: tuple[str, ...]) -> Decimal | None:
    if "memory_mb" not in dims or not _chance(choose, 35):
        return None
    return Decimal(_one(choose, ("100", "64", "40", "20.1")))


def _streams(choose: Chooser, ids: list[str], rates: bool) -> tuple[Stream, ...]:
    pairs = [(a, b) for a, b in itertools.pairwise(ids) if not _chance(choose, 15)]
    for _ in range(choose.whole(0, 2)):
        pairs.append((_one(choose, ids), _one(choose, ids)))
    return tuple(_stream(choose, a, b, rates) for a, b in pairs)


def _stream(choose: Chooser, source: str, target: str, rates: bool) -> Stream:
    grouping = _one(choose, GROUPINGS)
    if not rates:
        return Stream(source, target, grouping)
    rate = Decimal(_one(choose, ("12", "1", "0", "7.5", "10", "3")))
    size = _one(choose, (None, Decimal(2), Decimal("0.5")))
    return Stream(source, target, grouping, rate, size)


def _constraints(choose: Chooser, ids: list[str]) -> Constraints:
    incompatible = []
    if _chance(choose, 35):
        incompatible.append((ids[0], ids[-1]))
    if _chance(choose, 15):
        one = _one(choose, ids)
        incompatible.append((one, one))
    most = {_one(choose, ids): choose.whole(1, 2)} if _chance(choose, 20) else {}
    return Constraints(tuple(incompatible), most)


def _shared(choose: Chooser, ids: list[str]) -> tuple[SharedMemory, ...]:
    regions = []
    for kind in ("onheap", "offheap_worker", "offheap_node"):
        if _chance(choose, 30):
            members = [key for key in ids if _chance(choose, 50)] or ids[:1]
            size = Decimal(_one(choose, ("10", "25", "40", "30.5")))
            regions.append(SharedMemory(f"{kind}-region", kind, size, tuple(members)))
    return tuple(regions)


def _running(
    choose: Chooser, names: list[tuple[str, str]], cluster: Cluster
) -> dict[str, dict[str, Place]]:
    """Return a running placement of most tasks, one topology per worker."""
    tenant: dict[Place, str] = {}
    running: dict[str, dict[str, Place]] = {}
    for topology, task in names:
        place = Place(_one(choose, cluster.nodes).id, choose.whole(0, 2))
        if _chance(choose, 80) and tenant.setdefault(place, topology) == topology:
            running.setdefault(topology, {})[task] = place
    return running


def _linear(
    choose: Chooser, names: list[tuple[str, str]], cluster: Cluster
) -> tuple[LinearCost, ...]:
    rows = []
    for topology, task in names:
        for node in cluster.nodes:
            if _chance(choose, 40):
                cost = Decimal(_one(choose, ("1", "0", "2", "3.5", "0.1")))
                rows.append(LinearCost(f"{topology}/{task}", node.id, cost))
    return tuple(rows)


def _objective(choose: Chooser, cluster: Cluster, running: bool, linear: bool) -> Objective:
    terms = TERMS
    if linear and _chance(choose, 80):
        terms = TERMS_LINEAR
    elif running and _chance(choose, 80):
        terms = TERMS_RUNNING
    offered = sorted({key for node in cluster.nodes for key in node.resources})
    soft = {key: choose.whole(1, 3) for key in offered if _chance(choose, 25)}
    limits = {"moved": choose.whole(0, 2)} if running and _chance(choose, 50) else {}
    return Objective(_one(choose, terms), soft, limits)


def _cluster_rules(instance: Instance) -> set[str]:
    nodes = instance.cluster.nodes
    soft = instance.objective.soft
    capacities = [(key, value) for node in nodes for key, value in node.resources.items()]
    matrix = instance.cluster.matrix
    symmetric = matrix is not None and matrix == tuple(zip(*matrix, strict=True))
    held = {
        "hard capacity": any(key not in soft and value is not None for key, value in capacities),
        "soft capacity": any(key in soft and value is not None for key, value in capacities),
        "unlimited capacity": any(value is None for _, value in capacities),
        "generic resource": any(key == "gpu" for key, _ in capacities),
        "decimals": any(value is not None and value % 1 != 0 for _, value in capacities),
        "slots": any(node.slots for node in nodes),
        "unlimited slots": any(node.slots is None for node in nodes),
        "no slots": any(node.slots == 0 for node in nodes),
        "several racks": len(instance.cluster.racks) > 1,
        "symmetric matrix": symmetric and len(nodes) > 1,
        "asymmetric matrix": matrix is not None and not symmetric,
    }
    return {rule for rule, holds in held.items() if holds}


def _objective_rules(instance: Instance) -> set[str]:
    found = {f"term {part}" for part in instance.objective.parts}
    if any("+" in term for term in instance.objective.terms):
        found.add("sum of terms")
    return found


def _topology_rules(topology: Topology) -> set[str]:
    pairs = topology.constraints.incompatible
    held = {
        "heap limit": topology.worker_max_heap_mb is not None,
        "one task per worker": topology.one_task_per_worker,
        "one component per worker": topology.one_component_per_worker,
        "incompatible pair": any(a != b for a, b in pairs),
        "incompatible with itself": any(a == b for a, b in pairs),
        "max per node": bool(topology.constraints.max_per_node),
        "ackers": topology.ackers is not None,
        "parallelism 0": any(component.parallelism == 0 for component in topology.components),
    }
    shared = {f"shared {region.kind}" for region in topology.shared_memory}
    return shared | {rule for rule, holds in held.items() if holds}


def _stream_rules(topology: Topology, flow: str) -> set[str]:
    ends = [(stream.source, stream.target) for stream in topology.streams]
    others = [pair for pair in ends if pair[0] != pair[1]]
    sized = {c.id: c.parallelism for c in topology.components}
    held = {
        "cyclic streams": not nx.is_directed_acyclic_graph(nx.DiGraph(others)),
        "self stream": len(others) < len(ends),
        "parallel streams": len(set(others)) < len(others),
    }
    if flow == "rates":
        wide = {s.grouping for s in topology.streams if sized[s.target] > 1 and s.rate}
        held["grouping global"] = "global" in wide
        held["grouping all"] = "all" in wide
    return {rule for rule, holds in held.items() if holds}
