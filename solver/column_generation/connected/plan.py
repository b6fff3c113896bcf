"""Plans of pieces: all tasks as a set of pieces, the one with the most flow inside sought."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.enumeration import list_pieces
from slotwise.solver.column_generation.connected.graph import PieceGraph
from slotwise.solver.column_generation.connected.level import Level
from slotwise.solver.column_generation.rack_splits import all_in_one
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import Column
from slotwise.solver.column_generation.search_state import Found, SearchState, SiteColumns
from slotwise.solver.column_generation.split_search import PlanSearch
from slotwise.solver.core.result import Limits


class PiecePlans:
    """The plans of all tasks at proven prices; `most` is what no plan is worth more than.

    Parameters
    ----------
    sizes, prices
        [K] number of tasks of each kind; [K] their prices on the integer grid `scale`.
    lost
        What every plan loses against the prices, on their grid.
    columns
        Budget and deadline -> all pieces of plans that lose at most that against the prices, and
        their worths; may raise `TooLongError`.
    on_best
        Called with the pieces [K] of each better plan met.
    by_solver
        Whether `most` rests on CP-SAT's word.
    """

    on_best: Callable[[list[IntArray]], None]
    by_solver: bool

    def __init__(
        self,
        sizes: IntArray,
        scale: int,
        prices: IntArray,
        lost: int,
        columns: Callable[[int, float], Column],
    ) -> None:
        self.on_best = lambda pieces: None
        self.by_solver = False
        self._sizes = sizes
        self._scale = scale
        self._columns = columns
        self._total = int(prices @ sizes)
        self.most = (self._total - lost) // scale

    def best(self, deadline: float, limits: Limits) -> list[IntArray] | None:
        """Return the pieces of the best plan, allowing more and more loss; `most` is its worth.

        ``None`` where no pieces make up a plan. Raises `TooLongError` when the deadline passes or
        a search grows too large; `most` is then what is proven. Of `limits` the time counts for
        nothing.
        """
        budget, step = self._total - self.most * self._scale, self._scale
        while True:
            if time.perf_counter() > deadline:
                raise TooLongError
            least = -(-(self._total - budget) // self._scale)
            pieces = self._best_of(self._columns(budget, deadline), least, deadline, limits)
            if pieces is not None:
                return pieces
            self.most = least - 1
            if self.most < 0:
                return None
            budget, step = budget + step, 2 * step

    def _best_of(
        self, column: Column, least: int, deadline: float, limits: Limits
    ) -> list[IntArray] | None:
        """Return the best plan of the pieces of `column`, if it is worth at least `least`.

        The pieces priced anew lose less, for all others are out.
        """
        state = SearchState(best=Found(least - 1, ()))
        ample = int(self._sizes.sum())
        search = PlanSearch(
            (SiteColumns((column,), (ample,)),),
            all_in_one(self._sizes),
            self._sizes,
            np.zeros(1, dtype=np.int64),
            deadline,
            state,
            lambda found: self.on_best(_pieces(found)),
            limits,
        )
        try:
            search.run()
        except TooLongError:
            if state.bound is not None:
                self.most = min(self.most, state.bound)
            raise
        finally:
            self.by_solver |= state.by_solver
        assert state.best is not None, "it began with one"
        if not state.best.contents:
            return None
        self.most = state.best.value
        return _pieces(state.best)


def _pieces(found: Found) -> list[IntArray]:
    """Return the pieces [K] of a plan."""
    return [np.array(counts) for _, counts in found.contents[0]]


def plans_of(level: Level) -> PiecePlans:
    """Return the plans of the places of one level."""
    graph, prices, profile = level.graph, level.prices, level.profile

    def columns(budget: int, deadline: float) -> Column:
        room = budget - profile.lost_beside
        pieces = list_pieces(graph, prices.scale, prices.prices, room, deadline)
        return column_of(graph, pieces[level.losses(pieces, graph.gains(pieces)) <= budget])

    return PiecePlans(graph.sizes, prices.scale, prices.prices, profile.lost, columns)


def column_of(graph: PieceGraph, pieces: IntArray) -> Column:
    """Return pieces [Y, K] with the flow inside them, and the empty place."""
    counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), pieces])
    return Column(counts, graph.gains(counts))
