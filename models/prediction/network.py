"""Threads and links that routes come by, as arrays: what the analyses of queues compute with.

Visits are of a route to a group, passages of a hop to a network interface or an uplink. E visits, G
groups, R routes, L links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from slotwise.models.prediction.bursts import Bursts, bursts
from slotwise.models.prediction.flows import BoolArray, FloatArray, IntArray
from slotwise.models.prediction.latency import Time, Tree, together, trees
from slotwise.models.prediction.loads import Kind, Loads
from slotwise.models.prediction.stations import CoreSharing
from slotwise.models.tuples import needed


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Arrays of the network.

    Parameters
    ----------
    loads
        What it is made of.
    trees
        One of each route.
    cores
        How threads share them.
    rate
        [R] tuples per second that a route emits; infinite where a window alone limits it.
    window
        [R] tuples of each task of the spout in flight; infinite = no limit.
    tasks
        [R] tasks of the spout.
    route, group, node, route_on_node
        [E] of each visit; the last numbers pairs of route and node.
    count
        [E] tuples that the group receives for each that the route emits.
    size
        [E] tasks of the group.
    at_spout
        [E] whether it is a visit to the route's own spout.
    busy_s
        [E] seconds that a thread is busy with a tuple.
    rest
        [E] (1 - scv) / 2: by what part of a service less remains of the one that a tuple finds.
    bursts
        Tuples that are sent together.
    place
        [E] index of the pair of route and component.
    place_of
        Of each route: component -> its place.
    first_cpu, first_link
        Indices of the first cpu and the first link in `Loads.resources`.
    link_demand
        [R, L] seconds of a network interface or an uplink for each tuple that the route emits.
    shared_demand
        [R, K] as `Loads.demand`, without the threads of spouts with a window: each of their tasks
        has a window of its own.
    hop_route, hop_delay, hop_variance
        [H] of each hop: its route, mean delay and the variance of that.
    """

    loads: Loads
    trees: tuple[Tree, ...]
    cores: CoreSharing
    rate: FloatArray
    window: FloatArray
    tasks: FloatArray
    route: IntArray
    group: IntArray
    node: IntArray
    route_on_node: IntArray
    count: FloatArray
    size: FloatArray
    at_spout: BoolArray
    busy_s: FloatArray
    rest: FloatArray
    bursts: Bursts
    place: IntArray
    place_of: tuple[dict[int, int], ...]
    first_cpu: int
    first_link: int
    link_demand: FloatArray
    shared_demand: FloatArray
    hop_route: IntArray
    hop_delay: FloatArray
    hop_variance: FloatArray

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return len(self.loads.flows.groups.size)

    @property
    def route_count(self) -> int:
        """Number of routes."""
        return len(self.rate)

    @property
    def closed(self) -> BoolArray:
        """[R] whether the route has a window."""
        return np.isfinite(self.window)

    @property
    def task_rate(self) -> FloatArray:
        """[R] tuples per second that one task of the spout emits at most."""
        return self.rate / self.tasks

    def per_group(self, values: FloatArray) -> FloatArray:
        """Return the sums over the visits of each group."""
        return sums(self.group, values, self.group_count)

    def times_at(self, residence: FloatArray, busy: FloatArray) -> list[Time]:
        """Return the time at each place: the mean over the groups of its component."""
        scv = 1 - 2 * self.rest
        waiting = np.maximum(residence - self.busy_s, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.where(busy > 0, waiting**2 * (2 / busy - 1), 0.0)
        square = scv * self.busy_s**2 + spread + residence**2
        visits, weight = self.loads.visits, sums(self.place, self.count)
        means = [
            sums(self.place, self.count * one) / weight
            for one in (square, waiting, visits.service, visits.serialise)
        ]
        return [
            Time(max(0.0, two - (w + s + z) ** 2), queueing=w, service=s, serialise=z)
            for two, w, s, z in zip(*(one.tolist() for one in means), strict=True)
        ]

    def times_of_hops(self, stretch: FloatArray) -> list[Time]:
        """Return the time of each hop; `stretch` is [R, L], times on links over without waiting."""
        passages, count = self.loads.passages, len(self.hop_delay)
        plain = sums(passages.hop, passages.seconds, count)
        there = stretch[self.hop_route[passages.hop], passages.resource - self.first_link]
        whole = sums(passages.hop, passages.seconds * there, count)
        rows = zip(
            (self.hop_variance + whole**2).tolist(),
            np.maximum(whole - plain, 0.0).tolist(),
            (self.hop_delay + plain).tolist(),
            strict=True,
        )
        return [Time(max(0.0, v), queueing=wait, network=way) for v, wait, way in rows]

    def after_emission(
        self, residence: FloatArray, chance: FloatArray, links: FloatArray
    ) -> FloatArray:
        """Return [R] the mean seconds that a tuple takes after its spout's thread."""
        places, hops = self.times_at(residence, chance), self.times_of_hops(links)
        return np.asarray([time.mean for time in self.after(places, hops)])

    def times(
        self, residence: FloatArray, chance: FloatArray, links: FloatArray
    ) -> tuple[Time, ...]:
        """Return the time of each route from emission, what its spout serialises included.

        Parameters
        ----------
        residence
            [E] seconds at threads.
        chance
            [E] to find them busy.
        links
            [R, L] time on links over that without waiting.
        """
        places, hops = self.times_at(residence, chance), self.times_of_hops(links)
        times = []
        for tree, time in zip(self.trees, self.after(places, hops), strict=True):
            spout = places[self.place_of[tree.route][tree.spout]]
            times.append(Time(serialise=spout.serialise).after(time))
        return tuple(times)

    def after(self, places: Sequence[Time], hops: Sequence[Time]) -> list[Time]:
        """Return the time of each route after its spout's thread, from those at places and hops."""
        return together(
            tree.after_emission(
                {c: places[index] for c, index in self.place_of[tree.route].items()}, hops
            )
            for tree in self.trees
        )


def network(loads: Loads) -> Network:
    """Return the network of queues of these loads.

    Raises
    ------
    InputError
        Naming the squared coefficient of variation that is needed and not given.
    """
    flows, visits, hops = loads.flows, loads.visits, loads.hops
    routes, nodes = flows.routes, len(flows.instance.cluster.nodes)
    busy = visits.service + visits.serialise
    component = flows.groups.component[visits.group]
    spout = np.asarray([one.spout for one in routes], dtype=np.int64)
    node = flows.groups.node[visits.group]
    pairs = visits.route * len(flows.components) + component
    places, place = np.unique(pairs, return_inverse=True)
    place_of: tuple[dict[int, int], ...] = tuple({} for _ in routes)
    for index, pair in enumerate(places.tolist()):
        r, c = divmod(pair, len(flows.components))
        place_of[r][c] = index
    first, together = loads.first[Kind.NIC_OUT], bursts(loads)
    shared = loads.demand.copy()
    for r, one in enumerate(routes):
        if one.window is not None:
            own = flows.components[one.spout].groups
            shared[r, own.start : own.stop] = 0.0
    return Network(
        loads=loads,
        trees=trees(loads, together.receivers),
        cores=CoreSharing.of(flows, np.unique(visits.group[busy > 0])),
        rate=np.asarray([inf if one.rate is None else float(one.rate) for one in routes]),
        window=np.asarray([one.window or inf for one in routes], dtype=np.float64),
        tasks=np.asarray([one.tasks for one in routes], dtype=np.float64),
        route=visits.route,
        group=visits.group,
        node=node,
        route_on_node=visits.route * nodes + node,
        count=visits.count,
        size=flows.groups.size[visits.group].astype(np.float64),
        at_spout=component == spout[visits.route],
        busy_s=busy,
        rest=_rest(loads, busy),
        bursts=together,
        place=place.reshape(-1),
        place_of=place_of,
        first_cpu=loads.first[Kind.CPU],
        first_link=first,
        link_demand=loads.demand[:, first:],
        shared_demand=shared,
        hop_route=np.asarray([one.route for one in hops], dtype=np.int64),
        hop_delay=np.asarray([one.delay for one in hops], dtype=np.float64),
        hop_variance=np.asarray([one.delay_square - one.delay**2 for one in hops]),
    )


def sums(index: IntArray, values: FloatArray, count: int = 0) -> FloatArray:
    """Return the sums of the values of each index from 0 to `count`."""
    return np.bincount(index, values, count).astype(np.float64, copy=False)


def _rest(loads: Loads, busy: FloatArray) -> FloatArray:
    """Return of each visit (1 - scv) / 2, see `Network.rest`.

    Of the time that a thread is busy, serialisation is as variable as the service.
    """
    groups, components = loads.flows.groups, loads.flows.components
    shares = np.zeros(len(busy))
    for visit in np.flatnonzero(busy > 0).tolist():
        one = components[int(groups.component[loads.visits.group[visit]])]
        if one.noun.service_scv is None:
            raise needed(f"{one.path}.service_scv")
        shares[visit] = (1 - float(one.noun.service_scv)) / 2
    return shares
