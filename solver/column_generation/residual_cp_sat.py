"""Closing the gap by CP-SAT, where the search over residual vectors has too many states.

The same question as `min_reduced_cost`: configurations whose reduced cost fits the gap, used how
often, add up to x? A small integer program: a few hundred columns, one row per kind and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.residual_search import SiteSolution
from slotwise.solver.column_generation.site_relaxation import DualBound
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.result import Limits


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
