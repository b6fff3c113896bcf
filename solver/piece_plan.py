"""Plans of pieces: all tasks as a set of pieces, the one with the most flow inside sought."""

from __future__ import annotations

import time

import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.closing import Plan, TooLongError, least_loss
from slotwise.solver.closing_cp_sat import close_by_cp_sat
from slotwise.solver.master import Column, Cut
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_list import list_pieces
from slotwise.solver.piece_prices import Prices
from slotwise.solver.worker_split import round_down

MOST_STATES = 20_000
"""Residual vectors looked at before CP-SAT takes over."""


class PiecePlans:
    """The plans of a graph at proven prices; `most` is what no plan has inside its places."""

    def __init__(self, graph: PieceGraph, prices: Prices) -> None:
        self._graph = graph
        self._prices = prices
        self._total = prices.total(graph.sizes)
        self.most = self._total // prices.scale

    def rounded(self) -> list[IntArray]:
        """Return the pieces [K] of a plan made of the best priced ones."""
        return round_down(self._graph, self._prices, self._graph.sizes)

    def best(self, deadline: float) -> list[IntArray] | None:
        """Return the pieces of the best plan, allowing more and more loss; `most` is its value.

        ``None`` where no pieces make up a plan. Raises `TooLongError` when the deadline passes or
        a search grows too large; `most` is then what is proven.
        """
        scale = self._prices.scale
        budget, step = self._total % scale, scale
        while True:
            if time.perf_counter() > deadline:
                raise TooLongError
            plan = self._least_loss(budget, deadline)
            if plan is not None:
                self.most = (self._total - plan.loss) // scale
                return [np.array(content) for _, content in plan.contents]
            self.most = (self._total - budget - 1) // scale
            if self.most < 0:
                return None
            budget, step = budget + step, 2 * step

    def _least_loss(self, budget: int, deadline: float) -> Plan | None:
        """Return the plan of least loss, ``None`` if it loses more; raises `TooLongError`."""
        graph, prices = self._graph, self._prices
        listed = list_pieces(graph, prices.scale, prices.prices, budget)
        counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), listed])
        column = Column(counts, graph.gains(counts))
        cut = Cut(prices.scale, prices.prices, 0, (0,))
        ample = (int(graph.sizes.sum()),)
        try:
            return least_loss(
                [column],
                ample,
                cut,
                graph.sizes,
                budget,
                lambda seen: seen < MOST_STATES and time.perf_counter() < deadline,
            )
        except TooLongError:
            left = deadline - time.perf_counter()
            closing = close_by_cp_sat([column], ample, cut, graph.sizes, budget, left)
        if not closing.proven:
            raise TooLongError
        return closing.plan
