"""The network of queues solved: throughputs of closed routes, and times of all.

Routes without a window are open: they bring the rate of their spout. The others are closed: each
task of the spout has at most `window` tuples in flight and emits another as soon as it may, or, if
the spout has a rate, when the next one has come. Threads are FIFO with general service times,
network interfaces and uplinks processor sharing, delays pure. Three ways lead to the times:

- all routes open: by formula, after the slowdowns of threads on shared cores;
- closed, of product form and small: exact mean value analysis (`mva`);
- else: approximate mean value analysis (`closed`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, log

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.prediction.closed import Threads, solve_closed
from slotwise.models.prediction.flows import FloatArray
from slotwise.models.prediction.latency import Time
from slotwise.models.prediction.loads import Loads
from slotwise.models.prediction.mva import exact_mva
from slotwise.models.prediction.network import Network, network, sums

MOST_POPULATIONS = 5_000
"""Populations up to which mean value analysis is exact where the network is of product form."""


class Analysis(StrEnum):
    """How throughputs and times were found."""

    OPEN = "open"
    EXACT = "exact mean value analysis"
    APPROXIMATE = "approximate mean value analysis"


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


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The network of queues, solved.

    Parameters
    ----------
    analysis
        How.
    rates
        [R] tuples per second that each route emits.
    times
        Of each route, from emission until all that follows is processed.
    bounds
        Of each route; ``None`` for an open one.
    settled
        Whether the approximation came to rest; where not, `rates` and `times` are its last.
    """

    analysis: Analysis
    rates: FloatArray
    times: tuple[Time, ...]
    bounds: tuple[Bound | None, ...]
    settled: bool = True


def solve(loads: Loads) -> Solution:
    """Return throughputs and times of a placement.

    Open routes must be within what every resource can do (`Loads.busiest` below 1).

    Raises
    ------
    InputError
        Naming the squared coefficient of variation that is needed and not given, and a spout that
        nothing limits.
    """
    queues = network(loads)
    bounds = _bounds(queues)
    if not queues.closed.any():
        return _open(queues, bounds)
    if _is_product_form(queues) and _is_small(queues):
        return _exact(queues, bounds)
    most = np.asarray(
        [
            rate if one is None else one.rate_at_most
            for rate, one in zip(queues.rate, bounds, strict=True)
        ]
    )
    alone = np.asarray([0.0 if one is None else one.latency_at_least for one in bounds])
    closed = solve_closed(queues, most, alone)
    found = queues.times(closed.residence, closed.chance, closed.links)
    # What is approximate may pass its bound by a little: then the bound is nearer to the truth.
    rates = np.minimum(closed.rates, most)
    times = tuple(_at_least(time, one) for time, one in zip(found, bounds, strict=True))
    return Solution(Analysis.APPROXIMATE, rates, times, bounds, closed.settled)


def _at_least(time: Time, bound: Bound | None) -> Time:
    """Return a time that is not below its bound; only the slowest branch is approximated below."""
    missing = 0.0 if bound is None else max(0.0, bound.latency_at_least - time.mean)
    return replace(time, synchronisation=time.synchronisation + missing)


def _open(network: Network, bounds: tuple[Bound | None, ...]) -> Solution:
    none = np.zeros(len(network.route))
    threads = Threads(network, none + inf, network.rate[network.route] * network.count)
    slowdown = network.cores.settled(network.per_group(threads.busy))
    residence, chance = threads.residence(slowdown, none, none)
    load = network.rate @ network.link_demand
    links = (1 + network.bursts.link) / (1 - load)
    times = network.times(residence, chance, links)
    return Solution(Analysis.OPEN, network.rate, times, bounds)


# Closed routes, exactly.


def _is_product_form(network: Network) -> bool:
    """Whether exact mean value analysis applies: trees are paths, and all threads independent."""
    if not network.closed.all() or network.cores.nodes:
        return False
    if network.rest[network.busy_s > 0].any():
        return False
    for tree in network.trees:
        if tree.acker is not None or tree.cyclic:
            return False
        if any(len(some) > 1 or some[0].copies > 1 for some in tree.branches.values()):
            return False
    # Tasks of a spout in several workers have ways of their own.
    return bool(network.at_spout.sum() == network.route_count)


def _is_small(network: Network) -> bool:
    """Whether mean value analysis goes through few populations."""
    return bool(network.tasks @ np.log(network.window + 1) <= log(MOST_POPULATIONS))


def _exact(network: Network, bounds: tuple[Bound | None, ...]) -> Solution:
    """Solve a network of product form; each task of a spout is a class of its own."""
    loads, groups = network.loads, network.loads.flows.groups
    visits = [int(v) for v in np.flatnonzero(network.at_spout) for _ in range(int(network.size[v]))]
    routes = network.route[visits]
    # A station for each task of a bolt and each link, and two for each task of a spout: its thread,
    # and the pause until the next tuple has come.
    threads = np.repeat(np.arange(network.group_count), groups.size)
    tasks = network.shared_demand[routes][:, threads]
    links = network.link_demand[routes]
    own = np.diag(network.busy_s[visits])
    pause = np.diag(1 / network.task_rate[routes])
    demand = np.concatenate([tasks, links, own, pause], axis=1)
    copies = np.asarray([hop.copies for hop in loads.hops])
    delay = sums(network.hop_route, copies * network.hop_delay, network.route_count)
    window = network.window[routes].astype(int).tolist()
    throughput, residence = exact_mva(demand, delay[routes], window)
    rates = sums(routes, throughput, network.route_count)
    # How much longer than without waiting a route's tuples are at each station.
    first = np.asarray([int(np.argmax(routes == r)) for r in range(network.route_count)])
    stretch = np.divide(residence, demand, out=np.ones_like(demand), where=demand > 0)[first]
    by_group = np.ones((network.route_count, network.group_count))
    by_group[:, threads] = stretch[:, : len(threads)]
    at_thread = network.busy_s * by_group[network.route, network.group]
    chance = np.minimum(1.0, (rates @ network.shared_demand)[network.group])
    on_links = stretch[:, len(threads) : len(threads) + links.shape[1]]
    times = network.times(at_thread, chance, on_links)
    return Solution(Analysis.EXACT, rates, times, bounds)


# Bounds.


def _bounds(network: Network) -> tuple[Bound | None, ...]:
    """Return what no queue can improve on; ``None`` for open routes."""
    constant = np.zeros(len(network.route))
    places = [replace(one, variance=0.0) for one in network.times_at(network.busy_s, constant)]
    plain = network.times_of_hops(np.ones_like(network.link_demand))
    hops = [replace(one, variance=0.0) for one in plain]
    bounds: list[Bound | None] = []
    for r, (tree, time) in enumerate(zip(network.trees, network.after(places, hops), strict=True)):
        if not network.closed[r]:
            bounds.append(None)
            continue
        after = time.mean
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
        bounds.append(Bound(rate, sending + after))
    return tuple(bounds)
