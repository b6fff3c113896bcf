"""Best-first search for the best split of the tasks over the sites and the best solution of each.

The split with the highest bound is looked at: first its own relaxation is solved, whose duals bound
all other splits too; then a solution worth exactly its bound is searched for. If there is none, its
bound falls by one and the next best is taken. The first solution found at the highest bound of all
is therefore optimal, and the highest bound is valid at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import NEG_INF, TypeColumns
from slotwise.solver.column_generation.params import ResidualParams
from slotwise.solver.column_generation.rack_splits import DualBound, RackSplits, SiteRelaxation
from slotwise.solver.column_generation.residual_search import (
    MasterSolution,
    SearchState,
    SiteColumns,
    SiteSolution,
    TooLongError,
    exact_scale,
    min_reduced_cost,
    reduced_cost_of,
)
from slotwise.solver.compact import overflows, run_cp_sat
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits


class SplitSearch:
    """The search over splits; `state` can be read whenever it stops."""

    def __init__(
        self,
        sites: Sequence[SiteColumns],
        first: IntArray,
        total: IntArray,
        bonus: IntArray,
        deadline: float,
        state: SearchState,
        on_best: Callable[[MasterSolution], None],
        limits: Limits,
        params: ResidualParams,
        token: RunToken,
    ) -> None:
        scale = exact_scale(sites, total)
        self._sites = tuple(sites)
        self._relaxations = [
            SiteRelaxation(site.columns, site.nodes, total, scale, token) for site in sites
        ]
        self._token = token
        self._scale = scale
        self._deadline = deadline
        self._on_best = on_best
        self._limits = limits
        self._params = params
        self.splits = RackSplits(first, total, bonus, len(sites), scale)
        self.state = state

    def run(self) -> None:
        """Search until the best solution is proven, nothing is left, or the deadline passes.

        Raises
        ------
        TooLongError
            When the deadline passed or a search grew too large; `state` holds the results so far.
        """
        while self._prune():
            self._token.check()
            if self._token.now() > self._deadline:
                raise TooLongError
            values = self.splits.values()
            split = int(values.argmax())
            if not self.splits.is_solved(split):
                self._relax(split)
            elif not self._is_dive_due() or not self._dive(split):
                self._prove(split, int(values[split]))
        self.state.finished = True

    def _is_dive_due(self) -> bool:
        """Many splits are compared step by step, once there is an incumbent to beat."""
        return self.state.best is None or len(self._sites) == 1

    def _prune(self) -> bool:
        """Note the highest bound, drop hopeless splits, say if any is left."""
        values = self.splits.values()
        best = self.state.best
        hopeful = values > (NEG_INF if best is None else best.value)
        if not hopeful.all():
            self.splits.keep(hopeful)
            values = values[hopeful]
        if self.splits.dual_bounds:
            highest = [int(values.max())] if len(values) else []
            self.state.lower(max([*highest, *([best.value] if best else [])], default=None))
        return bool(len(values))

    def _relax(self, split: int) -> None:
        """Solve the relaxation of a split at each site and bound all splits by it."""
        for site, relaxation in enumerate(self._relaxations):
            self.splits.add(relaxation.dual_bound(self.splits.share(split, site)), site)
        self.splits.mark_solved(split)

    def _dive(self, split: int) -> bool:
        """Look for the best solution of the split, within wider and wider gaps.

        Returns whether that gave a solution, or the proof that none beats the incumbent.
        """
        configurations, reduced_cost = [], 0
        for site in range(len(self._sites)):
            try:
                solution = self._any_solution(split, site)
            except TooLongError:
                return False
            if solution is None:
                self.splits.lower(split, NEG_INF)
                return True
            configurations.append(solution.configurations)
            reduced_cost += solution.reduced_cost
        best = MasterSolution(self.splits.value(split, reduced_cost), tuple(configurations))
        self.splits.lower(split, best.value)
        self._take(best)
        return True

    def _any_solution(self, split: int, site: int) -> SiteSolution | None:
        """Return the solution of least reduced cost; ``None`` if none beats the incumbent."""
        dual_bound = self.splits.dual_bound_of(split, site)
        here = self._sites[site]
        most = sum(
            count * int(dual_bound.reduced_costs(t, column).max())
            for t, (column, count) in enumerate(zip(here.columns, here.nodes, strict=True))
        )
        if len(self._sites) == 1 and self.state.best is not None:
            most = min(most, self.splits.gap(split, self.state.best.value + 1))
        gap = min(self._scale, most)
        while True:
            solution = self._min_reduced_cost(split, site, gap)
            if solution is not None or gap == most:
                return solution
            gap = min(4 * gap, most)

    def _prove(self, split: int, value: int) -> None:
        """Find a solution of the split worth `value`, or note that there is none."""
        gap = self.splits.gap(split, value)
        configurations = []
        for site in range(len(self._sites)):
            solution = self._min_reduced_cost(split, site, gap)
            if solution is None:
                self.splits.lower(split, value - 1)
                return
            gap -= solution.reduced_cost
            configurations.append(solution.configurations)
        self._take(MasterSolution(value, tuple(configurations)))

    def _min_reduced_cost(self, split: int, site: int, gap: int) -> SiteSolution | None:
        """Search residual vectors; where they are too many, let CP-SAT close the gap."""
        here = self._sites[site]
        dual_bound = self.splits.dual_bound_of(split, site)
        x = self.splits.share(split, site)
        try:
            return min_reduced_cost(
                here.columns, here.nodes, dual_bound, x, gap, self._go_on, self._token
            )
        except TooLongError:
            left = replace(self._limits, time_s=self._deadline - self._token.now())
            answer = solve_residual_ip(
                here.columns,
                here.nodes,
                dual_bound,
                x,
                gap,
                left,
                self._params.max_ip_columns,
                self._token,
            )
            self.state.by_solver = True
        if answer.solution is None and answer.proven:
            self._check_incumbent(site, dual_bound, x, gap)
        if answer.solution is not None and len(self._sites) == 1:
            solution = answer.solution
            self._take(
                MasterSolution(
                    self.splits.value(split, solution.reduced_cost), (solution.configurations,)
                )
            )
        if not answer.proven:
            raise TooLongError
        return answer.solution

    def _check_incumbent(self, site: int, dual_bound: DualBound, x: IntArray, gap: int) -> None:
        """Raise an `InternalError` where CP-SAT found no solution and the incumbent is one."""
        if self.state.best is None or not self.state.best.configurations:
            return
        here = self._sites[site]
        reduced_cost = reduced_cost_of(
            here.columns, here.nodes, dual_bound, x, self.state.best.configurations[site]
        )
        if reduced_cost is not None and reduced_cost <= gap:
            raise InternalError(
                f"CP-SAT finds no solution within the gap {gap}, the incumbent has {reduced_cost}"
            )

    def _go_on(self, seen: int) -> bool:
        self._token.check()
        return seen < self._params.max_states and self._token.now() < self._deadline

    def _take(self, solution: MasterSolution) -> None:
        if self.state.best is None or solution.value > self.state.best.value:
            self.state.best = solution
            self._on_best(solution)


# Closing the gap by CP-SAT, where the search over residual vectors has too many states.
#
# The same question as `min_reduced_cost`: configurations whose reduced cost fits the gap, used how
# often, add up to x? A small integer program: a few hundred columns, one row per kind and type.


@dataclass(frozen=True, slots=True)
class ResidualAnswer:
    """Answer of the integer program.

    Parameters
    ----------
    solution
        The best one found within the gap; ``None`` when none was.
    proven
        Whether `solution` has the least reduced cost, or, without one, whether there is none.
    """

    solution: SiteSolution | None
    proven: bool


def solve_residual_ip(
    columns: Sequence[TypeColumns],
    nodes: Sequence[int],
    dual_bound: DualBound,
    x: IntArray,
    gap: int,
    limits: Limits,
    max_columns: int,
    token: CancellationToken,
) -> ResidualAnswer:
    """Return the solution for x [K] of least reduced cost, if that is at most `gap`.

    Nothing is proven with more than `max_columns` columns. Raises `CancelledError`.
    """
    model = cp_model.CpModel()
    chosen: list[tuple[int, IntArray, cp_model.IntVar]] = []
    total_reduced_cost: cp_model.LinearExpr | int = 0
    placed: list[cp_model.LinearExpr | int] = [0] * len(x)
    for t, column in enumerate(columns):
        reduced_costs = dual_bound.reduced_costs(t, column)
        rows = np.flatnonzero((reduced_costs <= gap) & (column.counts <= x).all(axis=1))
        used: cp_model.LinearExpr | int = 0
        if len(chosen) + len(rows) > max_columns:
            return ResidualAnswer(None, proven=False)
        for y in rows.tolist():
            counts = column.counts[y]
            times = [int(x[k]) // int(counts[k]) for k in np.flatnonzero(counts).tolist()]
            number = model.new_int_var(0, min([nodes[t], *times]), "")
            chosen.append((t, counts, number))
            used += number
            total_reduced_cost += int(reduced_costs[y]) * number
            for k in np.flatnonzero(counts).tolist():
                placed[k] += int(counts[k]) * number
        model.add(used == nodes[t])
    for k, tasks in enumerate(placed):
        model.add(tasks == int(x[k]))
    model.add(total_reduced_cost <= gap)
    model.minimize(total_reduced_cost)
    if overflows(model):
        return ResidualAnswer(None, proven=False)
    return _solve(model, chosen, limits, token)


def _solve(
    model: cp_model.CpModel,
    chosen: Sequence[tuple[int, IntArray, cp_model.IntVar]],
    limits: Limits,
    token: CancellationToken,
) -> ResidualAnswer:
    run = run_cp_sat(model, replace(limits, workers=1), token)
    if run.interrupted:
        raise CancelledError
    if not run.has_solution:
        return ResidualAnswer(None, proven=run.status == cp_model.INFEASIBLE)
    solver = run.solver
    configurations = tuple(
        (t, tuple(counts.tolist()))
        for t, counts, number in chosen
        for _ in range(solver.value(number))
        if counts.any()
    )
    solution = SiteSolution(round(solver.objective_value), configurations)
    return ResidualAnswer(solution, proven=run.status == cp_model.OPTIMAL)
