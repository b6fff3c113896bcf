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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import LevelTimes
from slotwise.models.prediction.flows import FloatArray, Flows, IntArray, Link, Route, needed

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
        found: tuple[int, Fraction] | None = None
        for k in np.flatnonzero(approximate >= highest * (1 - CLOSE)).tolist():
            exact = self.exact_utilisation(k, rates)
            if found is None or exact > found[1]:
                found = (k, exact)
        return found


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
    resources = [
        Resource(Kind.THREAD, nodes[node].id, flows.name(component))
        for node, component in zip(groups.node.tolist(), groups.component.tolist(), strict=True)
    ]
    first = {Kind.THREAD: 0}
    for kind in list(Kind)[1:]:
        first[kind] = len(resources)
        names = racks if kind in (Kind.UPLINK_OUT, Kind.UPLINK_IN) else [one.id for one in nodes]
        resources += [Resource(kind, name) for name in names]
    demand = np.zeros((len(flows.routes), len(resources)))
    visits = _visits(flows)
    cores = np.ones(len(nodes))
    for n in np.unique(groups.node[visits.group]).tolist():
        cores[n] = nodes[n].cores or 1
    seconds = visits.count * (visits.service + visits.serialise)
    np.add.at(demand, (visits.route, visits.group), seconds / groups.size[visits.group])
    node = groups.node[visits.group]
    np.add.at(demand, (visits.route, first[Kind.CPU] + node), seconds / cores[node])
    hops, passages = _network(flows, first)
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


def _visits(flows: Flows) -> Visits:
    """Return the visits of all routes: those of groups that receive something."""
    groups, times = flows.groups, flows.instance.cluster.serialise_ms
    slower = [0.0] * len(flows.instance.cluster.nodes)
    columns: list[tuple[NDArray[Any], ...]] = []
    for r, route in enumerate(flows.routes):
        group = np.asarray(sorted(route.by_group), dtype=np.int64)
        count = np.asarray([float(route.by_group[g]) for g in group.tolist()])
        sending = np.zeros(len(groups.size))
        for link in flows.links:
            if link.source in route.visits:
                sent, copies = _sent(flows, route, link), link.copies()
                for level in range(4):
                    through = sent * copies[:, level]
                    if through.any():
                        cost = float(_time(times, "serialise_ms", level)) / MS_PER_S
                        sending[_senders(flows, link)] += through * cost
        service = np.zeros(len(groups.size))
        for c in route.visits:
            some = flows.components[c].groups
            service[some.start : some.stop] = float(_service(flows, c)) / MS_PER_S
        for n in np.unique(groups.node[group]).tolist():
            slower[n] = slower[n] or float(speed(flows, n))
        factor = np.asarray(slower)[groups.node[group]]
        columns.append(
            (
                np.full(len(group), r, dtype=np.int64),
                group,
                count,
                service[group] * factor,
                sending[group] / count * factor,
            )
        )
    if not columns:
        none, empty = np.zeros(0, dtype=np.int64), np.zeros(0)
        return Visits(none, none, empty, empty, empty)
    return Visits(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def _senders(flows: Flows, link: Link) -> slice:
    some = flows.components[link.source].groups
    return slice(some.start, some.stop)


def _sent(flows: Flows, route: Route, link: Link) -> FloatArray:
    return np.asarray([float(one) for one in flows.sent(route, link)])


# The network.


def _network(flows: Flows, first: Mapping[Kind, int]) -> tuple[tuple[Hop, ...], Passages]:
    hops: list[Hop] = []
    found: list[tuple[int, int, float]] = []
    for r, route in enumerate(flows.routes):
        for index, link in enumerate(flows.links):
            if link.source not in route.visits:
                continue
            sent = _sent(flows, route, link)
            if sent.any():
                found += (
                    (len(hops), first[kind] + place, seconds)
                    for kind, place, seconds in _passages(flows, link, sent)
                )
                hops.append(_hop(flows, r, index, sent))
    hop, resource, seconds = zip(*found, strict=True) if found else ((), (), ())
    passages = Passages(
        np.asarray(hop, dtype=np.int64),
        np.asarray(resource, dtype=np.int64),
        np.asarray(seconds, dtype=np.float64),
    )
    return tuple(hops), passages


def _hop(flows: Flows, route: int, index: int, sent: FloatArray) -> Hop:
    by_level = sent @ flows.links[index].copies()
    copies = float(by_level.sum())
    times = flows.instance.cluster.delay_ms
    used = [(float(one), level) for level, one in enumerate(by_level) if one]
    delays = [float(_time(times, "delay_ms", level)) / MS_PER_S for _, level in used]
    mean = sum(some * delay for (some, _), delay in zip(used, delays, strict=True)) / copies
    square = sum(some * delay**2 for (some, _), delay in zip(used, delays, strict=True)) / copies
    return Hop(route, index, copies, mean, square)


def _passages(flows: Flows, link: Link, sent: FloatArray) -> Iterator[tuple[Kind, int, float]]:
    """Yield kind and place of what a link uses, and the mean transmission over all its copies."""
    groups = flows.groups
    senders, receivers = _senders(flows, link), flows.components[link.target].groups
    to = slice(receivers.start, receivers.stop)
    counts = groups.size[to] * (groups.first[to] if link.grouping == "global" else 1)
    dealt = np.where(link.stays, 0.0, sent)
    over = 1 if link.to_all else counts.sum()
    total = float(sent @ link.copies().sum(axis=1))
    for places, out, into in (
        (groups.node, Kind.NIC_OUT, Kind.NIC_IN),
        (groups.rack, Kind.UPLINK_OUT, Kind.UPLINK_IN),
    ):
        size = int(places.max()) + 1
        leaving = np.bincount(places[senders], dealt, size)
        there = np.bincount(places[to], counts, size)
        leaves = leaving * (counts.sum() - there) / over
        # What rounding leaves of a difference of equal sums is nothing.
        others_send = np.count_nonzero(leaving) > (leaving > 0)
        enters = np.where(others_send, leaving.sum() - leaving, 0.0) * there / over
        for kind, amounts in ((out, leaves), (into, enters)):
            for place in np.flatnonzero(amounts).tolist():
                megabits = float(_megabits(link))
                if megabits:
                    seconds = megabits / float(_bandwidth(flows, kind, place))
                    yield kind, place, float(amounts[place]) / total * seconds


def _bandwidth(flows: Flows, kind: Kind, place: int) -> Decimal:
    """Return Mbit/s of a network interface or an uplink."""
    cluster = flows.instance.cluster
    if kind in (Kind.UPLINK_OUT, Kind.UPLINK_IN):
        path = f"cluster.uplink_mbit_s.{cluster.racks[place]}"
        found = cluster.uplink_mbit_s.get(cluster.racks[place])
    else:
        way = "out" if kind is Kind.NIC_OUT else "in"
        path = f"cluster.nodes[{place}].bandwidth_{way}_mbit_s"
        found = getattr(cluster.nodes[place], f"bandwidth_{way}_mbit_s")
    if found is None:
        raise needed(path)
    return found


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
        if link.source in route.visits:
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
    receivers = flows.components[link.target].groups
    counts = {
        other: int(flows.groups.size[other])
        for other in receivers
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
