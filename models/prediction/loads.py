"""What the tuples of a spout ask of threads, cores, network interfaces and uplinks.

Loads are seconds of a resource for each tuple that a spout emits: linear, so that the first
resource to saturate and the highest sustainable rates follow by division, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import LevelTimes
from slotwise.models.prediction.flows import FloatArray, Flows, IntArray, Link, Route
from slotwise.models.tuples import needed

LEVELS = ("worker", "node", "rack", "cluster")
POINTS_OF_A_CORE = 100
"""Cpu of the core that times per tuple refer to."""
MS_PER_S = 1000
BITS = Fraction(8, 10**6)
"""Megabits of a byte."""
CLOSE = 1e-9
"""Utilisations in floats that are nearer than this, relatively, are compared as fractions."""


class Kind(StrEnum):
    """What a resource is."""

    THREAD = "thread"
    """Of one task: it processes one tuple at a time, on one core at most."""
    CPU = "cpu"
    """All cores of a node."""
    NIC_OUT = "nic_out"
    """What a node's network interface sends."""
    NIC_IN = "nic_in"
    """What it receives."""
    UPLINK_OUT = "uplink_out"
    """What leaves a rack."""
    UPLINK_IN = "uplink_in"
    """What enters it."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that tuples use and may have to wait for.

    Parameters
    ----------
    kind
        What it is.
    place
        Id of the node, of a rack for its uplink.
    component
        Of a thread ``topology/component``, or the component where there is one topology; else
        empty. It stands for each of the component's tasks in the worker, which are loaded alike.
    """

    kind: Kind
    place: str
    component: str = ""

    def __str__(self) -> str:
        """Return it in words: ``cpu of n1``."""
        words = {
            Kind.THREAD: f"thread of {self.component} on {self.place}",
            Kind.CPU: f"cpu of {self.place}",
            Kind.NIC_OUT: f"network interface of {self.place}, sending",
            Kind.NIC_IN: f"network interface of {self.place}, receiving",
            Kind.UPLINK_OUT: f"uplink of rack {self.place}, sending",
            Kind.UPLINK_IN: f"uplink of rack {self.place}, receiving",
        }
        return words[self.kind]


@dataclass(frozen=True, slots=True, eq=False)
class Visits:
    """The groups that the tuples of a spout come by, as parallel arrays.

    Parameters
    ----------
    route, group
        Indices; ascending by route.
    count
        Tuples that the group receives per tuple of the spout.
    service, serialise
        Seconds that its threads are busy with one of them: processing it, and sending what follows.
    """

    route: IntArray
    group: IntArray
    count: FloatArray
    service: FloatArray
    serialise: FloatArray


@dataclass(frozen=True, slots=True)
class Hop:
    """A link as the tuples of one spout use it.

    Parameters
    ----------
    route, link
        Indices.
    copies
        Copies that are sent, per tuple of the spout.
    delay, delay_square
        Mean over these copies of the seconds that they are under way without waiting, and of the
        square.
    """

    route: int
    link: int
    copies: float
    delay: float
    delay_square: float


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """What hops send over network interfaces and uplinks, as parallel arrays.

    Parameters
    ----------
    hop, resource
        Indices into `Loads.hops` and `Loads.resources`.
    seconds
        Transmission on the resource, mean over all copies of the hop (0 for one that does not pass
        it).
    """

    hop: IntArray
    resource: IntArray
    seconds: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """The loads of all resources.

    Parameters
    ----------
    flows
        What is sent.
    resources
        K of them: first a thread of each group, then by kind.
    visits, hops, passages
        What makes the loads.
    demand
        [R, K] seconds of the resource per tuple of the spout; of all cores together for cpu, that
        is seconds of a core over the number of cores.
    first
        Kind -> index of its first resource.
    """

    flows: Flows
    resources: tuple[Resource, ...]
    visits: Visits
    hops: tuple[Hop, ...]
    passages: Passages
    demand: FloatArray
    first: Mapping[Kind, int]

    def exact_utilisation(self, resource: int, rates: Sequence[Fraction]) -> Fraction:
        """Return the utilisation of a resource when the spouts emit `rates`, tuples/s of each."""
        return sum(
            (
                rate * _exact_demand(self, resource, route)
                for route, rate in zip(self.flows.routes, rates, strict=True)
                if rate
            ),
            Fraction(0),
        )

    def busiest(self, rates: Sequence[Fraction]) -> tuple[int, Fraction] | None:
        """Return the resource of the highest utilisation at these rates, and that, exactly.

        Of equal ones the first. ``None`` where nothing is used.
        """
        if not len(self.demand):
            return None
        approximate = np.asarray([float(rate) for rate in rates]) @ self.demand
        highest = float(approximate.max(initial=0.0))
        if highest == 0.0:
            return None
        busiest: tuple[int, Fraction] | None = None
        for k in np.flatnonzero(approximate >= highest * (1 - CLOSE)).tolist():
            exact = self.exact_utilisation(k, rates)
            if busiest is None or exact > busiest[1]:
                busiest = (k, exact)
        return busiest


def loads(flows: Flows) -> Loads:
    """Return what each spout's tuples ask of every resource.

    Raises
    ------
    InputError
        Naming the key, for a number that is needed and not given, and for a node without cpu that
        has work.
    """
    instance, groups = flows.instance, flows.groups
    nodes, racks = instance.cluster.nodes, instance.cluster.racks
    names_of = [flows.name(component) for component in range(len(flows.components))]
    resources = [
        Resource(Kind.THREAD, nodes[node].id, names_of[component])
        for node, component in zip(groups.node.tolist(), groups.component.tolist(), strict=True)
    ]
    first = {Kind.THREAD: 0}
    for kind in list(Kind)[1:]:
        first[kind] = len(resources)
        names = racks if kind in (Kind.UPLINK_OUT, Kind.UPLINK_IN) else [one.id for one in nodes]
        resources += [Resource(kind, name) for name in names]
    demand = np.zeros((len(flows.routes), len(resources)))
    ways = _ways(flows)
    visits = _visits(flows, ways)
    cores = np.ones(len(nodes))
    for n in np.unique(groups.node[visits.group]).tolist():
        cores[n] = nodes[n].cores or 1
    seconds = visits.count * (visits.service + visits.serialise)
    np.add.at(demand, (visits.route, visits.group), seconds / groups.size[visits.group])
    node = groups.node[visits.group]
    np.add.at(demand, (visits.route, first[Kind.CPU] + node), seconds / cores[node])
    hops, passages = _network(flows, ways, first)
    copies = np.asarray([hop.copies for hop in hops])[passages.hop]
    route = np.asarray([hop.route for hop in hops], dtype=np.int64)[passages.hop]
    np.add.at(demand, (route, passages.resource), copies * passages.seconds)
    return Loads(flows, tuple(resources), visits, hops, passages, demand, first)


# Threads and cores.


def speed(flows: Flows, node: int) -> Fraction:
    """Return how much longer than on a core of 100 points a tuple takes on a core of the node."""
    noun, path = flows.instance.cluster.nodes[node], f"cluster.nodes[{node}]"
    if noun.cores is None:
        raise needed(f"{path}.cores")
    cpu = noun.resources.get("cpu")
    if cpu is None:
        raise needed(f"{path}.resources.cpu")
    if cpu == 0:
        raise InputError("has work; give the node cpu", field=f"{path}.resources.cpu", value=cpu)
    return POINTS_OF_A_CORE * noun.cores / Fraction(cpu)


def _time(times: LevelTimes, key: str, level: int) -> Decimal:
    value = times.levels[level]
    if value is None:
        raise needed(f"cluster.{key}.{LEVELS[level]}")
    return value


def _service(flows: Flows, component: int) -> Decimal:
    one = flows.components[component]
    if one.noun.service_ms is None:
        raise needed(f"{one.path}.service_ms")
    return one.noun.service_ms


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A link as arrays, the same for all routes.

    Parameters
    ----------
    index
        Of the link.
    link
        Itself.
    senders, receivers
        Their groups.
    copies
        See `Link.copies`.
    counts
        Tasks of the receivers that it goes to, by group.
    """

    index: int
    link: Link
    senders: slice
    receivers: slice
    copies: FloatArray
    counts: FloatArray

    def sent(self, flows: Flows, visits: FloatArray) -> FloatArray:
        """Return `Flows.sent` in floats of a route that uses the link.

        `visits` are those of the route by group.
        """
        sent: FloatArray = (
            flows.groups.size[self.senders] / flows.components[self.link.source].tasks
            if self.link.selectivity is None
            else visits[self.senders] * float(self.link.selectivity)
        )
        return sent


def _ways(flows: Flows) -> list[_Way]:
    ways = []
    for index, link in enumerate(flows.links):
        ends = (flows.components[link.source].groups, link.receivers)
        senders, receivers = (slice(one.start, one.stop) for one in ends)
        counts = flows.groups.size[receivers].astype(np.float64)
        if link.grouping == "global":
            counts *= flows.groups.first[receivers]
        ways.append(_Way(index, link, senders, receivers, link.copies(), counts))
    return ways


def _by_group(flows: Flows, route: Route) -> FloatArray:
    visits = np.zeros(len(flows.groups.size))
    visits[list(route.by_group)] = [float(one) for one in route.by_group.values()]
    return visits


def _visits(flows: Flows, ways: Sequence[_Way]) -> Visits:
    """Return the visits of all routes: those of groups that receive something."""
    groups, times = flows.groups, flows.instance.cluster.serialise_ms
    slower = np.zeros(len(flows.instance.cluster.nodes))
    columns: list[tuple[NDArray[Any], ...]] = []
    for r, route in enumerate(flows.routes):
        visits = _by_group(flows, route)
        group = np.flatnonzero(visits)
        sending = np.zeros(len(groups.size))
        for way in ways:
            if flows.is_used(route, way.link):
                by_level = way.sent(flows, visits)[:, None] * way.copies
                used = np.flatnonzero(by_level.any(axis=0)).tolist()
                costs = [
                    float(_time(times, "serialise_ms", level)) / MS_PER_S if level in used else 0.0
                    for level in range(4)
                ]
                sending[way.senders] += by_level @ np.asarray(costs)
        service = np.zeros(len(groups.size))
        for c in route.visits:
            some = flows.components[c].groups
            service[some.start : some.stop] = float(_service(flows, c)) / MS_PER_S
        for n in np.unique(groups.node[group]).tolist():
            slower[n] = slower[n] or float(speed(flows, n))
        factor, count = slower[groups.node[group]], visits[group]
        here = np.full(len(group), r, dtype=np.int64)
        serialise = sending[group] / count * factor
        columns.append((here, group, count, service[group] * factor, serialise))
    if not columns:
        none, empty = np.zeros(0, dtype=np.int64), np.zeros(0)
        return Visits(none, none, empty, empty, empty)
    return Visits(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


# The network.


def _network(
    flows: Flows, ways: Sequence[_Way], first: Mapping[Kind, int]
) -> tuple[tuple[Hop, ...], Passages]:
    """Return the hops of all routes, and what they send over links."""
    hops: list[Hop] = []
    entries: list[tuple[IntArray, IntArray, FloatArray]] = []
    bandwidth = {kind: _bandwidths(flows, kind) for kind in list(Kind)[2:]}
    for r, route in enumerate(flows.routes):
        visits = _by_group(flows, route)
        for way in ways:
            if not flows.is_used(route, way.link):
                continue
            sent = way.sent(flows, visits)
            if sent.any():
                for kind, amounts in _crossings(flows, way, sent):
                    places = np.flatnonzero(amounts)
                    if places.size and (megabits := float(_megabits(way.link))):
                        rates = bandwidth[kind][places]
                        if np.isnan(rates).any():
                            _bandwidth(flows, kind, int(places[np.isnan(rates)][0]))
                        seconds = amounts[places] * megabits / rates
                        here = np.full(len(places), len(hops), dtype=np.int64)
                        entries.append((here, first[kind] + places, seconds))
                hops.append(_hop(flows, r, way, sent))
    if not entries:
        none = np.zeros(0, dtype=np.int64)
        return tuple(hops), Passages(none, none, np.zeros(0))
    hop, resource, seconds = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return tuple(hops), Passages(hop, resource, seconds)


def _hop(flows: Flows, route: int, way: _Way, sent: FloatArray) -> Hop:
    by_level = sent @ way.copies
    copies = float(by_level.sum())
    times = flows.instance.cluster.delay_ms
    mean = square = 0.0
    for level, some in enumerate(by_level.tolist()):
        if some:
            delay = float(_time(times, "delay_ms", level)) / MS_PER_S
            mean += some / copies * delay
            square += some / copies * delay**2
    return Hop(route, way.index, copies, mean, square)


def _crossings(flows: Flows, way: _Way, sent: FloatArray) -> Iterator[tuple[Kind, FloatArray]]:
    """Yield the share of all copies that leaves each node and rack by a link, or enters it."""
    groups, link, counts = flows.groups, way.link, way.counts
    dealt = np.where(link.stays, 0.0, sent)
    over = (1 if link.to_all else counts.sum()) * float(sent @ way.copies.sum(axis=1))
    for places, out, into in (
        (groups.node, Kind.NIC_OUT, Kind.NIC_IN),
        (groups.rack, Kind.UPLINK_OUT, Kind.UPLINK_IN),
    ):
        size = int(places.max()) + 1
        leaving = np.bincount(places[way.senders], dealt, size)
        there = np.bincount(places[way.receivers], counts, size)
        yield out, leaving * (counts.sum() - there) / over
        # What rounding leaves of a difference of equal sums is nothing.
        others_send = np.count_nonzero(leaving) > (leaving > 0)
        yield into, np.where(others_send, leaving.sum() - leaving, 0.0) * there / over


def _bandwidths(flows: Flows, kind: Kind) -> FloatArray:
    """Return Mbit/s of all network interfaces or uplinks of a kind; NaN where it is not known."""
    cluster = flows.instance.cluster
    if kind in (Kind.UPLINK_OUT, Kind.UPLINK_IN):
        given = [cluster.uplink_mbit_s.get(rack) for rack in cluster.racks]
    else:
        way = "out" if kind is Kind.NIC_OUT else "in"
        given = [getattr(node, f"bandwidth_{way}_mbit_s") for node in cluster.nodes]
    return np.asarray([nan if one is None else float(one) for one in given])


def _bandwidth(flows: Flows, kind: Kind, place: int) -> Decimal:
    """Return Mbit/s of a network interface or an uplink."""
    cluster = flows.instance.cluster
    if kind in (Kind.UPLINK_OUT, Kind.UPLINK_IN):
        path = f"cluster.uplink_mbit_s.{cluster.racks[place]}"
        mbit_s = cluster.uplink_mbit_s.get(cluster.racks[place])
    else:
        way = "out" if kind is Kind.NIC_OUT else "in"
        path = f"cluster.nodes[{place}].bandwidth_{way}_mbit_s"
        mbit_s = getattr(cluster.nodes[place], f"bandwidth_{way}_mbit_s")
    if mbit_s is None:
        raise needed(path)
    return mbit_s


def _megabits(link: Link) -> Fraction:
    if link.tuple_bytes is None:
        raise needed(link.bytes_path)
    return Fraction(link.tuple_bytes) * BITS


# The same again, exactly and for one resource at a time.


def _exact_demand(loads: Loads, resource: int, route: Route) -> Fraction:
    kind = loads.resources[resource].kind
    place = resource - loads.first[kind]
    flows = loads.flows
    if kind is Kind.THREAD:
        return _exact_work(flows, route, place) / int(flows.groups.size[place])
    if kind is Kind.CPU:
        cores = flows.instance.cluster.nodes[place].cores
        assert cores is not None, "it was needed for the loads in floats"
        here = np.flatnonzero(flows.groups.node == place).tolist()
        return sum((_exact_work(flows, route, g) for g in here), Fraction(0)) / cores
    wide = kind in (Kind.UPLINK_OUT, Kind.UPLINK_IN)
    places = flows.groups.rack if wide else flows.groups.node
    out = kind in (Kind.NIC_OUT, Kind.UPLINK_OUT)
    total = Fraction(0)
    for link in flows.links:
        if flows.is_used(route, link):
            crossing = _exact_crossing(flows, route, link, places, place, out=out)
            if crossing:
                total += crossing * _megabits(link) / Fraction(_bandwidth(flows, kind, place))
    return total


def _exact_work(flows: Flows, route: Route, group: int) -> Fraction:
    """Return seconds that the threads of a group are busy per tuple of the spout."""
    visits = route.by_group.get(group)
    if visits is None:
        return Fraction(0)
    component = int(flows.groups.component[group])
    ms = visits * Fraction(_service(flows, component))
    row = group - flows.components[component].groups.start
    for link in flows.links:
        if link.source == component and (sent := flows.sent(route, link)[row]):
            for level, copies in enumerate(link.exact_copies(row)):
                if copies:
                    cost = _time(flows.instance.cluster.serialise_ms, "serialise_ms", level)
                    ms += sent * copies * Fraction(cost)
    return ms * speed(flows, int(flows.groups.node[group])) / MS_PER_S


def _exact_crossing(
    flows: Flows, route: Route, link: Link, places: IntArray, place: int, *, out: bool
) -> Fraction:
    """Return copies per tuple of the spout that leave a place by the link, or enter it."""
    senders = flows.components[link.source].groups
    counts = {
        other: int(flows.groups.size[other])
        for other in link.receivers
        if link.grouping != "global" or flows.groups.first[other]
    }
    there = sum(count for other, count in counts.items() if places[other] == place)
    in_all = sum(counts.values())
    reached = in_all - there if out else there
    if not reached:
        return Fraction(0)
    sent = sum(
        (
            amount
            for row, amount in enumerate(flows.sent(route, link))
            if not link.stays[row] and bool(places[senders[row]] == place) is out
        ),
        Fraction(0),
    )
    return sent * reached / (1 if link.to_all else in_all)
