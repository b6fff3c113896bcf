"""Nodes by distance to a demand, kept in order while loads change."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Demand = tuple[int, ...]
Entry = tuple[int, str, int]
"""Distance, node id (it breaks ties), node index."""


@dataclass(slots=True)
class _Ranks:
    """Entries of all nodes in order, each node's entry, and how many changes they include."""

    ordered: list[Entry]
    entry: list[Entry]
    seen: int


class NodeRanking:
    """The nodes by distance, for each demand that was asked about.

    Only the nodes whose load changed since the last question are moved, so that a task costs a
    few binary searches and not a sort of all nodes.

    Parameters
    ----------
    ids
        The nodes' ids.
    distance
        (demand, node index) -> distance at present.
    """

    def __init__(self, ids: list[str], distance: Callable[[Demand, int], int]) -> None:
        self._ids = ids
        self._distance = distance
        self._changed: list[int] = []
        self._ranks: dict[Demand, _Ranks] = {}

    def change(self, node: int) -> None:
        """Note that the load of `node` is no longer what it was."""
        self._changed.append(node)

    def nearest(self, demand: Demand) -> Iterator[int]:
        """Yield all nodes, nearest first; ties by id."""
        if demand not in self._ranks:
            entry = [self._entry(demand, node) for node in range(len(self._ids))]
            self._ranks[demand] = _Ranks(sorted(entry), entry, len(self._changed))
        ranks = self._ranks[demand]
        for node in set(self._changed[ranks.seen :]):
            del ranks.ordered[bisect_left(ranks.ordered, ranks.entry[node])]
            ranks.entry[node] = self._entry(demand, node)
            insort(ranks.ordered, ranks.entry[node])
        ranks.seen = len(self._changed)
        return (node for _, _, node in ranks.ordered)

    def _entry(self, demand: Demand, node: int) -> Entry:
        return self._distance(demand, node), self._ids[node], node
