"""Plans of pieces: all tasks as a set of pieces, the one with the most flow inside sought."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.closing import Plan, TooLongError, least_loss
from slotwise.solver.closing_cp_sat import close_by_cp_sat
from slotwise.solver.master import Column, Cut
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_list import list_pieces
from slotwise.solver.piece_prices import Prices

MOST_STATES = 20_000
"""Residual vectors looked at before CP-SAT takes over."""


class PiecePlans:
    """The plans of all tasks at proven prices; `most` is what no plan is worth more than.

    Parameters
    ----------
    sizes, prices
        [K] number of tasks of each kind; [K] their prices on the integer grid `scale`.
    columns
        Budget -> all pieces that lose at most that against the prices, and their worths.
    """

    def __init__(
        self, sizes: IntArray, scale: int, prices: IntArray, columns: Callable[[int], Column]
    ) -> None:
        self._sizes = sizes
        self._cut = Cut(scale, prices, 0, (0,))
        self._columns = columns
        self._total = int(prices @ sizes)
        self.most = self._total // scale

    def best(self, deadline: float) -> list[IntArray] | None:
        """Return the pieces of the best plan, allowing more and more loss; `most` is its worth.

        ``None`` where no pieces make up a plan. Raises `TooLongError` when the deadline passes or
        a search grows too large; `most` is then what is proven.
        """
        scale = self._cut.scale
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
        column = self._columns(budget)
        ample = (int(self._sizes.sum()),)
        try:
            return least_loss(
                [column],
                ample,
                self._cut,
                self._sizes,
                budget,
                lambda seen: seen < MOST_STATES and time.perf_counter() < deadline,
            )
        except TooLongError:
            left = deadline - time.perf_counter()
            closing = close_by_cp_sat([column], ample, self._cut, self._sizes, budget, left)
        if not closing.proven:
            raise TooLongError
        return closing.plan


def plans_of(graph: PieceGraph, prices: Prices) -> PiecePlans:
    """Return the plans of the places of one graph."""

    def columns(budget: int) -> Column:
        return column_of(graph, list_pieces(graph, prices.scale, prices.prices, budget))

    return PiecePlans(graph.sizes, prices.scale, prices.prices, columns)


def column_of(graph: PieceGraph, pieces: IntArray) -> Column:
    """Return pieces [Y, K] with the flow inside them, and the empty place."""
    counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), pieces])
    return Column(counts, graph.gains(counts))
