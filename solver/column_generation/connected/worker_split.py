"""The tasks of a node into workers: the split with the most flow inside, or a good one."""

from __future__ import annotations

import time

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.enumeration import list_pieces
from slotwise.solver.column_generation.connected.graph import PieceGraph
from slotwise.solver.column_generation.connected.plan import column_of
from slotwise.solver.column_generation.connected.pricing import Prices
from slotwise.solver.column_generation.residual_search import Plan, TooLongError, least_loss
from slotwise.solver.column_generation.restricted_master import Column, Cut
from slotwise.solver.core.ctrl_c import check_stop

MOST_STATES = 2_000
MOST_PIECES = 5_000
WIDEST_LOSS = 64
"""Loss of a worker's content, in units of flow, up to which it is considered."""


class WorkerSplit:
    """Splits the contents of nodes into workers, at the prices of workers."""

    def __init__(self, graph: PieceGraph, prices: Prices, deadline: float) -> None:
        self._graph = graph
        self._prices = prices
        self._cut = Cut(prices.scale, prices.prices, 0, (0,))
        self._deadline = deadline
        self._known: dict[bytes, Plan | int] = {}
        self.widest, self._column = self._listed()

    def workers(self, content: IntArray, slots: int) -> list[IntArray] | None:
        """Return the contents [K] of at most `slots` workers; ``None`` if it finds no way."""
        budget = min(self.widest, self._prices.scale)
        plan = None
        try:
            while (plan := self._plan(content, budget)) is None and budget < self.widest:
                budget = min(4 * budget, self.widest)
        except TooLongError:
            pass  # then a split that is only good
        if plan is None:
            return self._merged(round_down(self._graph, self._prices, content), slots)
        return self._merged([np.array(counts) for _, counts in plan.contents], slots)

    def gains(self, contents: IntArray, budgets: IntArray) -> tuple[IntArray, BoolArray]:
        """Return for contents [Y, K] the most flow inside workers, and whether it can be that much.

        It cannot where the best split loses more than its budget [Y]. Where the search grows too
        large it is the most that prices allow. Raises `TooLongError` after the deadline.
        """
        most = contents @ self._prices.prices
        inside = most // self._prices.scale
        possible = np.ones(len(contents), dtype=np.bool_)
        for i, (content, budget) in enumerate(zip(contents, budgets.tolist(), strict=True)):
            if time.perf_counter() > self._deadline:
                raise TooLongError
            if budget > self.widest:
                continue
            try:
                plan = self._plan(content, budget)
            except TooLongError:
                continue
            possible[i] = plan is not None
            if plan is not None:
                inside[i] = (int(most[i]) - plan.loss) // self._prices.scale
        return inside, possible

    def _listed(self) -> tuple[int, Column]:
        """Return the widest budget whose pieces are few, and these pieces."""
        graph, scale = self._graph, self._prices.scale
        budget, rows = 0, np.zeros((0, graph.count), dtype=np.int64)
        loss = 1
        while loss <= WIDEST_LOSS:
            try:
                more = list_pieces(graph, scale, self._prices.prices, loss * scale, self._deadline)
            except TooLongError:
                break
            if len(more) > MOST_PIECES:
                break
            budget, rows, loss = loss * scale, more, 2 * loss
        return budget, column_of(graph, rows)

    def _plan(self, content: IntArray, budget: int) -> Plan | None:
        """Return the split that loses least, ``None`` if it loses more; remembers both."""
        key = content.tobytes()
        known = self._known.get(key, -1)
        if isinstance(known, Plan):
            return known if known.loss <= budget else None
        if known >= budget:
            return None
        check_stop()
        plan = least_loss(
            [self._column], (int(content.sum()),), self._cut, content, budget, self._goes_on
        )
        self._known[key] = budget if plan is None else plan
        return plan

    def _goes_on(self, seen: int) -> bool:
        return seen < MOST_STATES and time.perf_counter() < self._deadline

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
