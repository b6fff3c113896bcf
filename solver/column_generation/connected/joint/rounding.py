"""Placements from the columns of joint duals: a dive in the linear program, then CP-SAT.

The dive fixes the contents that the linear program uses most, cuts all columns down to the tasks
that are left, and solves again. CP-SAT then combines the columns and those of the dive at best.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancelledError
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.joint.content_pricing import ContentPricing
from slotwise.solver.column_generation.restricted_master import RestrictedMaster
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.result import Limits

WHOLE = 1e-6
"""What is nearer to a whole number counts as one."""


def dive(pricing: ContentPricing, columns: IntArray, deadline: float) -> list[IntArray] | None:
    """Return contents [K] that add up to all tasks; ``None`` where the deadline passed."""
    left, chosen = pricing.graphs[0].sizes.copy(), list[IntArray]()
    while left.any():
        pricing.token.check()
        if time.perf_counter() > deadline:
            return None
        columns = np.unique(np.minimum(columns, left), axis=0)
        columns = columns[columns.any(axis=1)]
        lp = RestrictedMaster(maximize=True)
        lp.add_rows(left.tolist())
        lp.add_columns(pricing.values(columns) / pricing.scale, columns)
        lp.duals()
        used = lp.solution()
        times = np.floor(used + WHOLE).astype(np.int64)
        if not times.any():
            times[int(np.argmax(used * (columns.sum(axis=1) > 1) + WHOLE * used))] = 1
        for row in np.flatnonzero(times).tolist():
            count = min(int(times[row]), _times_within(columns[row], left))
            chosen += [columns[row]] * count
            left = left - count * columns[row]
    return chosen


def _times_within(content: IntArray, left: IntArray) -> int:
    held = content > 0
    return int((left[held] // content[held]).min())


def best_combination(
    pricing: ContentPricing, columns: IntArray, start: list[IntArray], limits: Limits
) -> list[IntArray] | None:
    """Return the best combination of columns [Y, K] found in the time; ``None`` if none was.

    `start` is a combination to begin with, its contents included.
    """
    columns = np.unique(np.concatenate([columns, *(row[None, :] for row in start)]), axis=0)
    values = pricing.values(columns) // pricing.scale
    sizes = pricing.graphs[0].sizes
    begin = {row.tobytes(): 0 for row in columns}
    for row in start:
        begin[row.tobytes()] += 1
    model = cp_model.CpModel()
    numbers = []
    for row in columns:
        number = model.new_int_var(0, _times_within(row, sizes), "")
        model.add_hint(number, begin[row.tobytes()])
        numbers.append(number)
    for k, size in enumerate(sizes.tolist()):
        rows = np.flatnonzero(columns[:, k]).tolist()
        model.add(sum(int(columns[y, k]) * numbers[y] for y in rows) == size)
    model.maximize(sum(int(value) * n for value, n in zip(values, numbers, strict=True)))
    run = run_cp_sat(model, replace(limits, workers=1), pricing.token)
    if run.interrupted:
        raise CancelledError
    if not run.has_solution:
        return None
    return [
        row for row, n in zip(columns, numbers, strict=True) for _ in range(run.solver.value(n))
    ]
