"""Closing the gap by CP-SAT, where the search over residual vectors has too many states.

The same question as `least_loss`: the configurations whose loss fits the budget, used how often,
add up to x? That is a small integer program: a few hundred columns, one row per kind and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.errors import InternalError
from slotwise.models.problem import IntArray
from slotwise.solver.closing import Plan
from slotwise.solver.interruptible import run_interruptible
from slotwise.solver.master import Column, Cut

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
    time_s: float,
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
    return _solve(model, chosen, time_s)


def _solve(
    model: cp_model.CpModel,
    chosen: Sequence[tuple[int, IntArray, cp_model.IntVar]],
    time_s: float,
) -> Closing:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(time_s, 0.0)
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    statuses: list[cp_model.CpSolverStatus] = []
    if run_interruptible(lambda: statuses.append(solver.solve(model)), solver.stop_search):
        raise KeyboardInterrupt
    status = statuses[0]
    if status == cp_model.INFEASIBLE:
        return Closing(None, proven=True)
    if status == cp_model.UNKNOWN:
        return Closing(None, proven=False)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise InternalError(f"CP-SAT answered {solver.status_name(status)}")
    contents = tuple(
        (t, tuple(counts.tolist()))
        for t, counts, number in chosen
        for _ in range(solver.value(number))
        if counts.any()
    )
    plan = Plan(round(solver.objective_value), contents)
    return Closing(plan, proven=status == cp_model.OPTIMAL)
