"""The network of queues: throughputs of closed routes, and times of all.

Routes without a window are open: they bring the rate of their spout. The others are closed: each
task of the spout has at most `window` tuples in flight and emits another as soon as it may, or, if
the spout has a rate, when the next one has come. Threads are FIFO with general service times,
network interfaces and uplinks processor sharing, delays pure. Three ways lead to the times:

- all routes open: by formula, after the slowdowns of threads on shared cores;
- closed, of product form and small: exact mean value analysis;
- else: Schweitzer's and Bard's approximation of it, in which a tuple that arrives sees what is
  there in the mean, without its own route's share of one tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor, inf, log

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.prediction.flows import FloatArray, IntArray, needed
from slotwise.models.prediction.latency import Time, Tree, trees
from slotwise.models.prediction.loads import Kind, Loads
from slotwise.models.prediction.mva import exact_mva
from slotwise.models.prediction.stations import CoreSharing

MOST_POPULATIONS = 5_000
"""Populations up to which mean value analysis is exact where the network is of product form."""
MOST_ROUNDS = 20_000
SETTLED = 1e-10
"""Relative change of throughputs and queues at which the approximation ends."""
IN_TURN = ("shuffle", "local_or_shuffle", "none", "global")
"""Groupings that deal tuples in turn: those sent together go to different receivers first."""


class Analysis(StrEnum):
    """How throughputs and times were found."""

    OPEN = "open"
    EXACT = "exact mean value analysis"
    APPROXIMATE = "approximate mean value analysis"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The network of queues, solved.

    Parameters
    ----------
    analysis
        How.
    rates
        [R] tuples per second that each spout emits.
    times
        Of each route, from emission until all that follows is processed.
    slowdowns
        [G] how much longer than alone a thread is busy with a tuple because others share its cores.
    settled
        Whether the approximation came to rest; where not, `rates` and `times` are its last.
    """

    analysis: Analysis
    rates: FloatArray
    times: tuple[Time, ...]
    settled: bool
    bounds: tuple[Bound | None, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """What holds for a closed route whatever the queues.

    Parameters
    ----------
    rate_at_most
        Tuples per second: the window over the time without any waiting, or what the scarcest
        resource lets through if the route has it alone.
    latency_at_least
        Seconds without any waiting.
    """

    rate_at_most: float
    latency_at_least: float


class _Network:
    """Arrays of the network, by visit (of a route to a group) and by passage (of a hop)."""

    def __init__(self, loads: Loads) -> None:
        flows, visits = loads.flows, loads.visits
        groups, routes = flows.groups, flows.routes
        self.loads, self.trees = loads, trees(loads)
        self.group_count, self.route_count = len(groups.size), len(routes)
        self.route, self.group, self.count = visits.route, visits.group, visits.count
        self.busy_s = visits.service + visits.serialise
        self.cores = CoreSharing.of(flows, np.unique(self.group[self.busy_s > 0]))
        self.size = groups.size[self.group].astype(np.float64)
        spout = np.asarray([route.spout for route in routes], dtype=np.int64)
        self.component = groups.component[self.group]
        self.at_spout = self.component == spout[self.route]
        self.closed = np.asarray([route.window is not None for route in routes], dtype=np.bool_)
        window = np.asarray([route.window or inf for route in routes], dtype=np.float64)
        tasks = np.asarray([flows.components[c].tasks for c in spout.tolist()], dtype=np.float64)
        self.population = np.where(self.closed, window * tasks, inf)
        self.window = window
        self.rate = np.asarray([inf if one.rate is None else float(one.rate) for one in routes])
        """Of the spout; infinite where a window alone limits it."""
        self.task_rate = self.rate / tasks
        self.rest = _half_of_variability(loads, self.busy_s)
        self.batch = _batches(loads)
        first = loads.first[Kind.NIC_OUT]
        self.first_link = first
        self.link_demand = loads.demand[:, first:]
        """[R, L] of network interfaces and uplinks."""
        self.shared_demand = loads.demand.copy()
        """[R, K] without the threads of the spouts of closed routes, each of which has its own."""
        for r, route in enumerate(routes):
            own = flows.components[route.spout].groups
            if route.window is not None:
                self.shared_demand[r, own.start : own.stop] = 0.0
        hops = loads.hops
        self.hop_delay = np.asarray([hop.delay for hop in hops])
        self.hop_variance = np.asarray([hop.delay_square - hop.delay**2 for hop in hops])
        self.hop_route = np.asarray([hop.route for hop in hops], dtype=np.int64)
        # One place for each component that a route comes by.
        keys = self.route * (len(flows.components) + 1) + self.component
        places, self.place = np.unique(keys, return_inverse=True)
        self.place_of: list[dict[int, int]] = [{} for _ in routes]
        for index, key in enumerate(places.tolist()):
            r, c = divmod(key, len(flows.components) + 1)
            self.place_of[r][c] = index
        self.place_weight = _sums(self.place, self.count)

    def per_group(self, values: FloatArray) -> FloatArray:
        """Return the sums over the visits of each group."""
        return _sums(self.group, values, self.group_count)

    def times_at(self, residence: FloatArray, busy: FloatArray) -> list[Time]:
        """Return the time at each place: the mean over the groups of its component."""
        scv = 1 - 2 * self.rest
        waiting = np.maximum(residence - self.busy_s, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.where(busy > 0, waiting**2 * (2 / busy - 1), 0.0)
        square = scv * self.busy_s**2 + spread + residence**2
        visits = self.loads.visits
        means = [
            _sums(self.place, self.count * one) / self.place_weight
            for one in (square, waiting, visits.service, visits.serialise)
        ]
        return [
            Time(max(0.0, two - (w + s + z) ** 2), queueing=w, service=s, serialise=z)
            for two, w, s, z in zip(*(one.tolist() for one in means), strict=True)
        ]

    def times_of_hops(self, stretch: FloatArray) -> list[Time]:
        """Return the time of each hop; `stretch` is [R, L], times on links over without waiting."""
        passages, count = self.loads.passages, len(self.hop_delay)
        plain = _sums(passages.hop, passages.seconds, count)
        there = stretch[self.hop_route[passages.hop], passages.resource - self.first_link]
        whole = _sums(passages.hop, passages.seconds * there, count)
        rows = zip(
            (self.hop_variance + whole**2).tolist(),
            np.maximum(whole - plain, 0.0).tolist(),
            (self.hop_delay + plain).tolist(),
            strict=True,
        )
        return [Time(max(0.0, v), queueing=wait, network=way) for v, wait, way in rows]

    def after_emission(self, tree: Tree, places: Sequence[Time], hops: Sequence[Time]) -> Time:
        """Return the time of a route after its spout's thread."""
        at = {c: places[index] for c, index in self.place_of[tree.route].items()}
        return tree.after_emission(at, hops)


def _sums(index: IntArray, values: FloatArray, count: int = 0) -> FloatArray:
    """Return the sums of the values of each index from 0 to `count`."""
    return np.bincount(index, values, count).astype(np.float64, copy=False)


def _half_of_variability(loads: Loads, busy: FloatArray) -> FloatArray:
    """Return of each visit (1 - scv) / 2: by how much less than a service time the rest of one is.

    Of the time that a thread is busy, serialisation is as variable as the service.
    """
    groups, components = loads.flows.groups, loads.flows.components
    found = np.zeros(len(busy))
    for visit in np.flatnonzero(busy > 0).tolist():
        one = components[int(groups.component[loads.visits.group[visit]])]
        if one.noun.service_scv is None:
            raise needed(f"{one.path}.service_scv")
        found[visit] = (1 - float(one.noun.service_scv)) / 2
    return found


def _batches(loads: Loads) -> FloatArray:
    """Return of each visit how many tuples that were sent together wait in front, in the mean.

    E X(X - 1) / 2 E X for X tuples that come to one task together.
    """
    flows, visits = loads.flows, loads.visits
    weight = np.zeros((len(flows.routes), len(flows.components)))
    total = np.zeros_like(weight)
    for hop in loads.hops:
        link, route = flows.links[hop.link], flows.routes[hop.route]
        if link.acks:
            continue
        many = hop.copies / float(route.visits[link.source])
        receivers = float(np.where(link.stays, link.reach[:, 0], link.reach[:, 3]).mean())
        if link.to_all or link.grouping in IN_TURN:
            each = many / receivers
            whole = floor(each)
            in_front = whole * (whole - 1 + 2 * (each - whole)) / each / 2
        else:
            whole = floor(many)
            in_front = whole * (whole - 1 + 2 * (many - whole)) / many / receivers / 2
        total[hop.route, link.target] += hop.copies * in_front
        weight[hop.route, link.target] += hop.copies
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    found: FloatArray = mean[visits.route, flows.groups.component[visits.group]]
    return found


def solve(loads: Loads) -> Solution:
    """Return throughputs and times of a placement.

    Open routes must be within what every resource can do (`Loads.busiest` below 1).

    Raises
    ------
    InputError
        Naming the squared coefficient of variation that is needed and not given.
    """
    network = _Network(loads)
    bounds = _bounds(network)
    if not network.closed.any():
        return _open(network, bounds)
    if _is_product_form(network) and _is_small(network):
        return _exact(network, bounds)
    return _approximate(network, bounds)


# Open routes alone.


def _open(network: _Network, bounds: tuple[Bound | None, ...]) -> Solution:
    rates = network.rate
    state = _State(network, rates[network.route] * network.count)
    slowdown = network.cores.settled(network.per_group(state.busy))
    none = np.zeros(len(network.route))
    residence, chance = state.residence(slowdown, none)
    links = np.broadcast_to(1 / (1 - rates @ network.link_demand), network.link_demand.shape)
    times = _times(network, residence, chance, links)
    return Solution(Analysis.OPEN, rates, times, True, bounds)


class _State:
    """Loads at given flows, and what a tuple that arrives finds."""

    def __init__(self, network: _Network, flow: FloatArray) -> None:
        self.network, self.flow = network, flow
        self.busy = flow * network.busy_s / network.size
        """Of each visit: share of the time that one task of its group is busy with it, alone."""
        self.is_open = ~network.closed[network.route]
        self.own = np.where(
            network.at_spout, network.window[network.route], network.population[network.route]
        )
        """Tuples of the route that may be at the thread: one of them arrives."""

    def residence(self, slowdown: FloatArray, queue: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return of each visit the seconds at the thread, and the chance to find it busy.

        `queue` is the mean number of tuples of closed routes that one task has, by visit.
        """
        network, group = self.network, self.network.group
        closed_queue, closed_busy, open_busy = (
            network.per_group(np.where(some, values, 0.0))[group]
            for some, values in (
                (~self.is_open, queue),
                (~self.is_open, self.busy),
                (self.is_open, self.busy),
            )
        )
        seen = np.where(self.is_open, closed_queue, closed_queue - queue / self.own)
        seen_busy = np.where(self.is_open, closed_busy, closed_busy - self.busy / self.own)
        factor = 1 + (slowdown[group] - 1) * self._others_on_node()
        open_busy = np.minimum(open_busy * factor, 1 - 1e-12)
        seen_busy = np.minimum(seen_busy * factor, 1.0)
        together = self._together()
        places = 1 + seen * (1 - (factor - 1) / factor * together) + network.batch
        places -= network.rest * (np.minimum(seen_busy, seen) + open_busy)
        residence = network.busy_s * factor * places / (1 - open_busy)
        residence = np.maximum(residence, network.busy_s)
        return residence, np.minimum(seen_busy + open_busy, 1.0)

    def _others_on_node(self) -> FloatArray:
        """Return of each visit the share of its node's load that is not its own tuple."""
        network = self.network
        node = network.loads.flows.groups.node[network.group]
        nodes = len(network.loads.flows.instance.cluster.nodes)
        key = network.route * nodes + node
        work = self.busy * network.size
        own = _sums(key, work / self.own, network.route_count * nodes)[key]
        load = _sums(node, work, nodes)[node]
        share: FloatArray = np.divide(own, load, out=np.zeros_like(own), where=load > 0)
        return 1 - share

    def _together(self) -> FloatArray:
        """Return how much less often than by chance two tuples are at two threads of a node.

        Of n tuples in flight besides the one that arrives, one cannot be at both: 1 / n.
        """
        network = self.network
        in_flight = float(network.population[network.closed].sum())
        return np.full(len(network.route), 1 / max(in_flight - 1, 1.0) if in_flight else 0.0)


def _times(
    network: _Network, residence: FloatArray, chance: FloatArray, links: FloatArray
) -> tuple[Time, ...]:
    """Return the times of routes after emission, what their spouts serialise included."""
    places = network.times_at(residence, chance)
    hops = network.times_of_hops(links)
    found = []
    for tree in network.trees:
        spout = places[network.place_of[tree.route][tree.spout]]
        sending = Time(serialise=spout.serialise)
        found.append(sending.after(network.after_emission(tree, places, hops)))
    return tuple(found)


# Closed routes, approximately.


def _approximate(network: _Network, bounds: tuple[Bound | None, ...]) -> Solution:
    closed, routes = network.closed, network.route
    at_spout = network.at_spout
    rates = np.where(closed, 0.0, network.rate)
    for r in np.flatnonzero(closed).tolist():
        bound = bounds[r]
        assert bound is not None, "closed routes have bounds"
        rates[r] = bound.rate_at_most / 2
    share = network.count.copy()
    """Of each spout's group: of what its spout emits."""
    slowdown = np.ones(network.group_count)
    queue = np.zeros(len(routes))
    link_queue = np.zeros_like(network.link_demand)
    source = np.zeros(len(routes))
    settled = False
    own_link = np.where(closed, network.population, inf)[:, None]
    for _ in range(MOST_ROUNDS):
        flow = rates[routes] * np.where(at_spout, share, network.count)
        state = _State(network, flow)
        slowdown = network.cores.slowdown(network.per_group(state.busy), slowdown)
        residence, chance = state.residence(slowdown, queue)
        open_load = (rates * ~closed) @ network.link_demand
        there = (link_queue * closed[:, None]).sum(axis=0)
        links = (1 + there - link_queue / own_link) / (1 - open_load)
        places, hops = network.times_at(residence, chance), network.times_of_hops(links)
        after = np.asarray(
            [network.after_emission(tree, places, hops).mean for tree in network.trees]
        )
        window = network.window[routes]
        pause = (1 + source * (1 - 1 / window)) / network.task_rate[routes]
        cycle = np.where(at_spout, pause + residence + after[routes], inf)
        with np.errstate(divide="ignore"):
            each = np.minimum(window / cycle, 1 / network.busy_s)
        emitted = np.where(closed[routes] & at_spout, each * network.size, 0.0)
        wanted = _sums(routes, emitted, network.route_count)
        new = np.where(closed, _within(network, wanted), network.rate)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(wanted[routes] > 0, emitted / wanted[routes], network.count)
        new_share = np.where(at_spout & closed[routes], part, network.count)
        new_flow = new[routes] * np.where(at_spout, new_share, network.count)
        new_queue = np.where(closed[routes], new_flow * residence / network.size, 0.0)
        new_links = new[:, None] * network.link_demand * links
        new_source = np.where(at_spout, new_flow / network.size * pause, 0.0)
        change = max(
            _change(rates, new),
            _change(queue, new_queue),
            _change(link_queue, new_links),
            _change(source, new_source),
        )
        rates, share, queue, link_queue, source = new, new_share, new_queue, new_links, new_source
        if change <= SETTLED:
            settled = True
            break
    times = _times(network, residence, chance, links)
    return Solution(Analysis.APPROXIMATE, rates, times, settled, bounds)


def _change(before: FloatArray, after: FloatArray) -> float:
    scale = max(float(np.abs(after).max(initial=0.0)), 1e-300)
    return float(np.abs(after - before).max(initial=0.0)) / scale


def _within(network: _Network, wanted: FloatArray) -> FloatArray:
    """Return the rates that are wanted, lowered where a resource would do more than it can."""
    rates = np.where(network.closed, wanted, network.rate)
    demand = network.shared_demand
    load = rates @ demand
    over = np.flatnonzero(load > 1)
    if not over.size:
        return rates
    factor = np.ones(len(rates))
    fixed = np.where(network.closed, 0.0, rates) @ demand
    for k in over.tolist():
        room = max(0.0, 1 - fixed[k]) / max(load[k] - fixed[k], 1e-300)
        factor = np.where(network.closed & (demand[:, k] > 0), np.minimum(factor, room), factor)
    return rates * factor


# Closed routes, exactly.


def _is_product_form(network: _Network) -> bool:
    """Whether exact mean value analysis applies: trees are paths, and all threads independent."""
    if not network.closed.all() or network.cores.nodes:
        return False
    if (np.abs(network.rest[network.busy_s > 0]) > 0).any():
        return False
    for tree in network.trees:
        if tree.acker is not None or tree.cyclic:
            return False
        if any(len(some) > 1 or some[0][2] > 1 for some in tree.branches.values()):
            return False
    # Tasks of a spout in several workers have ways of their own.
    return bool(network.at_spout.sum() == network.route_count)


def _is_small(network: _Network) -> bool:
    """Whether mean value analysis goes through few populations."""
    tasks = network.size[network.at_spout].astype(int).tolist()
    windows = network.window[network.route[network.at_spout]].astype(int).tolist()
    logarithm = sum(m * log(w + 1) for m, w in zip(tasks, windows, strict=True))
    return bool(logarithm <= log(MOST_POPULATIONS))


def _exact(network: _Network, bounds: tuple[Bound | None, ...]) -> Solution:
    """Solve a network of product form; each task of a spout is a class of its own."""
    loads, groups = network.loads, network.loads.flows.groups
    visits = [int(v) for v in np.flatnonzero(network.at_spout) for _ in range(int(network.size[v]))]
    routes = network.route[visits]
    # A station for each task that is no spout, each link, and two for each task of a spout: its
    # thread, and the pause until the next tuple has come.
    threads = np.repeat(np.arange(network.group_count), groups.size)
    tasks = network.shared_demand[routes][:, threads]
    links = network.link_demand[routes]
    own = np.diag(network.busy_s[visits])
    pause = np.diag(1 / network.task_rate[routes])
    demand = np.concatenate([tasks, links, own, pause], axis=1)
    copies = np.asarray([hop.copies for hop in loads.hops])
    delay = _sums(network.hop_route, copies * network.hop_delay, network.route_count)
    window = network.window[routes].astype(int).tolist()
    throughput, residence = exact_mva(demand, delay[routes], window)
    rates = _sums(routes, throughput, network.route_count)
    # How much longer than without waiting a route's tuples are at each station.
    first = np.asarray([int(np.argmax(routes == r)) for r in range(network.route_count)])
    stretch = np.divide(residence, demand, out=np.ones_like(demand), where=demand > 0)[first]
    by_group = np.ones((network.route_count, network.group_count))
    by_group[:, threads] = stretch[:, : len(threads)]
    at_thread = network.busy_s * by_group[network.route, network.group]
    chance = np.minimum(1.0, (rates @ network.shared_demand)[network.group])
    on_links = stretch[:, len(threads) : len(threads) + links.shape[1]]
    times = _times(network, at_thread, chance, on_links)
    return Solution(Analysis.EXACT, rates, times, True, bounds)


# Bounds.


def _bounds(network: _Network) -> tuple[Bound | None, ...]:
    """Return what no queue can improve on; ``None`` for open routes."""
    constant = np.zeros(len(network.route))
    places = [replace(one, variance=0.0) for one in network.times_at(network.busy_s, constant)]
    plain = network.times_of_hops(np.ones_like(network.link_demand))
    hops = [replace(one, variance=0.0) for one in plain]
    found: list[Bound | None] = []
    for r, tree in enumerate(network.trees):
        if not network.closed[r]:
            found.append(None)
            continue
        after = network.after_emission(tree, places, hops).mean
        sending = places[network.place_of[r][tree.spout]].serialise
        here = network.at_spout & (network.route == r)
        busy, size = network.busy_s[here], network.size[here]
        most = network.shared_demand[r].max(initial=0.0)
        with np.errstate(divide="ignore"):
            alone = network.window[r] / (1 / network.task_rate[r] + busy + after)
            each = np.minimum(alone, 1 / busy)
            rate = min(float((each * size).sum()), float(1 / most), float(network.rate[r]))
        if rate == inf:
            spout = network.loads.flows.components[tree.spout]
            rule = "nothing limits how fast it emits; give it a rate, or service times above 0"
            raise InputError(rule, field=spout.path, has_value=False)
        found.append(Bound(rate, sending + after))
    return tuple(found)
