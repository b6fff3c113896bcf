"""The terms in order, over the columns of a `ColumnModel`.

For each term: the LP relaxation bounds it and gives every column a reduced cost; CP-SAT finds the
best solution among the columns of least reduced cost (the restricted integer program); every
better solution uses only columns whose reduced cost fits the gap, and if all of these were among
them the solution is optimal. Terms that are proven become limits of the later ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import BoolArray
from slotwise.solver.column_generation.columns.exact_tables import solve_by_tables, tables_fit
from slotwise.solver.column_generation.columns.fixing import fixed, limits_of
from slotwise.solver.column_generation.columns.model import (
    ColumnExpression,
    ColumnModel,
    ColumnSolution,
    placement_of,
)
from slotwise.solver.column_generation.columns.pricing import (
    DualSolution,
    Limit,
    may_be_feasible,
    solve_relaxation,
)
from slotwise.solver.column_generation.columns.restricted_ip import (
    RestrictedIpAnswer,
    solve_restricted_ip,
)
from slotwise.solver.column_generation.configurations.engine import KIND
from slotwise.solver.column_generation.params import ColumnsParams
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits

TABLES = "exact tables over node configurations"
"""What the bounds are that these tables prove."""


def search_columns(
    model: ColumnModel, best: Incumbent, limits: Limits, params: ColumnsParams, token: RunToken
) -> None:
    """Solve the terms after those that are proven until one is not proven within the limits.

    Parameters
    ----------
    model
        All columns.
    best
        The incumbent; takes placements and bounds that are found.
    limits
        Of this search alone.
    params
        Limits of the restricted integer programs.
    token
        Ends the search by `CancelledError`.
    """
    deadline = token.now() + limits.time_s
    model = fixed(model, best.optima, deadline, token)
    if tables_fit(model, params, token):
        _solve_at_once(model, best, token)
        return
    for index in range(len(best.optima), len(model.terms)):
        earlier = best.optima
        most = limits_of(model, earlier)
        known = None if best.values is None else best.values[index]
        one = _TermSearch(model, index, most, known, best, limits, deadline, params, token)
        one.run()
        if one.infeasible and best.values is not None:
            raise InternalError(f"CP-SAT calls term {index} infeasible, which has a placement")
        best.infeasible, best.interrupted = one.infeasible, one.interrupted
        best.by_solver |= one.infeasible
        if one.bound is not None:
            best.prove([*earlier, one.bound], KIND, by_solver=True)
        if one.bound is None or one.value != one.bound or one.interrupted:
            return
        model = fixed(model, best.optima, deadline, token)


def _solve_at_once(model: ColumnModel, best: Incumbent, token: RunToken) -> None:
    """Solve all terms by exact tables."""
    found = solve_by_tables(model, token)
    if found is not None:
        best.offer_solution(placement_of(model, found))
        assert best.values is not None, "it was offered one"
        best.prove(best.values, TABLES)
    elif best.values is None:
        best.infeasible = True
    else:
        raise InternalError("exact tables call infeasible what has a placement")


def _thresholds(dual: DualSolution, nodes: Sequence[int], params: ColumnsParams) -> Iterator[int]:
    """Yield reduced costs that leave more and more columns to choose from, at last all."""
    reduced_costs = np.concatenate(dual.reduced_costs)
    order = np.argsort(reduced_costs, kind="stable")
    weights = np.repeat(nodes, [len(costs) for costs in dual.reduced_costs])
    choices = np.cumsum(weights[order])
    count = params.first_choices
    while True:
        reached = min(int(np.searchsorted(choices, count)), len(order) - 1)
        yield int(reduced_costs[order[reached]])
        count *= params.choice_growth


class _TermSearch:
    """The search for the best solution in one term."""

    def __init__(
        self,
        model: ColumnModel,
        index: int,
        most: Sequence[Limit],
        known: int | None,
        best: Incumbent,
        limits: Limits,
        deadline: float,
        params: ColumnsParams,
        token: RunToken,
    ) -> None:
        self._model, self._index, self._most = model, index, tuple(most)
        self._best, self._limits, self._deadline = best, limits, deadline
        self._params, self._token = params, token
        self.value = known
        self.bound: int | None = None
        self.infeasible = False
        self.interrupted = False

    @property
    def _term(self) -> ColumnExpression:
        return self._model.terms[self._index]

    def run(self) -> None:
        """Solve over more and more columns until the solution is proven best, or time is up."""
        within = self._most, self._deadline, self._token
        if self.value is None and not may_be_feasible(self._model, *within):
            self.infeasible = True
            return
        dual = solve_relaxation(self._model, self._term, *within)
        self.bound = max(0, dual.whole_bound)
        nodes = [len(kind.nodes) for kind in self._model.types]
        thresholds = _thresholds(dual, nodes, self._params)
        largest = max(int(costs.max()) for costs in dual.reduced_costs)
        while not self._done():
            threshold = min(next(thresholds), self._gap(dual, largest))
            kept = [costs <= threshold for costs in dual.reduced_costs]
            left = self._deadline - self._token.now()
            choices = sum(n * int(k.sum()) for n, k in zip(nodes, kept, strict=True))
            if left <= 0 or choices > self._params.max_choices:
                return
            answer = self._solve_restricted(kept, left)
            self._take(answer)
            if self._learn(answer, dual, threshold, largest) or not answer.complete:
                return

    def _done(self) -> bool:
        return self.value is not None and self.value == self.bound

    def _gap(self, dual: DualSolution, largest: int) -> int:
        """Return the largest reduced cost of a column in a solution better than the incumbent."""
        if self.value is None:
            return largest
        return min(largest, (self.value - 1) * dual.scale - dual.bound)

    def _solve_restricted(self, kept: list[BoolArray], left: float) -> RestrictedIpAnswer:
        most = self._most
        if self.value is not None:
            most = (*most, (self._term, self.value - 1))
        limits = replace(self._limits, time_s=left)
        bound = self.bound or 0
        return solve_restricted_ip(
            self._model, self._term, most, kept, bound, limits, self._offer, self._token
        )

    def _take(self, answer: RestrictedIpAnswer) -> None:
        self.interrupted |= answer.interrupted
        if answer.solution is None:
            return
        self._offer(answer.solution)
        assert self._best.values is not None, "it was offered one"
        self.value = self._best.values[self._index]

    def _offer(self, solution: ColumnSolution) -> None:
        self._best.offer_solution(placement_of(self._model, solution))

    def _learn(
        self, answer: RestrictedIpAnswer, dual: DualSolution, threshold: int, largest: int
    ) -> bool:
        """Raise the bound by what was proven; return whether the term is settled.

        A solution that uses another column has a reduced cost above the threshold; one of these
        columns costs at least the restricted program's bound, or the value it was asked to beat.
        """
        inside = self.value if answer.complete else answer.bound
        if not answer.complete and inside is not None and self.value is not None:
            inside = min(inside, self.value)
        outside = -(-(dual.bound + threshold + 1) // dual.scale)
        everything = threshold >= self._gap(dual, largest)
        if everything and answer.complete and self.value is None:
            self.bound, self.infeasible = None, True
            return True
        if inside is not None:
            risen = inside if everything else min(inside, outside)
            self.bound = max(self.bound or 0, risen)
        elif answer.complete and not everything:
            self.bound = max(self.bound or 0, outside)
        return self._done() or self.infeasible
