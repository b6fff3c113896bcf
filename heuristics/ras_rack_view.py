"""The sorted nodes of one rack, for `ras_fast_sorter`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from slotwise.heuristics.ras_node_sorter import COMMON, DEFAULT_RAS, GENERIC_RAS
from slotwise.heuristics.ras_rack_layout import Doubles, Ints, RackLayout

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
        self._host_nodes: dict[int, list[int]] = {}

    def walk(
        self, could: Bools, alive: Bools, now: Callable[[], Doubles]
    ) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the positions that are `alive`, the best first, each with those before it.

        Those before it are the positions since the last one that `could` but are not alive; a
        last pair with position -1 has what came after. `now` returns what all nodes have left.
        """
        if self.rack.crowded:
            yield from _picked(self._host_by_host(now), could, alive)
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

    def _host_by_host(self, now: Callable[[], Doubles]) -> Iterator[int]:
        """Yield the positions; a host's nodes are sorted when the walk first comes to it."""
        rack = self.rack
        if self._hosts is None:
            left = rack.host_left(self._left[:, rack.span])
            counts = np.add.reduceat(self._counts, rack.host_starts)
            order = group_order(self._kind, left, counts, rack.host_ranks, self._asked)
            self._hosts = order.tolist()
        for h in self._hosts:
            nodes = self._host_nodes.get(h)
            if nodes is None:
                nodes = self._host_nodes[h] = self._sorted_host(h, now()[:, rack.span])
            yield from nodes

    def _sorted_host(self, h: int, left: Doubles) -> list[int]:
        positions = self.rack.host_positions[h]
        if len(positions) == 1:
            return list(positions)
        own = list(positions)
        ranks, counts = self.rack.node_ranks[own], self._counts[own]
        order = group_order(self._kind, left[:, own], counts, ranks, self._asked)
        return [own[i] for i in order.tolist()]


def _picked(
    positions: Iterator[int], could: Bools, alive: Bools
) -> Iterator[tuple[int, Sequence[int]]]:
    refused: list[int] = []
    for position in positions:
        if alive[position]:
            yield position, refused
            refused = []
        elif could[position]:
            refused.append(position)
    if refused:
        yield -1, refused
