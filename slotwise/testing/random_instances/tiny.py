"""Tiny instances in which every rule of the problem occurs.

Small enough for exhaustive search. Of all alternatives the first is the plainest: one node, one
task and no rule at all.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective, Place, Scheduler
from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.testing.choices import Chooser, FromRng, chance, pick
from slotwise.testing.random_instances.features import Wanted
from slotwise.testing.random_instances.objectives import (
    drawn_linear,
    drawn_running,
    with_any_objective,
)
from slotwise.testing.random_instances.wide_numbers import (
    fitting,
    with_wide_numbers,
    with_wide_rates,
)

RESOURCES = ("cpu", "memory_mb", "gpu")

DISTANCES: tuple[tuple[int | str, ...], ...] = (
    (0, 1, 2, 3),
    (0, 0, 1, 2),
    ("0.5", 1, "1.5", "4.2"),
    (0, 1, 2, 3),
    (0, 0, 1, 1),
    (0, 1, 1, 4),
)
TERMS: tuple[tuple[str, ...], ...] = (
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
TERMS_LINEAR: tuple[tuple[str, ...], ...] = (
    ("network+linear",),
    ("overload", "linear", "network"),
    ("rejected", "linear+network"),
    ("linear",),
)
TERMS_RUNNING: tuple[tuple[str, ...], ...] = (
    ("moved", "network"),
    ("network", "moved"),
    ("overload", "network+moved"),
    ("moved", "workers"),
    ("rejected", "moved", "network"),
    ("moved+rejected", "network"),
)


def tiny_instance(rng: Generator, *, most_tasks: int = 6, most_nodes: int = 4) -> Instance:
    """Return a random tiny instance of moderate numbers, which every MIP solver carries.

    The same generator state gives the same instance.
    """
    return ruled_instance(FromRng(rng), most_tasks, most_nodes)


def mixed_instance(rng: Generator) -> Instance:
    """Return a random tiny instance of any terms and any numbers.

    As `make_instance`, but those that are not simplified have an objective of their own, see
    `with_any_objective`. The same generator state gives the same instance.
    """
    choose = FromRng(rng)
    instance = ruled_instance(choose, 6, 4)
    if chance(choose, 15):
        instance = simplified(choose, instance)
    else:
        instance = with_any_objective(choose, instance)
    return with_wide_numbers(choose, instance) if chance(choose, 25) else instance


def widely_scaled_instance(rng: Generator) -> Instance:
    """Return a random tiny instance with rates from 10^-6 to 10^7 and a network in its terms."""
    choose = FromRng(rng)
    instance = ruled_instance(choose, 6, 4)
    if chance(choose, 30):
        instance = simplified(choose, instance)
    elif chance(choose, 50):
        instance = with_any_objective(choose, instance)
    if "network" not in instance.objective.parts:
        terms = (*instance.objective.terms, "network")
        instance = replace(instance, objective=replace(instance.objective, terms=terms))
    return fitting(with_wide_rates(choose, instance))


def make_instance(choose: Chooser, most_tasks: int, most_nodes: int) -> Instance:
    """Return an instance of at most that many tasks and nodes.

    Some are simplified for engines that do not take every rule, and some have numbers of widely
    differing size.
    """
    instance = moderate_instance(choose, most_tasks, most_nodes)
    return with_wide_numbers(choose, instance) if chance(choose, 25) else instance


def moderate_instance(choose: Chooser, most_tasks: int, most_nodes: int) -> Instance:
    """Return an instance of moderate numbers, at times simplified; see `make_instance`."""
    instance = ruled_instance(choose, most_tasks, most_nodes)
    return simplified(choose, instance) if chance(choose, 15) else instance


def ruled_instance(
    choose: Chooser, most_tasks: int, most_nodes: int, wanted: Wanted | None = None
) -> Instance:
    """Return an instance of moderate numbers, with what is wanted in it."""
    wanted = wanted or Wanted()
    dims = make_resources(choose)
    if wanted.memory and "memory_mb" not in dims:
        dims = (*dims, "memory_mb")
    cluster = make_cluster(choose, most_nodes, dims, least_nodes=wanted.nodes)
    rates = chance(choose, 40)
    topologies = _topologies(choose, most_tasks, dims, rates, wanted)
    names = [
        (topology.id, f"{component.id}[{index}]")
        for topology in topologies
        for component in topology.placed_components
        for index in range(component.parallelism)
    ]
    running = (
        drawn_running(choose, names, cluster) if chance(choose, 30) or wanted.running else None
    )
    if wanted.running and not running:
        first, task = names[0]
        running = {first: {task: Place(cluster.nodes[0].id, 0)}}
    linear = drawn_linear(choose, names, cluster) if chance(choose, 25) else ()
    least_cpu = Decimal(pick(choose, ("0", "10", "30", "12.5")) if "cpu" in dims else 0)
    return Instance(
        name="tiny",
        cluster=cluster,
        topologies=topologies,
        scheduler=Scheduler(worker_min_cpu=least_cpu),
        running=running,
        objective=_objective(choose, cluster, running is not None, bool(linear)),
        linear=linear,
        flow="rates" if rates else "pairs",
    )


def _topologies(
    choose: Chooser, most_tasks: int, dims: tuple[str, ...], rates: bool, wanted: Wanted
) -> tuple[Topology, ...]:
    left = max(choose.whole(1, most_tasks), choose.whole(1, most_tasks), wanted.least_tasks)
    several = chance(choose, 35) and left > max(1, wanted.tasks)
    several = several or wanted.topologies > 1
    first = max(left - left // 2, wanted.tasks)
    shares = (first, left - first) if several else (left,)
    numbers = itertools.count()

    def make() -> Topology:
        t = next(numbers)
        return make_topology(choose, f"topology-{t + 1}", shares[t], dims, rates)

    made = choose.parts(wanted.topologies, len(shares), make)
    if wanted.tasks:
        made = [with_tasks(made[0], wanted.tasks), *map(with_tasks, made[1:])]
    if wanted.feature is not None:
        made[0] = wanted.feature(choose, made[0])
    return tuple(made)


def make_resources(choose: Chooser) -> tuple[str, ...]:
    """Return which of `RESOURCES` are counted."""
    return tuple(d for d in RESOURCES if chance(choose, 70))


def make_cluster(
    choose: Chooser,
    most_nodes: int,
    dims: tuple[str, ...],
    *,
    least_nodes: int = 1,
    most_racks: int = 3,
) -> Cluster:
    """Return a cluster whose nodes offer the resources `dims`, some without a limit."""
    count = max(choose.whole(1, most_nodes), choose.whole(1, most_nodes), least_nodes)
    racks = choose.whole(1, most_racks)
    alike = chance(choose, 50)
    base = _node_shape(choose, dims)
    numbers = itertools.count(1)

    def make() -> Node:
        slots, resources = base if alike else _node_shape(choose, dims)
        rack = f"r{choose.whole(1, racks)}"
        return Node(f"n{next(numbers)}", rack, slots=slots, resources=dict(resources))

    nodes = choose.parts(least_nodes, count, make)
    distance = Distance(*(Decimal(d) for d in pick(choose, DISTANCES)))
    return Cluster(tuple(nodes), distance, _matrix(choose, len(nodes)))


def _node_shape(
    choose: Chooser, dims: tuple[str, ...]
) -> tuple[int | None, dict[str, Decimal | None]]:
    offers: dict[str, tuple[str | None, ...]] = {
        "cpu": (None, "40", "60", "50", "35", "70", "25.5", "100"),
        "memory_mb": (None, "80", "120", "100", "64.2", "60", "90.1", "200"),
        "gpu": (None, "1", "2", "0.3", "1", "1.5"),
    }
    slots = pick(choose, (None, 3, 2, 1, 2, 3, 2, None)) if not chance(choose, 4) else 0
    offered = {key: pick(choose, amounts) for key, amounts in offers.items()}
    return slots, {key: None if (a := offered[key]) is None else Decimal(a) for key in dims}


def _matrix(choose: Chooser, count: int) -> tuple[tuple[Decimal, ...], ...] | None:
    if not chance(choose, 20):
        return None
    symmetric = chance(choose, 50)
    rows = [
        [Decimal(choose.whole(0, 5)) / (2 if i < j else 1) for j in range(count)]
        for i in range(count)
    ]
    for i, j in itertools.combinations(range(count), 2):
        rows[j][i] = rows[i][j] if symmetric else rows[j][i]
    return tuple(tuple(row) for row in rows)


def _objective(choose: Chooser, cluster: Cluster, running: bool, linear: bool) -> Objective:
    terms = TERMS
    if linear and chance(choose, 80):
        terms = TERMS_LINEAR
    elif running and chance(choose, 80):
        terms = TERMS_RUNNING
    offered = sorted({key for node in cluster.nodes for key in node.resources})
    soft = {key: choose.whole(1, 3) for key in offered if chance(choose, 25)}
    limits = {"moved": choose.whole(0, 2)} if running and chance(choose, 50) else {}
    return Objective(pick(choose, terms), soft, limits)


def simplified(choose: Chooser, instance: Instance) -> Instance:
    """Return one topology of the instance with a network alone; capacities and isolation stay.

    Where distances come as a matrix linear costs stay, too, and nodes have a worker.
    """
    topology = _plain(choose, pick(choose, instance.topologies))
    cluster = instance.cluster
    linear = tuple(row for row in instance.linear if row.task.startswith(f"{topology.id}/"))
    if chance(choose, 40) or cluster.matrix is not None:
        rows = range(len(cluster.nodes))
        matrix = tuple(tuple(Decimal(choose.whole(0, 5)) for _ in rows) for _ in rows)
        cluster = replace(cluster, matrix=matrix)
        topology = replace(topology, one_task_per_worker=False, one_component_per_worker=False)
        terms: tuple[str, ...] = ("network+linear",) if linear else ("network",)
    else:
        linear = ()
        terms = pick(choose, (("network",), ("overload", "network")))
    return replace(
        instance,
        cluster=cluster,
        topologies=(topology,),
        scheduler=Scheduler(),
        running=None,
        objective=Objective(terms),
        linear=linear,
    )


def _plain(choose: Chooser, topology: Topology) -> Topology:
    return replace(
        topology,
        constraints=Constraints(),
        worker_max_heap_mb=None if chance(choose, 60) else topology.worker_max_heap_mb,
        shared_memory=(),
    )


# Topologies of tiny instances: components, streams, and every rule about workers.

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
    """Return the topology with `least` tasks, ackers included, of which one is not an acker.

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
    """Return components for that many tasks, each with a stream from the one before, or without."""
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
