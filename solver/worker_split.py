"""The tasks of a node into workers: the split with the most flow inside, or a good one."""

from __future__ import annotations

import time

import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.closing import TooLongError, least_loss
from slotwise.solver.master import Column, Cut
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_list import list_pieces
from slotwise.solver.piece_prices import Prices

MOST_STATES = 2_000
MOST_PIECES = 5_000
WIDEST_LOSS = 64
"""Loss of a worker's content, in units of flow, up to which it is considered."""


class WorkerSplit:
    """Splits the contents of nodes into workers, at the prices of workers."""

    def __init__(self, graph: PieceGraph, prices: Prices, deadline: float) -> None:
        self._graph = graph
        self._prices = prices
        self._deadline = deadline
        self._known: dict[bytes, list[IntArray]] = {}
        self._budget, self._column = self._listed()

    def workers(self, content: IntArray, slots: int) -> list[IntArray] | None:
        """Return the contents [K] of at most `slots` workers; ``None`` if it finds no way."""
        key = content.tobytes()
        if key not in self._known:
            self._known[key] = self._best(content)
        return self._merged(self._known[key], slots)

    def _listed(self) -> tuple[int, Column]:
        """Return the widest budget whose pieces are few, and these pieces."""
        graph, scale = self._graph, self._prices.scale
        budget, rows = 0, np.zeros((0, graph.count), dtype=np.int64)
        loss = 1
        while loss <= WIDEST_LOSS:
            try:
                more = list_pieces(graph, scale, self._prices.prices, loss * scale)
            except TooLongError:
                break
            if len(more) > MOST_PIECES:
                break
            budget, rows, loss = loss * scale, more, 4 * loss
        counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), rows])
        return budget, Column(counts, graph.gains(counts))

    def _best(self, content: IntArray) -> list[IntArray]:
        scale = self._prices.scale
        cut = Cut(scale, self._prices.prices, 0, (0,))
        ample = (int(content.sum()),)
        budget = min(self._budget, scale)
        while time.perf_counter() < self._deadline:
            try:
                plan = least_loss(
                    [self._column], ample, cut, content, budget, lambda seen: seen < MOST_STATES
                )
            except TooLongError:
                break
            if plan is not None:
                return [np.array(counts) for _, counts in plan.contents]
            if budget >= self._budget:
                break
            budget = min(4 * budget, self._budget)
        return round_down(self._graph, self._prices, content)

    def _merged(self, pieces: list[IntArray], slots: int) -> list[IntArray] | None:
        """Merge pieces (first fit, large ones first) until they are at most `slots`."""
        if len(pieces) <= slots:
            return pieces
        bins: list[IntArray] = []
        weights = self._graph.weights
        for piece in sorted(pieces, key=lambda p: (-int(p @ weights), p.tolist())):
            rows = np.array(bins) + piece if bins else np.zeros((0, len(piece)), dtype=np.int64)
            good = np.flatnonzero(self._graph.admits(rows))
            if len(good):
                bins[int(good[0])] = rows[int(good[0])]
            else:
                bins.append(piece)
        return bins if len(bins) <= slots else None


def round_down(graph: PieceGraph, prices: Prices, content: IntArray) -> list[IntArray]:
    """Return pieces that add up to `content`: the best priced ones, each as often as it fits."""
    contents = prices.contents[graph.admits(prices.contents)]
    worth = graph.gains(contents) / np.maximum(contents @ prices.prices, 1)
    left, chosen = content.copy(), []
    for row in np.argsort(-worth, kind="stable").tolist():
        while (contents[row] <= left).all():
            chosen.append(contents[row])
            left = left - contents[row]
    return chosen
