"""The best master solution at proven duals, searched within wider and wider gaps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.level import Level
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ConnectedParams, ResidualParams
from slotwise.solver.column_generation.rack_splits import all_in_one
from slotwise.solver.column_generation.residual_search import (
    MasterSolution,
    SearchState,
    SiteColumns,
    TooLongError,
)
from slotwise.solver.column_generation.split_search import SplitSearch
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits


class GapSearch:
    """The search for the solution with the most flow inside; `bound` is what none exceeds.

    Parameters
    ----------
    sizes
        [K] number of tasks of each kind.
    scale, total
        Grid of the duals; what all duals add up to on it: the bound without reduced costs.
    min_reduced_cost
        Lower bound on the reduced cost of every solution, on the same grid.
    columns
        Gap and deadline -> all configurations of solutions whose reduced cost fits the gap, and
        their values; may raise `TooLongError`.
    params
        Of the search among the columns.
    token
        Ends the search by `CancelledError`.
    on_best
        Called with the configurations [K] of each better solution met.
    by_solver
        Whether `bound` rests on CP-SAT's word.
    enough
        -> a bound that ends the search, as does any lower one.
    refine
        Called with the configurations [K] of the best solution, what it is worth more than `enough`
        on the grid of the duals, and the deadline: computes what they are worth more exactly, and
        returns whether a value fell. Then the search is repeated.
    """

    on_best: Callable[[list[IntArray]], None]
    by_solver: bool
    enough: Callable[[], int]
    refine: Callable[[list[IntArray], int, float], bool]

    def __init__(
        self,
        sizes: IntArray,
        scale: int,
        total: int,
        min_reduced_cost: int,
        columns: Callable[[int, float], TypeColumns],
        params: ResidualParams,
        token: RunToken,
    ) -> None:
        self.on_best = lambda configurations: None
        self.by_solver = False
        self.enough = lambda: -1
        self.refine = lambda configurations, lost, deadline: False
        self._sizes = sizes
        self._scale = scale
        self._columns = columns
        self._params = params
        self._token = token
        self._total = total
        self.bound = (self._total - min_reduced_cost) // scale

    def best(self, deadline: float, limits: Limits) -> list[IntArray] | None:
        """Return the configurations of the best solution, within wider and wider gaps.

        `bound` is then its value. ``None`` where none is worth more than `enough`. Raises
        `TooLongError` when the deadline passes or a search grows too large; `bound` is then what
        is proven. Of `limits` the time counts for nothing.
        """
        gap, step = self._total - self.bound * self._scale, self._scale
        while True:
            if self._token.now() > deadline:
                raise TooLongError
            least = -(-(self._total - gap) // self._scale)
            configurations = self._solve_within(
                self._columns(gap, deadline), least, deadline, limits
            )
            if configurations is not None:
                lost = (self.bound - self.enough()) * self._scale
                if lost > 0 and self.refine(configurations, lost, deadline):
                    continue
                return configurations
            self.bound = least - 1
            if self.bound <= self.enough():
                return None
            gap, step = gap + step, 2 * step

    def _solve_within(
        self, column: TypeColumns, least: int, deadline: float, limits: Limits
    ) -> list[IntArray] | None:
        """Return the best solution over `column` if it is worth at least `least`.

        Its duals are computed again among these columns alone, so reduced costs are smaller.
        """
        state = SearchState(best=MasterSolution(least - 1, ()))
        ample = int(self._sizes.sum())
        search = SplitSearch(
            (SiteColumns((column,), (ample,)),),
            all_in_one(self._sizes),
            self._sizes,
            np.zeros(1, dtype=np.int64),
            deadline,
            state,
            lambda found: self.on_best(_configurations(found)),
            limits,
            self._params,
            self._token,
        )
        try:
            search.run()
        except TooLongError:
            if state.bound is not None:
                self.bound = min(self.bound, state.bound)
            raise
        finally:
            self.by_solver |= state.by_solver
        assert state.best is not None, "it began with one"
        if not state.best.configurations:
            return None
        self.bound = state.best.value
        return _configurations(state.best)


def _configurations(solution: MasterSolution) -> list[IntArray]:
    """Return the configurations [K] of a solution."""
    return [np.array(counts) for _, counts in solution.configurations[0]]


def level_search(level: Level, params: ConnectedParams, token: RunToken) -> GapSearch:
    """Return the search for solutions of the places of one level."""
    graph, duals, load_bound = level.graph, level.duals, level.load_bound

    def columns(gap: int, deadline: float) -> TypeColumns:
        room = gap - load_bound.min_of_others
        configurations = enumerate_connected(
            graph, duals.scale, duals.pi, room, token, deadline, params
        )
        costs = level.reduced_costs(configurations, graph.gains(configurations))
        return column_of(graph, configurations[costs <= gap])

    return GapSearch(
        graph.sizes,
        duals.scale,
        duals.total(graph.sizes),
        load_bound.total,
        columns,
        params.residual,
        token,
    )


def column_of(graph: FlowGraph, configurations: IntArray) -> TypeColumns:
    """Return configurations [Y, K] with the flow inside them, and the empty place."""
    counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), configurations])
    return TypeColumns(counts, graph.gains(counts))
