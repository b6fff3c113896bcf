"""The sorted nodes of one rack, for `fast_node_sorter`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from slotwise.heuristics.ras.strategies.node_sorter import COMMON, DEFAULT_RAS, GENERIC_RAS
from slotwise.heuristics.ras.strategies.rack_layout import Doubles, Ints, RackLayout

Bools = NDArray[np.bool_]


def group_order(
    kind: str, left: Doubles, counts: Ints, ranks: Ints, asked: tuple[float, ...] | None
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
    asked
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
        if asked is not None and kind != DEFAULT_RAS and r >= 2 and asked[r - 2] == 0.0:
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
    kind, asked
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
        asked: tuple[float, ...] | None,
        counts: Ints,
        left: Doubles,
    ) -> None:
        self.rack = rack
        self._kind, self._asked = kind, asked
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
            self._order = group_order(self._kind, left, self._counts, ranks, self._asked)
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
            order = group_order(self._kind, left, counts, rack.host_ranks, self._asked)
            self._hosts = order.tolist()
        return self._hosts

    def _sorted_nodes(self, place: int, h: int) -> list[int]:
        """Return the positions of the nodes of host `h`, which is at `place` of the hosts."""
        if h not in self._host_nodes:
            own = list(self.rack.host_positions[h])
            if len(own) > 1:
                left = self._reached[place][:, self.rack.span][:, own]
                ranks, counts = self.rack.node_ranks[own], self._counts[own]
                order = group_order(self._kind, left, counts, ranks, self._asked)
                own = [own[i] for i in order.tolist()]
            self._host_nodes[h] = own
        return self._host_nodes[h]
