"""Closing the gap by CP-SAT, where the search over residual vectors has too many states.

The same question as `least_loss`: the configurations whose loss fits the budget, used how often,
add up to x? That is a small integer program: a few hundred columns, one row per kind and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.residual_search import Plan
from slotwise.solver.column_generation.restricted_master import Column, Cut
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.result import Limits

MOST_COLUMNS = 20_000


@dataclass(frozen=True, slots=True)
class Closing:
    """Answer of the integer program.

    Parameters
    ----------
    plan
        The best plan found within the budget; ``None`` when none was.
    proven
        Whether `plan` has the least loss, or, without a plan, whether there is none.
    """

    plan: Plan | None
    proven: bool


def close_by_cp_sat(
    columns: Sequence[Column],
    nodes: Sequence[int],
    cut: Cut,
    x: IntArray,
    budget: int,
    limits: Limits,
) -> Closing:
    """Return the plan of x [K] with the least loss, if that is at most `budget`."""
    model = cp_model.CpModel()
    chosen: list[tuple[int, IntArray, cp_model.IntVar]] = []
    total_loss: cp_model.LinearExpr | int = 0
    placed: list[cp_model.LinearExpr | int] = [0] * len(x)
    for t, column in enumerate(columns):
        losses = cut.losses(t, column)
        rows = np.flatnonzero((losses <= budget) & (column.counts <= x).all(axis=1))
        used: cp_model.LinearExpr | int = 0
        if len(chosen) + len(rows) > MOST_COLUMNS:
            return Closing(None, proven=False)
        for y in rows.tolist():
            counts = column.counts[y]
            times = [int(x[k]) // int(counts[k]) for k in np.flatnonzero(counts).tolist()]
            number = model.new_int_var(0, min([nodes[t], *times]), "")
            chosen.append((t, counts, number))
            used += number
            total_loss += int(losses[y]) * number
            for k in np.flatnonzero(counts).tolist():
                placed[k] += int(counts[k]) * number
        model.add(used == nodes[t])
    for k, tasks in enumerate(placed):
        model.add(tasks == int(x[k]))
    model.add(total_loss <= budget)
    model.minimize(total_loss)
    return _solve(model, chosen, limits)


def _solve(
    model: cp_model.CpModel,
    chosen: Sequence[tuple[int, IntArray, cp_model.IntVar]],
    limits: Limits,
) -> Closing:
    answer = run_cp_sat(model, replace(limits, workers=1))
    if answer.interrupted:
        raise KeyboardInterrupt
    if not answer.has_solution:
        return Closing(None, proven=answer.status == cp_model.INFEASIBLE)
    solver = answer.solver
    contents = tuple(
        (t, tuple(counts.tolist()))
        for t, counts, number in chosen
        for _ in range(solver.value(number))
        if counts.any()
    )
    plan = Plan(round(solver.objective_value), contents)
    return Closing(plan, proven=answer.status == cp_model.OPTIMAL)
