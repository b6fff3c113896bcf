"""The instance that CP-SAT 9.15 got wrong, and others like it.

CP-SAT's presolve sums coefficients in 32 bits. The optimum of the instance is 0 in both terms, all
tasks on n1; CP-SAT called linear 1 optimal. Mutations have other rates, groupings, linear costs,
matrices, sizes and rules of isolation.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.topology import GROUPINGS, Component, Constraints, Stream, Topology
from slotwise.testing.choices import Chooser, FromRng, chance, pick
from slotwise.testing.random_instances.wide_numbers import fitting, wide

TERMS = (
    ("network", "linear"),
    ("network+linear",),
    ("linear", "network"),
    ("network",),
    ("overload", "network"),
    ("network", "nodes"),
)


def presolve_instance() -> Instance:
    """Return the instance itself."""
    streams = (
        Stream("c1", "c0", rate=Decimal(10_000_003)),
        Stream("c1", "c0", rate=Decimal(2)),
        Stream("c0", "c1", "global", Decimal("785.473387")),
    )
    topology = Topology(
        "t0",
        (Component("c0", "bolt", 1), Component("c1", "bolt", 3)),
        streams,
        one_component_per_worker=True,
    )
    return Instance(
        name="presolve",
        cluster=Cluster((Node("n0", "r0"), Node("n1", "r0", slots=3))),
        topologies=(topology,),
        objective=Objective(("network", "linear")),
        linear=(LinearCost("t0/c1[2]", "n0", Decimal(1)),),
        flow="rates",
    )


def presolve_mutation(rng: Generator) -> Instance:
    """Return a mutation; the same generator state gives the same one."""
    choose = FromRng(rng)
    instance = presolve_instance()
    topology = _topology(choose, instance.topologies[0])
    cluster = _cluster(choose, instance.cluster)
    instance = replace(instance, cluster=cluster, topologies=(topology,), linear=())
    if chance(choose, 40):
        instance = replace(instance, objective=Objective(pick(choose, TERMS)))
    if "linear" in instance.objective.parts or chance(choose, 30):
        instance = replace(instance, linear=_linear(choose, instance))
    return fitting(instance)


def _topology(choose: Chooser, topology: Topology) -> Topology:
    streams = [_stream(choose, stream) for stream in topology.streams]
    components = list(topology.components)
    if chance(choose, 50):
        size = choose.whole(1, 3)
        components = [replace(components[0], parallelism=size), replace(components[1])]
        components[1] = replace(components[1], parallelism=choose.whole(1, 5 - size))
    if chance(choose, 25):
        components.append(Component("c2", "bolt", 1))
        streams.append(_stream(choose, Stream("c2", pick(choose, ("c0", "c1")), rate=Decimal(1))))
    if chance(choose, 20):
        streams.append(_stream(choose, pick(choose, streams)))
    apart = (("c0", "c1"),) if chance(choose, 20) else ()
    return replace(
        topology,
        components=tuple(components),
        streams=tuple(streams),
        constraints=Constraints(apart),
        one_component_per_worker=chance(choose, 70),
    )


def _stream(choose: Chooser, stream: Stream) -> Stream:
    """Change the rate (a little, or for any other) and at times the grouping."""
    assert stream.rate is not None
    rate = stream.rate
    change = choose.whole(0, 3)
    if change == 1:
        rate += choose.whole(0, 9)
    elif change > 1:
        rate = wide(choose)
    grouping = pick(choose, GROUPINGS) if chance(choose, 30) else stream.grouping
    return replace(stream, rate=rate, grouping=grouping)


def _cluster(choose: Chooser, cluster: Cluster) -> Cluster:
    nodes = [*cluster.nodes]
    if chance(choose, 30):
        nodes.append(Node("n2", pick(choose, ("r0", "r1"))))
    if chance(choose, 50):
        nodes = [replace(node, slots=pick(choose, (None, 1, 2, 3))) for node in nodes]
    matrix = None
    if chance(choose, 25):
        small = chance(choose, 50)
        matrix = tuple(
            tuple(Decimal(choose.whole(0, 3)) if small else wide(choose) for _ in nodes)
            for _ in nodes
        )
    return Cluster(tuple(nodes), cluster.distance, matrix)


def _linear(choose: Chooser, instance: Instance) -> tuple[LinearCost, ...]:
    rows = []
    for topology, task in instance.task_names():
        for node in instance.cluster.nodes:
            if chance(choose, 25):
                cost = wide(choose) if chance(choose, 40) else Decimal(choose.whole(1, 3))
                rows.append(LinearCost(f"{topology}/{task}", node.id, cost))
    return tuple(rows)
