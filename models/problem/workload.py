"""The workload of a problem: what tuples ask of cores, network interfaces and uplinks.

Compiled where the objective has the part ``bottleneck``: the highest utilisation of any cpu,
network interface or uplink when every spout emits its rate. All numbers are exact. Threads do not
count: how long one is in use depends on the speed of its node and on how far it sends alone.

What comes by ``local_or_shuffle`` depends on the placement, everything else that a task receives
does not. Where there is no such stream, loads are sums over tasks and pairs of tasks (`Pairs`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.tuples import channels, in_order, placeable, received

LOCAL = "local_or_shuffle"
LEVELS = ("worker", "node", "rack", "cluster")
POINTS_OF_A_CORE = 100
"""Cpu of the core that times per tuple refer to."""
MS_PER_S = 1000
BITS = Fraction(8, 10**6)
"""Megabits of a byte."""
NEEDED = "is needed where 'bottleneck' is in the objective"


@dataclass(frozen=True, slots=True)
class Received:
    """What the tasks of a component receive, of a spout emit, in tuples/s.

    Parameters
    ----------
    component, topology
        Indices into `Problem.components` and `Problem.topologies`.
    tasks
        Number of its tasks.
    even
        What each of them receives in every placement.
    first
        What the first one receives beyond that, by ``global``.
    total
        What all receive together, in every placement.
    service
        Seconds of a core of 100 points to process a tuple.
    """

    component: int
    topology: int
    tasks: int
    even: Fraction
    first: Fraction
    total: Fraction
    service: Fraction


@dataclass(frozen=True, slots=True)
class Emission:
    """What the tasks of one component send to those of another.

    Parameters
    ----------
    source, target
        Indices of components.
    grouping
        Of `GROUPINGS`.
    selectivity
        Tuples per tuple that the sender receives; ``None`` = each sender sends as many.
    rate
        Tuples/s of all senders; one of which every receiver gets a copy counts once.
    shares
        Among how many tasks they are divided: 1 where each receives a copy, or the first all.
    copies
        How many of each tuple are sent.
    megabits
        Of a tuple.
    """

    source: int
    target: int
    grouping: str
    selectivity: Fraction | None
    rate: Fraction
    shares: int
    copies: int
    megabits: Fraction

    def by_task(self, amount: Fraction, senders: int) -> Fraction:
        """Return what one of `senders` tasks sends that receives `amount`."""
        return self.rate / senders if self.selectivity is None else amount * self.selectivity


@dataclass(frozen=True, slots=True)
class TuplePair:
    """What every task of class `source` sends to every task of class `target`, itself included.

    `work` is what sending asks of the sender's node by the level that both share, `bits` what of
    the network; both in whole units of `Pairs`.
    """

    source: int
    target: int
    work: tuple[int, int, int, int]
    bits: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Loads as sums over tasks and pairs of tasks, in integers, without ``local_or_shuffle``.

    Parameters
    ----------
    work
        [C] what one task of each class asks of its node's cpu, without sending.
    flows
        What tasks send each other.
    cpu, nic_out, nic_in, uplink
        Steps of the part ``bottleneck`` by which one unit of work, or of bits, raises the
        utilisation of each node's cpu and interface, of each rack's uplink; empty as those of
        `Workload`.
    """

    work: tuple[int, ...]
    flows: tuple[TuplePair, ...]
    cpu: tuple[int, ...]
    nic_out: tuple[int, ...]
    nic_in: tuple[int, ...]
    uplink: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """What tuples ask of resources.

    Parameters
    ----------
    receivers
        Component -> what it receives, a sender by ``local_or_shuffle`` before its receivers.
    emissions
        What components send to each other.
    first
        Component that receives something by ``global`` -> the class of its first task.
    serialise
        Seconds of a core of 100 points to send a tuple, by level.
    cores
        [N] cpu of each node, in cores of 100 points.
    nic_out, nic_in, uplink
        [N], [N], [R] Mbit/s; of an uplink in each direction. Empty where nothing can pass them.
    pairs
        The loads in integers; where something is sent by ``local_or_shuffle``, less than them.
    is_linear
        Whether nothing is.
    unit
        Utilisation of one integer step of the part: every utilisation of a resource in every
        placement is a whole number of steps.
    largest
        Steps that no placement exceeds.
    least
        Steps that every placement of all topologies has at least: the mean of all cpus.
    """

    receivers: Mapping[int, Received]
    emissions: tuple[Emission, ...]
    first: Mapping[int, int]
    serialise: tuple[Fraction, ...]
    cores: tuple[Fraction, ...]
    nic_out: tuple[Fraction, ...]
    nic_in: tuple[Fraction, ...]
    uplink: tuple[Fraction, ...]
    pairs: Pairs
    is_linear: bool
    unit: Fraction
    largest: int
    least: int


Members = Sequence[tuple[int, Sequence[int]]]
"""Component and tasks of each class."""


def compile_workload(
    instance: Instance, components: Sequence[tuple[int, str]], classes: Members
) -> Workload:
    """Return the workload of an instance.

    Raises
    ------
    InputError
        Naming the key that is needed and missing, or streams by ``local_or_shuffle`` on a cycle.
    """
    index = {key: number for number, key in enumerate(components)}
    receivers: dict[int, Received] = {}
    emissions: list[Emission] = []
    for t, topology in enumerate(instance.topologies):
        some, streams = _topology(t, topology, index)
        receivers |= {one.component: one for one in some}
        emissions += streams
    cluster = instance.cluster
    receivers = {c: receivers[c] for c in _order(components, receivers, emissions)}
    first = {
        one.target: min(
            (k for k, (c, _) in enumerate(classes) if c == one.target),
            key=lambda k: classes[k][1][0],
        )
        for one in emissions
        if one.grouping == "global"
    }
    serialise = _serialise(cluster) if emissions else (Fraction(0),) * 4
    cores = _cores(cluster)
    crosses = len(cluster.nodes) > 1 and any(one.megabits for one in emissions)
    nic_out, nic_in, uplink = _bandwidths(cluster) if crosses else ((), (), ())
    work, bits = _units(receivers, emissions, serialise)
    offers = [(work, cores), *((bits, some) for some in (nic_out, nic_in, uplink))]
    unit = _gcd(amount / offered for amount, some in offers for offered in some) or Fraction(1)
    steps = [tuple(_steps(amount / one, unit) for one in some) for amount, some in offers]
    least = asked = sum((one.total * one.service for one in receivers.values()), Fraction(0))
    carried = Fraction(0)
    for emission in emissions:
        copies = emission.rate * emission.copies
        least += copies * min(serialise)
        asked += copies * max(serialise)
        carried += copies * emission.megabits
    most = [asked / min(cores), *(carried / min(one) for one in (nic_out, nic_in, uplink) if one)]
    return Workload(
        receivers=receivers,
        emissions=tuple(emissions),
        first=first,
        serialise=serialise,
        cores=cores,
        nic_out=nic_out,
        nic_in=nic_in,
        uplink=uplink,
        pairs=Pairs(*_pairs(receivers, emissions, first, classes, serialise, (work, bits)), *steps),
        is_linear=all(one.grouping != LOCAL for one in emissions),
        unit=unit,
        largest=math.ceil(max(most) / unit),
        least=math.ceil(least / sum(cores) / unit),
    )


# What components receive and send.


def _topology(
    t: int, topology: Topology, index: Mapping[tuple[int, str], int]
) -> tuple[list[Received], list[Emission]]:
    path, own = f"topologies[{t}]", placeable(t, topology)
    for place in own.values():
        if place.noun.kind == "spout" and place.noun.rate is None:
            raise _needed(f"{place.path}.rate")
    for j, stream in enumerate(topology.streams):
        unknown = stream.selectivity is None and stream.rate is None
        if unknown and {stream.source, stream.target} <= own.keys():
            raise _needed(f"{path}.streams[{j}].selectivity")
    some = channels(t, topology)
    given = {
        name: Fraction(one.noun.rate or 0) if one.noun.kind == "spout" else Fraction(0)
        for name, one in own.items()
    }
    total = received(given, some, own)
    even = {name: rate / own[name].noun.parallelism for name, rate in given.items()}
    first: dict[str, Fraction] = defaultdict(Fraction)
    emissions = []
    for one in some:
        rate = given[one.target] if one.selectivity is None else total[one.source] * one.selectivity
        if not rate:
            continue
        tasks = own[one.target].noun.parallelism
        shares = 1 if one.grouping in ("all", "global") else tasks
        if one.selectivity is not None and one.grouping == "global":
            first[one.target] += rate
        elif one.selectivity is not None and one.grouping != LOCAL:
            even[one.target] += rate / shares
        if one.tuple_bytes is None:
            raise _needed(one.bytes_path)
        ends = index[t, one.source], index[t, one.target]
        megabits = Fraction(one.tuple_bytes) * BITS
        copies = tasks if one.grouping == "all" else 1
        emissions.append(
            Emission(*ends, one.grouping, one.selectivity, rate, shares, copies, megabits)
        )
    receivers = []
    for name, place in own.items():
        if total[name] and place.noun.service_ms is None:
            raise _needed(f"{place.path}.service_ms")
        service = Fraction(place.noun.service_ms or 0) / MS_PER_S
        tasks = place.noun.parallelism
        receivers.append(
            Received(index[t, name], t, tasks, even[name], first[name], total[name], service)
        )
    return receivers, emissions


def _order(
    components: Sequence[tuple[int, str]], receivers: Iterable[int], emissions: Iterable[Emission]
) -> Iterator[int]:
    """Yield the components, senders by ``local_or_shuffle`` before their receivers."""
    import networkx as nx

    graph = nx.DiGraph((one.source, one.target) for one in emissions if one.grouping == LOCAL)
    graph.add_nodes_from(receivers)
    for part in in_order(graph):
        c = min(part)
        if len(part) > 1 or graph.has_edge(c, c):
            rule = f"are on a cycle of streams by {LOCAL}, which 'bottleneck' does not count"
            shown = ", ".join(sorted(components[one][1] for one in part))
            raise InputError(rule, field=f"topologies[{components[c][0]}]", value=shown)
        yield c


# The coarsest units on which all loads are whole.


def _gcd(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all are whole multiples; 0 where all are 0."""

    def both(a: Fraction, b: Fraction) -> Fraction:
        whole = math.gcd(a.numerator * b.denominator, b.numerator * a.denominator)
        return Fraction(whole, a.denominator * b.denominator)

    return reduce(both, set(numbers), Fraction(0))


def _steps(number: Fraction, unit: Fraction) -> int:
    steps = number / unit if number else Fraction(0)
    assert steps.denominator == 1, "the unit was made from this number"
    return steps.numerator


def _units(
    receivers: Mapping[int, Received], emissions: Sequence[Emission], serialise: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """Return seconds and megabits of which all that is asked of a resource is a whole multiple."""
    grains: dict[int, Fraction] = {}  # of what the tasks of a component in a worker receive
    for c, one in receivers.items():
        local = (
            other.selectivity * grains[other.source] / one.tasks
            for other in emissions
            if other.target == c and other.grouping == LOCAL and other.selectivity is not None
        )
        grains[c] = _gcd((one.even, one.first, *local))
    amounts = [
        emission.by_task(grains[emission.source], receivers[emission.source].tasks)
        / emission.shares
        for emission in emissions
    ]
    works = [grains[c] * one.service for c, one in receivers.items()]
    works += [grain * times for grain in amounts for times in serialise]
    return _gcd(works), _gcd(
        grain * emission.megabits for emission, grain in zip(emissions, amounts, strict=True)
    )


# Loads as sums over tasks and pairs.


def _pairs(
    receivers: Mapping[int, Received],
    emissions: Sequence[Emission],
    first: Mapping[int, int],
    classes: Members,
    serialise: Sequence[Fraction],
    units: tuple[Fraction, Fraction],
) -> tuple[tuple[int, ...], tuple[TuplePair, ...]]:
    """Return `Pairs.work` and `Pairs.flows`."""
    work, bits = units
    amounts = [
        receivers[c].even + (receivers[c].first if first.get(c) == k else 0)
        for k, (c, _) in enumerate(classes)
    ]
    of_component: dict[int, list[int]] = defaultdict(list)
    for k, (c, _) in enumerate(classes):
        of_component[c].append(k)
    by_pair: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * 5)
    for emission in emissions:
        if emission.grouping == LOCAL:
            continue
        targets = (
            [first[emission.target]]
            if emission.grouping == "global"
            else of_component[emission.target]
        )
        for a in of_component[emission.source]:
            amount_each = (
                emission.by_task(amounts[a], receivers[emission.source].tasks) / emission.shares
            )
            asked = [*(_steps(amount_each * times, work) for times in serialise)]
            asked.append(_steps(amount_each * emission.megabits, bits))
            for b in targets:
                by_pair[a, b] = [x + y for x, y in zip(by_pair[a, b], asked, strict=True)]
    works = (
        _steps(amount * receivers[c].service, work)
        for (c, _), amount in zip(classes, amounts, strict=True)
    )
    flows = (
        TuplePair(a, b, (worker, node, rack, cluster), size)
        for (a, b), (worker, node, rack, cluster, size) in sorted(by_pair.items())
    )
    return tuple(works), tuple(one for one in flows if one.bits or any(one.work))


# What resources offer.


def _needed(field: str) -> InputError:
    return InputError(NEEDED, field=field, has_value=False)


def _serialise(cluster: Cluster) -> tuple[Fraction, ...]:
    """Return the seconds by level; of levels that no pair of nodes has, those of the one below."""
    racks = [node.rack for node in cluster.nodes]
    has = (True, True, len(set(racks)) < len(racks), len(set(racks)) > 1)
    delays: list[Fraction] = []
    for name, occurs, ms in zip(LEVELS, has, cluster.serialise_ms.levels, strict=True):
        if occurs and ms is None:
            raise _needed(f"cluster.serialise_ms.{name}")
        delays.append(Fraction(ms or 0) / MS_PER_S if occurs else delays[-1])
    return tuple(delays)


def _cores(cluster: Cluster) -> tuple[Fraction, ...]:
    costs = []
    for n, node in enumerate(cluster.nodes):
        cpu, path = node.resources.get("cpu"), f"cluster.nodes[{n}].resources.cpu"
        if cpu is None:
            raise _needed(path)
        if cpu == 0:
            rule = "must be above 0 where 'bottleneck' is in the objective"
            raise InputError(rule, field=path, value=cpu)
        costs.append(Fraction(cpu) / POINTS_OF_A_CORE)
    return tuple(costs)


def _bandwidths(cluster: Cluster) -> Iterator[tuple[Fraction, ...]]:
    """Yield Mbit/s of all nodes, out, in, and of the uplinks, none where there is one rack."""
    for key in ("bandwidth_out_mbit_s", "bandwidth_in_mbit_s"):
        given = [getattr(node, key) for node in cluster.nodes]
        if None in given:
            raise _needed(f"cluster.nodes[{given.index(None)}].{key}")
        yield tuple(map(Fraction, given))
    if len(cluster.racks) == 1:
        yield ()
        return
    for rack in cluster.racks:
        if rack not in cluster.uplink_mbit_s:
            raise _needed(f"cluster.uplink_mbit_s.{rack}")
    yield tuple(Fraction(cluster.uplink_mbit_s[rack]) for rack in cluster.racks)
