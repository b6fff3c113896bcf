"""The node orders of `node_sorter` on large clusters, without looking at every node each time.

The same doubles in the same order, so the same result (the tests compare them):

- What nodes have left lies in arrays, rack by rack; a rack's sum is added up again only after a
  change in the rack, from the first node to the last as Java does.
- A rack that holds no node for an executor is passed over as a whole. It is not sorted; what its
  nodes had left when the walk came by is kept, should a later executor ask for its order.
- A node whose slots all refused a component is not tried for it again until something changes on
  the node. Its slots count as passed, for the search counts slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotwise.heuristics.ras.model import RasCluster
from slotwise.heuristics.ras.strategies.fit import SMALL_CPU, Fit
from slotwise.heuristics.ras.strategies.node_sorter import (
    COMMON,
    DEFAULT_RAS,
    GENERIC_RAS,
    NodeSorter,
    PlainNodeSorter,
)

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RackLayout:
    """One rack.

    Parameters
    ----------
    start
        Position of its first node in the arrays of all nodes.
    rank
        Its place among the racks by name.
    nodes
        Indices of its nodes; a position in the rack is an index into them.
    host_positions
        Positions of each host's nodes, one after another.
    host_starts, host_ranks
        First position of each host; the hosts' places by name.
    node_ranks
        The nodes' places by id.
    nth_nodes
        Hosts that have a first, a second, ... node, and the positions of these.
    """

    start: int
    rank: int
    nodes: tuple[int, ...]
    host_positions: tuple[tuple[int, ...], ...]
    host_starts: Ints
    host_ranks: Ints
    node_ranks: Ints
    nth_nodes: tuple[tuple[Ints, Ints], ...]

    @property
    def span(self) -> slice:
        """Its part of the arrays of all nodes."""
        return slice(self.start, self.start + len(self.nodes))

    @property
    def crowded(self) -> bool:
        """Whether a host has several nodes."""
        return len(self.host_positions) < len(self.nodes)

    def host_left(self, left: Doubles) -> Doubles:
        """Return what each host has left, added up node by node, from that of the nodes."""
        sums = np.zeros((len(left), len(self.host_positions)))
        for hosts, positions in self.nth_nodes:
            sums[:, hosts] += left[:, positions]
        return sums


def rack_layouts(cluster: RasCluster) -> list[RackLayout]:
    """Return the layouts of the racks of `cluster`, in its order."""
    keys = cluster.text_keys
    rank = _ranks([keys[rack.name] for rack in cluster.racks])
    layouts: list[RackLayout] = []
    start = 0
    for r, rack in enumerate(cluster.racks):
        positions, first = [], 0
        for host in rack.hosts:
            positions.append(tuple(range(first, first + len(host.nodes))))
            first += len(host.nodes)
        layouts.append(
            RackLayout(
                start=start,
                rank=int(rank[r]),
                nodes=rack.nodes,
                host_positions=tuple(positions),
                host_starts=np.array([own[0] for own in positions], dtype=np.int64),
                host_ranks=_ranks([keys[host.name] for host in rack.hosts]),
                node_ranks=_ranks([keys[cluster.ids[node]] for node in rack.nodes]),
                nth_nodes=_nth_nodes(positions),
            )
        )
        start += first
    return layouts


def _nth_nodes(positions: list[tuple[int, ...]]) -> tuple[tuple[Ints, Ints], ...]:
    layers = []
    for n in range(max(map(len, positions))):
        hosts = [h for h, own in enumerate(positions) if len(own) > n]
        nth = [positions[h][n] for h in hosts]
        layers.append((np.array(hosts, dtype=np.int64), np.array(nth, dtype=np.int64)))
    return tuple(layers)


def _ranks(names: list[tuple[int, ...]]) -> Ints:
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def group_order(
    kind: str, left: Doubles, counts: Ints, ranks: Ints, request: tuple[float, ...] | None
) -> Ints:
    """Return the positions of a group's members, the best first; see `sorted_items`.

    Parameters
    ----------
    kind
        How members are compared.
    left
        [resources, members] what each has left: memory, cpu, generic resources.
    counts, ranks
        [members] executors of the topology; place by name.
    request
        Generic resources that the executor asks for; ``None`` = no executor.
    """
    total = np.add.accumulate(left, axis=1)[:, -1].tolist()
    added = np.zeros(len(counts))
    least = np.ones(len(counts))
    counted = 0
    for r, whole in enumerate(total):
        if whole == 0.0:
            continue
        share = left[r] / whole
        if request is not None and kind != DEFAULT_RAS and r >= 2 and request[r - 2] == 0.0:
            share = -share
        added += share
        np.minimum(least, share, out=least)
        counted += 1
    average = added * 100.0 / counted if counted else np.full(len(counts), 100.0)
    if kind == COMMON:
        return np.lexsort((ranks, -(least * 100.0), -average, -counts))
    if kind == GENERIC_RAS:
        return np.lexsort((ranks, -average, -counts))
    return np.lexsort((ranks, -average, -(least * 100.0), -counts))


class RackView:
    """A rack in one order of nodes.

    Parameters
    ----------
    rack
        Where its nodes lie.
    kind, request
        As in `group_order`.
    counts
        Executors of the topology on its nodes when the order was begun.
    left
        What all nodes of the cluster had left when the walk first came to the rack.
    """

    def __init__(
        self,
        rack: RackLayout,
        kind: str,
        request: tuple[float, ...] | None,
        counts: Ints,
        left: Doubles,
    ) -> None:
        self.rack = rack
        self._kind, self._request = kind, request
        self._counts, self._left = counts, left
        self._order: Ints | None = None
        self._hosts: list[int] | None = None
        self._reached: list[Doubles] = []
        self._rest: Doubles | None = None
        self._host_nodes: dict[int, list[int]] = {}

    def pass_over(self, now: Callable[[], Doubles]) -> None:
        """Take note that the walk went by without stopping at any host."""
        if self.rack.crowded and self._rest is None:
            self._rest = now()

    def walk(
        self, could: Bools, alive: Bools, now: Callable[[], Doubles]
    ) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the positions that are `alive`, the best first, each with those before it.

        Those before it are the positions since the last one that `could` but are not alive; a
        last pair with position -1 has what came after. `now` returns what all nodes have left.
        """
        if self.rack.crowded:
            yield from self._host_by_host(could, alive, now)
            return
        order = self._sorted()
        chosen = alive[order].nonzero()[0].tolist()
        refused = could[order] & ~alive[order]
        many = bool(refused.any())
        before = 0
        for at in chosen:
            between = order[before:at][refused[before:at]].tolist() if many else ()
            yield int(order[at]), between
            before = at + 1
        if many:
            yield -1, order[before:][refused[before:]].tolist()

    def _sorted(self) -> Ints:
        """Return the positions sorted by what the nodes had left when the walk came."""
        if self._order is None:
            left = self._left[:, self.rack.span]
            ranks = self.rack.host_ranks
            self._order = group_order(self._kind, left, self._counts, ranks, self._request)
        return self._order

    def _host_by_host(
        self, could: Bools, alive: Bools, now: Callable[[], Doubles]
    ) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield as `walk` does; a host's nodes are sorted as they were when the walk first came.

        What they had left then is kept; they are sorted when a node of theirs is asked for.
        """
        positions = self.rack.host_positions
        here = np.logical_or.reduceat(alive, self.rack.host_starts).tolist()
        refusing = np.logical_or.reduceat(could, self.rack.host_starts).tolist()
        refused: list[int] = []
        for place, h in enumerate(self._sorted_hosts()):
            if place == len(self._reached):
                self._reached.append(now() if self._rest is None else self._rest)
            if here[h]:
                for position in self._sorted_nodes(place, h):
                    if alive[position]:
                        yield position, refused
                        refused = []
                    elif could[position]:
                        refused.append(position)
            elif refusing[h]:
                refused.extend(position for position in positions[h] if could[position])
        if refused:
            yield -1, refused

    def _sorted_hosts(self) -> list[int]:
        """Return the hosts sorted by what their nodes had left when the walk came to the rack."""
        if self._hosts is None:
            rack = self.rack
            left = rack.host_left(self._left[:, rack.span])
            counts = np.add.reduceat(self._counts, rack.host_starts)
            order = group_order(self._kind, left, counts, rack.host_ranks, self._request)
            self._hosts = order.tolist()
        return self._hosts

    def _sorted_nodes(self, place: int, h: int) -> list[int]:
        """Return the positions of the nodes of host `h`, which is at `place` of the hosts."""
        if h not in self._host_nodes:
            own = list(self.rack.host_positions[h])
            if len(own) > 1:
                left = self._reached[place][:, self.rack.span][:, own]
                ranks, counts = self.rack.node_ranks[own], self._counts[own]
                order = group_order(self._kind, left, counts, ranks, self._request)
                own = [own[i] for i in order.tolist()]
            self._host_nodes[h] = own
        return self._host_nodes[h]


Bools = NDArray[np.bool_]

SMALL = 48
"""Most nodes with which the plain sorter is as fast."""


def node_sorter(fit: Fit, kind: str) -> NodeSorter:
    """Return the sorter of a strategy call that is fast on its cluster."""
    if len(fit.state.model.cluster.ids) <= SMALL:
        return PlainNodeSorter(fit, kind)
    return FastNodeSorter(fit, kind)


@dataclass(slots=True)
class RackCandidates:
    """Which nodes of a rack have room for an executor of a component, as of `version`.

    `could` have room for the executor alone, `alive` of them have not refused it since they last
    changed; `slots` are the candidate slots of `could` together.
    """

    version: int
    could: Bools
    alive: Bools
    left: int
    slots: int


class FastNodeSorter:
    """The sorter of one strategy call."""

    def __init__(self, fit: Fit, kind: str) -> None:
        state = fit.state
        plain = PlainNodeSorter(fit, kind)
        self.fit, self.kind = fit, kind
        self.first, self.last = plain.first, plain.last
        self.racks = rack_layouts(state.model.cluster)
        nodes = [node for rack in self.racks for node in rack.nodes]
        self.position = {node: position for position, node in enumerate(nodes)}
        self.rack_of = [r for r, rack in enumerate(self.racks) for _ in rack.nodes]
        self.starts = np.array([rack.start for rack in self.racks], dtype=np.int64)
        self.rack_ranks = np.array([rack.rank for rack in self.racks], dtype=np.int64)
        self.slots = np.array([fit.slot_counts[node] for node in nodes], dtype=np.int64)
        skipped = {*self.first, *self.last}
        self.ordinary = np.array([node not in skipped for node in nodes], dtype=np.bool_)
        self.left = np.array(
            [(state.memory[n], state.cpu[n], *state.generic[n]) for n in nodes], dtype=np.float64
        ).T.copy()
        here = state.on_node[fit.topology]
        self.counts = np.array([here.get(node, 0) for node in nodes], dtype=np.int64)
        self.versions = [0] * len(self.racks)
        self.rack_left = np.zeros((len(self.left), len(self.racks)))
        self._dirty = set(range(len(self.racks)))
        self._refused = np.zeros((len(fit.view.components), len(nodes)), dtype=np.bool_)
        self._rooms: dict[tuple[int, int], RackCandidates] = {}
        self._seen = len(state.changes)
        self._snapshot: Doubles | None = None

    def sort(self, component: int | None) -> FastSortedNodes:
        """Return the order of the nodes as they are now."""
        self.sync()
        return FastSortedNodes(self, component)

    def sync(self) -> None:
        """Take over what has changed in the state."""
        state = self.fit.state
        if self._seen == len(state.changes):
            return
        here = state.on_node[self.fit.topology]
        for node in state.changes[self._seen :]:
            position = self.position[node]
            rack = self.rack_of[position]
            self.left[:, position] = (state.memory[node], state.cpu[node], *state.generic[node])
            self.counts[position] = here.get(node, 0)
            self._refused[:, position] = False
            self.versions[rack] += 1
            self._dirty.add(rack)
        self._seen = len(state.changes)
        self._snapshot = None

    def snapshot(self) -> Doubles:
        """Return what the nodes have left now; never changed afterwards."""
        if self._snapshot is None:
            self._snapshot = self.left.copy()
        return self._snapshot

    def rack_sums(self) -> Doubles:
        """Return what each rack has left, added up from its first node to its last."""
        for r in self._dirty:
            own = self.left[:, self.racks[r].span]
            self.rack_left[:, r] = np.add.accumulate(own, axis=1)[:, -1]
        self._dirty.clear()
        return self.rack_left

    def room(self, component: int, rack: int) -> RackCandidates:
        """Return which nodes of a rack have room for an executor of `component`."""
        cached = self._rooms.get((component, rack))
        if cached is not None and cached.version == self.versions[rack]:
            return cached
        span = self.racks[rack].span
        need = self.fit.view.components[component].need
        least = self.fit.least_cpu
        cpu = need.cpu if least < SMALL_CPU else max(need.cpu - least, 0.0)
        left = self.left[:, span]
        could = self.ordinary[span] & (left[0] >= need.memory) & (left[1] >= cpu)
        for g, amount in enumerate(need.generic):
            if amount:
                could &= left[2 + g] >= amount
        alive = could & ~self._refused[component, span]
        slots = int(self.slots[span] @ could)
        room = RackCandidates(
            self.versions[rack], could, alive, int(np.count_nonzero(alive)), slots
        )
        self._rooms[component, rack] = room
        return room

    def refuse(self, node: int, component: int) -> None:
        """Take note that no slot of `node` takes the component as the node is now."""
        position = self.position[node]
        if not self.ordinary[position] or self._refused[component, position]:
            return
        rack = self.rack_of[position]
        self._refused[component, position] = True
        room = self.room(component, rack)
        at = position - self.racks[rack].start
        if room.alive[at]:
            room.alive[at] = False
            room.left -= 1


class FastSortedNodes:
    """An order of nodes, found out as far as it is asked for."""

    def __init__(self, sorter: FastNodeSorter, component: int | None) -> None:
        self._sorter = sorter
        view = sorter.fit.view
        self._request = None if component is None else view.components[component].need.generic
        self._counts = sorter.counts.copy()
        sums = np.add.reduceat(self._counts, sorter.starts)
        ranks = sorter.rack_ranks
        self._racks: list[int] = group_order(
            sorter.kind, sorter.rack_sums(), sums, ranks, self._request
        ).tolist()
        self._views: dict[int, RackView] = {}

    def walk(self, component: int) -> Iterator[tuple[int, int]]:
        """Yield (node, slots passed before) as `SortedNodes` says."""
        sorter = self._sorter
        sorter.sync()
        fit = sorter.fit
        for node in sorter.first:
            if fit.could_ever_fit(node, component):
                yield node, 0
        passed = 0
        for r in self._racks:
            view = self._view(r)
            room = sorter.room(component, r)
            if not room.left:
                view.pass_over(sorter.snapshot)
                passed += room.slots
                continue
            slots = sorter.slots[view.rack.span]
            for position, refused in view.walk(room.could, room.alive, sorter.snapshot):
                for one in refused:
                    passed += int(slots[one])
                if position >= 0:
                    yield view.rack.nodes[position], passed
                    passed = 0
        for node in sorter.last:
            if fit.could_ever_fit(node, component):
                yield node, passed
                passed = 0
        if passed:
            yield -1, passed

    def reject(self, node: int, component: int) -> None:
        """Take note that no slot of `node` takes the component."""
        self._sorter.refuse(node, component)

    def nodes(self) -> Iterator[int]:
        """Yield all nodes."""
        sorter = self._sorter
        yield from sorter.first
        for r in self._racks:
            view = self._view(r)
            ordinary = sorter.ordinary[view.rack.span]
            for position, _ in view.walk(ordinary, ordinary, sorter.snapshot):
                if position >= 0:
                    yield view.rack.nodes[position]
        yield from sorter.last

    def _view(self, r: int) -> RackView:
        """Return the rack as the walk first came by, which is now or was before."""
        view = self._views.get(r)
        if view is None:
            sorter = self._sorter
            rack = sorter.racks[r]
            counts = self._counts[rack.span]
            view = RackView(rack, sorter.kind, self._request, counts, sorter.snapshot())
            self._views[r] = view
        return view
