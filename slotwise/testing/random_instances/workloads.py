"""Instances of any rules with a workload, and ``bottleneck`` somewhere in the objective."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, LevelTimes
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.tuples import channels, placeable, received
from slotwise.testing.choices import Chooser, FromRng, chance, pick
from slotwise.testing.random_instances.objectives import MOST_TERMS, with_any_objective
from slotwise.testing.random_instances.tiny import ruled_instance, simplified

LOCAL = 12
"""Per cent of instances with streams by ``local_or_shuffle``, which few engines take."""
ODD_RATES = ("785.473387", "1009", "0.000003", "99991")
ODD_MS = ("0.001", "1.000003", "7.919", "0")


def workload_instance(rng: Generator) -> Instance:
    """Return a random tiny instance of any rules and terms that counts ``bottleneck``.

    The same generator state gives the same instance.
    """
    return drawn_workload(FromRng(rng), 6, 4)


def drawn_workload(choose: Chooser, most_tasks: int, most_nodes: int) -> Instance:
    """Return an instance of at most that number of tasks and nodes that counts ``bottleneck``."""
    instance = ruled_instance(choose, most_tasks, most_nodes)
    if chance(choose, 40):
        instance = simplified(choose, instance)
    elif chance(choose, 50):
        instance = with_any_objective(choose, instance)
    local, acked = chance(choose, LOCAL), chance(choose, 50)
    topologies = tuple(_topology(choose, t, local=local, acked=acked) for t in instance.topologies)
    terms = list(instance.objective.terms[: MOST_TERMS - 1])
    terms.insert(choose.whole(0, len(terms)), "bottleneck")
    plain = replace(
        instance,
        cluster=_cluster(choose, instance.cluster),
        topologies=topologies,
        objective=replace(instance.objective, terms=tuple(terms)),
    )
    return _with_odd_numbers(choose, plain) if chance(choose, 20) else plain


def _with_odd_numbers(choose: Chooser, instance: Instance) -> Instance:
    """Return the instance with numbers that have few divisors, unless they make too many steps."""
    topologies = []
    for topology in instance.topologies:
        components = []
        for one in topology.components:
            work = Decimal(pick(choose, ODD_MS))
            rate = Decimal(pick(choose, ODD_RATES)) if one.kind == "spout" else one.rate
            components.append(replace(one, service_ms=work, rate=rate))
        topologies.append(replace(topology, components=tuple(components)))
    odd = replace(instance, topologies=tuple(topologies))
    try:
        compile_problem(odd)
    except InputError:  # more than 2^53 steps
        return instance
    return odd


def _cluster(choose: Chooser, cluster: Cluster) -> Cluster:
    alike = chance(choose, 50)

    def network() -> tuple[Decimal, Decimal]:
        out, into = (Decimal(pick(choose, ("0.1", "0.05", "1", "0.3"))) for _ in range(2))
        return out, into

    shared, cpu = network(), Decimal(pick(choose, ("100", "50")))
    nodes = []
    for node in cluster.nodes:
        offered = node.resources.get("cpu") or (
            cpu if alike else Decimal(pick(choose, ("100", "50", "75.5")))
        )
        out, into = shared if alike else network()
        nodes.append(
            replace(
                node,
                resources={**node.resources, "cpu": offered},
                cores=1,
                bandwidth_out_mbit_s=out,
                bandwidth_in_mbit_s=into,
            )
        )
    times = pick(
        choose,
        (("0", "0", "0", "0"), ("0", "1", "1", "3"), ("0.5", "1", "2", "2"), ("2", "1", "3", "1")),
    )
    levels = LevelTimes(*map(Decimal, times))
    uplinks = {rack: Decimal(pick(choose, ("0.1", "1"))) for rack in cluster.racks}
    delay = LevelTimes(*(Decimal(0),) * 4)
    return replace(
        cluster, nodes=tuple(nodes), serialise_ms=levels, delay_ms=delay, uplink_mbit_s=uplinks
    )


def _topology(choose: Chooser, topology: Topology, *, local: bool, acked: bool) -> Topology:
    kinds = {one.id: one.kind for one in topology.components}
    streams = [
        _stream(choose, stream, local=local)
        for stream in topology.streams
        if kinds[stream.target] != "spout"
    ]
    work = Decimal(pick(choose, ("1", "2.5", "0", "4")))
    ackers = topology.ackers and replace(
        topology.ackers, service_ms=work, message_bytes=Decimal(20)
    )
    drawn = replace(
        topology,
        components=tuple(_component(choose, one) for one in topology.components),
        streams=tuple(streams),
        ackers=ackers,
        acked=None if acked or ackers is None else False,
    )
    order = list(kinds)
    ahead = tuple(s for s in streams if order.index(s.source) < order.index(s.target))
    try:
        received({}, channels(0, drawn), placeable(0, drawn))
    except InputError:  # tuples multiply on a cycle
        return replace(drawn, streams=ahead)
    return replace(drawn, streams=ahead) if local else drawn


def _component(choose: Chooser, component: Component) -> Component:
    rate = Decimal(pick(choose, ("12", "1", "7.5", "0", "30", "20")))
    work = Decimal(pick(choose, ("5", "0", "10", "2.5", "20")))
    return replace(
        component, service_ms=work, rate=rate if component.kind == "spout" else component.rate
    )


def _stream(choose: Chooser, stream: Stream, *, local: bool) -> Stream:
    given = pick(choose, ("1", "0.5", "2", "0.25", "0"))
    size = pick(choose, (100, 0, 250, 40))
    grouping = stream.grouping
    if local and chance(choose, 50):
        grouping = "local_or_shuffle"
    elif grouping == "local_or_shuffle":
        grouping = "shuffle"
    return replace(stream, grouping=grouping, selectivity=Decimal(given), tuple_bytes=Decimal(size))
