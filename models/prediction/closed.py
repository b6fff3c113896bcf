"""Closed routes by approximate mean value analysis.

A tuple that arrives somewhere sees what is there when there is one tuple of its route less. Bard
and Schweitzer take the queues of its own route for smaller in proportion. Where there are few
routes, and cores for all threads, Chandy and Neuse's Linearizer corrects that by networks with one
tuple less; where threads share cores it brings nothing, for that is a coarser approximation.

K. M. Chandy, D. Neuse, Linearizer: a heuristic algorithm for queueing network models of computing
systems, Communications of the ACM 25(2), 1982.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from slotwise.models.prediction.fixed_point import Mixing
from slotwise.models.prediction.flows import FloatArray
from slotwise.models.prediction.network import Network, sums

CORRECTIONS = 2
"""Times that networks with one tuple less are solved; the article finds that enough."""
MOST_CORRECTED = 10
"""Closed routes up to which they are: there is a network for each."""
FIRST_ROUNDS = 10
"""Rounds of slowdowns alone, to begin with."""
MOST_ROUNDS = 2_000
SETTLED = 1e-7
"""Relative change of rates and queues in a round at which a network is solved."""
NEARLY = 1 - 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Queues:
    """Mean numbers of tuples of closed routes, of one task each.

    Parameters
    ----------
    thread
        [E] at the thread.
    link
        [R, L] on network interfaces and uplinks.
    source
        [E] of visits to a spout with a rate: places in the window that wait for its next tuple.
    """

    thread: FloatArray
    link: FloatArray
    source: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """How many tuples may be in flight; with one less of each route, of each task a part of one.

    Parameters
    ----------
    route
        [R] of all tasks of the route; infinite for an open route.
    thread
        [E] that may be at the thread: of one task of a spout its window, elsewhere of the route.
    """

    route: FloatArray
    thread: FloatArray

    @classmethod
    def of(cls, network: Network, less: int | None = None) -> Tokens:
        """Return the tokens of a network, one fewer of the route `less`, of each task a part."""
        fewer = np.zeros(network.route_count)
        if less is not None:
            fewer[less] = 1.0
        route = network.window * network.tasks - fewer
        window = network.window - fewer / network.tasks
        thread = np.where(network.at_spout, window[network.route], route[network.route])
        return cls(route, thread)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """A network that came to rest.

    Parameters
    ----------
    rates
        [R] tuples per second of each route.
    flow
        [E] tuples per second that come to the group.
    slowdown
        [G] of threads by others on their cores.
    queues
        What is where.
    residence
        [E] seconds at the thread.
    chance
        [E] to find it busy.
    links
        [R, L] time on links over that without waiting.
    settled
        Whether it did come to rest.
    """

    rates: FloatArray
    flow: FloatArray
    slowdown: FloatArray
    queues: Queues
    residence: FloatArray
    chance: FloatArray
    links: FloatArray
    settled: bool


def solve_closed(network: Network, most: FloatArray, alone: FloatArray) -> Settled:
    """Return the network with its closed routes.

    Parameters
    ----------
    network
        All routes.
    most
        [R] rates of closed routes at most, of open ones their own.
    alone
        [R] seconds that a tuple takes at least.
    """
    whole = Tokens.of(network)
    settled = _settle(network, whole, {}, _start(network, whole, most, alone))
    # A route of one tuple sees nothing of itself: there is nothing to correct.
    closed = np.flatnonzero(network.closed & (whole.route > 1)).tolist()
    if len(closed) > MOST_CORRECTED or network.cores.nodes:
        return settled
    corrections: dict[int, Queues] = {}
    fewer = dict.fromkeys(closed, settled)
    for _ in range(CORRECTIONS):
        for r in closed:
            less = Tokens.of(network, r)
            fewer[r] = _settle(network, less, corrections, fewer[r])
            corrections[r] = _difference(network, r, (less, fewer[r]), (whole, settled))
        settled = _settle(network, whole, corrections, settled)
    return settled


def _start(network: Network, tokens: Tokens, most: FloatArray, alone: FloatArray) -> Settled:
    """Return where to begin: rates that no resource refuses, and queues where one is scarce.

    All closed rates grow in proportion to what they are at most, each until a resource that it uses
    is full; the tuples in flight that are not under way then wait there.
    """
    demand, first, cpu = network.shared_demand, network.first_link, network.first_cpu
    rates = np.where(network.closed, 0.0, network.rate)
    thread, link = np.zeros(len(network.route)), np.zeros_like(network.link_demand)
    grows = network.closed.copy()
    while grows.any():
        load, growth = rates @ demand, np.where(grows, most, 0.0) @ demand
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(growth > 0, (1 - load) / growth, inf)
        scarce = int(np.argmin(room))
        reached = np.max(rates[grows] / most[grows])
        if room[scarce] >= 1 - reached:  # nothing but the window
            rates = np.where(grows, most, rates)
            break
        rates = rates + np.where(grows, most, 0.0) * max(0.0, float(room[scarce]))
        full = grows & (demand[:, scarce] > 0)
        for r in np.flatnonzero(full).tolist():
            waiting = max(0.0, float(tokens.route[r] - rates[r] * alone[r]))
            if scarce >= first:
                link[r, scarce - first] = waiting
                continue
            at = network.node == scarce - cpu if scarce >= cpu else network.group == scarce
            here = np.flatnonzero(at & (network.route == r))
            work = network.count[here] * network.busy_s[here]
            thread[here] = waiting * work / work.sum() / network.size[here]
        grows &= ~full
    flow = rates[network.route] * network.count
    busy, slowdown = flow * network.busy_s / network.size, np.ones(network.group_count)
    for _ in range(FIRST_ROUNDS):
        slowdown = network.cores.slowdown(network.per_group(busy), slowdown)
    none = np.zeros(len(network.route))
    queues = Queues(thread, link, none)
    return Settled(rates, flow, slowdown, queues, none, none, np.ones_like(link), settled=False)


def _difference(
    network: Network, route: int, less: tuple[Tokens, Settled], whole: tuple[Tokens, Settled]
) -> Queues:
    """Return by how much the queues per tuple in flight differ for one tuple less of a route."""
    (few, after), (many, before) = less, whole
    now, then = after.queues, before.queues
    thread = _over(now.thread, few.thread) - _over(then.thread, many.thread)
    source = _over(now.source, few.thread) - _over(then.source, many.thread)
    link = _over(now.link, few.route[:, None]) - _over(then.link, many.route[:, None])
    # At a spout's own threads, one tuple less of the route is a part of one less of the task.
    own = network.at_spout & (network.route == route)
    scale = np.where(own, network.tasks[route], 1.0)
    return Queues(thread * scale, link, source * scale)


def _over(queue: FloatArray, tokens: FloatArray) -> FloatArray:
    """Return queues per tuple in flight; 0 where there is none."""
    out: FloatArray = np.zeros_like(queue)
    return np.divide(queue, np.broadcast_to(tokens, queue.shape), out=out, where=tokens > 0)


def _corrected_queues(
    network: Network, tokens: Tokens, corrections: Mapping[int, Queues]
) -> Queues:
    """Return how many more tuples one sees than by Schweitzer and Bard."""
    queues = Queues(
        np.zeros(len(network.route)),
        np.zeros_like(network.link_demand),
        np.zeros(len(network.route)),
    )
    for r, one in corrections.items():
        own = network.route == r
        thread = np.where(np.isfinite(tokens.thread), tokens.thread, 0.0) - own
        at_group = network.per_group(one.thread * np.maximum(thread, 0.0))
        queues.thread[own] = at_group[network.group[own]]
        queues.source[own] = one.source[own] * np.maximum(thread[own], 0.0)
        route = np.where(np.isfinite(tokens.route), tokens.route, 0.0)
        route[r] -= 1
        queues.link[r] = (one.link * np.maximum(route, 0.0)[:, None]).sum(axis=0)
    return queues


def _settle(
    network: Network, tokens: Tokens, corrections: Mapping[int, Queues], start: Settled
) -> Settled:
    """Return the network with these tokens, from another."""
    change = _corrected_queues(network, tokens, corrections)
    mixing, now, settled = Mixing(), start, False
    for _ in range(MOST_ROUNDS):
        before = now
        now = _round(network, tokens, change, before)
        x, image, scale = _vectors(before, now)
        settled = float(np.abs(image - x).max(initial=0.0)) <= SETTLED
        if settled:
            break
        now = _of_vector(now, np.maximum(0.0, mixing.following(x, image) * scale))
    return replace(now, settled=settled)


def _vectors(before: Settled, now: Settled) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the state before and after a round as vectors, in units that are returned, too."""
    old, new = _parts(before), _parts(now)
    scales = [
        float(max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))) or 1.0
        for a, b in zip(old, new, strict=True)
    ]
    scale = np.concatenate([np.full(len(one), by) for one, by in zip(new, scales, strict=True)])
    return np.concatenate(old) / scale, np.concatenate(new) / scale, scale


def _parts(state: Settled) -> tuple[FloatArray, ...]:
    queues = state.queues
    fixed = (state.rates, state.flow, state.slowdown)
    return (*fixed, queues.thread, queues.link.ravel(), queues.source)


def _of_vector(state: Settled, vector: FloatArray) -> Settled:
    """Return the state with the numbers of a vector."""
    ends = np.cumsum([len(part) for part in _parts(state)])[:-1]
    rates, flow, slowdown, thread, link, source = np.split(vector, ends)
    queues = Queues(thread, link.reshape(state.queues.link.shape), source)
    slowdown = np.maximum(1.0, slowdown)
    return replace(state, rates=rates, flow=flow, slowdown=slowdown, queues=queues)


def _round(network: Network, tokens: Tokens, change: Queues, before: Settled) -> Settled:
    """Return the network after a round: times by what was there, and what is there by these."""
    closed, route = network.closed[network.route], network.route
    emits, queues = closed & network.at_spout, before.queues
    threads = Threads(network, tokens.thread, before.flow)
    slowdown = network.cores.slowdown(network.per_group(threads.busy), before.slowdown)
    residence, chance = threads.residence(slowdown, queues.thread, change.thread)
    links = _links(network, tokens, before.rates, queues.link, change.link)
    after = network.after_emission(residence, chance, links)
    seen = np.maximum(0.0, queues.source * _without(tokens.thread) + change.source)
    pause = np.where(emits, (1 + seen) / network.task_rate[route], 0.0)
    windows = np.where(emits, tokens.thread, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.minimum(windows / (pause + residence + after[route]), 1 / network.busy_s)
    emitted = np.where(emits, each * network.size, 0.0)
    wanted = sums(route, emitted, network.route_count)
    rates = _within(network, wanted)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(emits & (wanted[route] > 0), emitted / wanted[route], network.count)
    # Queues hold all tuples in flight, so they come of the rates that are wanted.
    coming = wanted[route] * share
    there = Queues(
        np.where(closed, coming * residence / network.size, 0.0),
        wanted[:, None] * network.link_demand * links,
        np.where(emits, coming / network.size * pause, 0.0),
    )
    flow = rates[route] * share
    return Settled(rates, flow, slowdown, there, residence, chance, links, settled=False)


def _without(tokens: FloatArray) -> FloatArray:
    """Return the part of a queue that one tuple of it sees, by Schweitzer and Bard."""
    with np.errstate(divide="ignore"):
        return np.maximum(0.0, 1 - 1 / tokens)


def _links(
    network: Network, tokens: Tokens, rates: FloatArray, queue: FloatArray, change: FloatArray
) -> FloatArray:
    """Return [R, L] time on links over that without waiting: processor sharing."""
    open_load = np.where(network.closed, 0.0, rates) @ network.link_demand
    there = queue.sum(axis=0)
    seen = there - queue * (1 - _without(tokens.route))[:, None]
    seen = np.maximum(0.0, seen + change)
    waiting: FloatArray = (1 + seen + network.bursts.link) / (1 - open_load)
    return waiting


def _within(network: Network, wanted: FloatArray) -> FloatArray:
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


class Threads:
    """What tuples find at threads, at given flows.

    Parameters
    ----------
    network
        The threads.
    tokens
        [E] tuples of the route that may be at the thread; infinite for open routes.
    flow
        [E] tuples per second that come to the group.
    """

    def __init__(self, network: Network, tokens: FloatArray, flow: FloatArray) -> None:
        self.network, self.tokens = network, tokens
        self.busy = flow * network.busy_s / network.size
        """[E] share of the time that one task of the group is busy with the visit, alone."""
        self.is_open = np.isinf(tokens)

    def residence(
        self, slowdown: FloatArray, queue: FloatArray, change: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return [E] the seconds at the thread, and the chance to find it busy.

        A tuple waits for those in front, which are served one by one at the speed that other
        threads leave; of the one in service it finds the rest. With Poisson arrivals that is the
        formula of Pollaczek and Khinchine; tuples that were sent together come as a batch.

        Parameters
        ----------
        slowdown
            [G] of threads by others on their cores.
        queue
            [E] mean number of tuples of closed routes at one task.
        change
            [E] how many more of these a tuple sees than by Schweitzer and Bard.
        """
        network, group = self.network, self.network.group
        per_group = network.per_group
        without = _without(self.tokens)
        closed_busy = np.where(self.is_open, 0.0, self.busy)
        there = per_group(queue)[group]
        seen = np.maximum(0.0, there - queue * (1 - without) + change)
        factor = 1 + (slowdown[group] - 1) * self._others()
        in_service = (per_group(closed_busy)[group] - closed_busy * (1 - without)) * factor
        in_service = np.minimum(in_service, np.minimum(1.0, seen))
        open_busy = np.minimum(per_group(self.busy - closed_busy)[group] * factor, NEARLY)
        # Where all tuples in flight queue up at a thread, one comes when another is done: it finds
        # a whole service before it, and no rest.
        with np.errstate(invalid="ignore"):
            elsewhere = np.where(self.is_open, 1.0, 1 - np.minimum(1.0, queue / self.tokens))
        places = 1 + seen * (1 - self._together() * (factor - 1) / factor)
        places -= network.rest * (in_service * elsewhere + open_busy)
        places += network.bursts.thread
        residence = network.busy_s * factor * np.maximum(1.0, places / (1 - open_busy))
        return residence, np.minimum(in_service + open_busy, 1.0)

    def _others(self) -> FloatArray:
        """Return [E] the share of the node's load that is there without the tuple itself."""
        own, load = self._on_node(1 - _without(self.tokens))
        out: FloatArray = np.zeros_like(own)
        return 1 - np.divide(own, load, out=out, where=load > 0)

    def _together(self) -> FloatArray:
        """Return [E] how much less often than by chance a thread has a queue while another works.

        Where n tuples of a route are in flight besides the one that arrives, one of them cannot be
        at both: 1 / n less. Those of other routes can.
        """
        own, load = self._on_node(np.ones_like(self.busy))
        flight = self.network.window * self.network.tasks
        others = np.maximum(flight[self.network.route] - 1, 1.0)
        out: FloatArray = np.zeros_like(own)
        return np.divide(own, load, out=out, where=load > 0) / others

    def _on_node(self, part: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return [E] a part of the load that the route puts on the node, and the node's load."""
        network = self.network
        work = self.busy * network.size
        own = sums(network.route_on_node, work * part)[network.route_on_node]
        return own, sums(network.node, work)[network.node]
