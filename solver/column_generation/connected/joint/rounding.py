"""Placements from the columns of joint duals: a dive in the linear program, then CP-SAT.

The dive fixes the contents that the linear program uses most, cuts all columns down to the tasks
that are left, and solves again. CP-SAT then combines the columns and those of the dive at best.
Both use no more nodes of a size than there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancelledError
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.joint.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.joint.joint_search import (
    JointLevels,
    near_columns,
)
from slotwise.solver.column_generation.connected.joint.node_sizes import NodeSizes, node_sizes
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.restricted_master import FloatArray, RestrictedMaster
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.result import Limits

WHOLE = 1e-6
"""What is nearer to a whole number counts as one."""


def roundings(
    joint: JointLevels, places: PlaceModel, deadline: float, limits: Limits
) -> Iterator[list[IntArray]]:
    """Yield contents [K] that add up to all tasks, better ones later; the dive takes no time."""
    sizes = node_sizes(places.problem, places.kinds)
    columns = sizes.with_smaller(joint.duals.columns)
    rounded = dive(joint.pricing, sizes, columns)
    if rounded is not None:
        yield rounded
    now = joint.pricing.token.now()
    near = near_columns(joint, joint.pricing.params.max_near, (now + deadline) / 2)
    columns = np.unique(np.concatenate([columns, near]), axis=0)
    left = replace(limits, time_s=max(deadline - joint.pricing.token.now(), 0.0))
    combined = best_combination(joint.pricing, sizes, columns, rounded or [], left)
    if combined is not None:
        yield combined


def dive(pricing: ContentPricing, sizes: NodeSizes, columns: IntArray) -> list[IntArray] | None:
    """Return contents [K] that add up to all tasks; ``None`` where large nodes run out."""
    left, nodes = pricing.graphs[0].sizes.copy(), sizes.counts.copy()
    chosen: list[IntArray] = []
    while left.any():
        pricing.token.check()
        columns = np.unique(np.minimum(columns, left), axis=0)
        columns = columns[columns.any(axis=1)]
        used = _solution(pricing, sizes, columns, left, nodes)
        if used is None:
            return None
        times = np.floor(used + WHOLE).astype(np.int64)
        if not times.any():
            times[int(np.argmax(used * (columns.sum(axis=1) > 1) + WHOLE * used))] = 1
        for row in np.flatnonzero(times).tolist():
            count = min(int(times[row]), _times_within(columns[row], left))
            chosen += [columns[row]] * count
            left = left - count * columns[row]
            nodes = nodes - count * sizes.entries(columns[row][None, :])[0]
    return chosen


def _solution(
    pricing: ContentPricing, sizes: NodeSizes, columns: IntArray, left: IntArray, nodes: IntArray
) -> FloatArray | None:
    """Return how often each column is used in the optimum of what is left, if there is one."""
    lp = RestrictedMaster(maximize=True)
    lp.add_rows(left.tolist())
    lp.add_rows(np.maximum(nodes, 0).tolist(), limit=True)
    entries = np.concatenate([columns, sizes.entries(columns)], axis=1)
    lp.add_columns(pricing.values(columns) / pricing.scale, entries)
    lp.duals()
    used = lp.solution()
    return used if np.allclose(used @ entries[:, : len(left)], left, atol=1e-4) else None


def _times_within(content: IntArray, left: IntArray) -> int:
    held = content > 0
    return int((left[held] // content[held]).min())


def best_combination(
    pricing: ContentPricing,
    sizes: NodeSizes,
    columns: IntArray,
    start: list[IntArray],
    limits: Limits,
) -> list[IntArray] | None:
    """Return the best combination of columns [Y, K] found in the time; ``None`` if none was.

    `start` is a combination to begin with, its contents included.
    """
    columns = np.unique(np.concatenate([columns, *(row[None, :] for row in start)]), axis=0)
    values = pricing.values(columns) // pricing.scale
    tasks = pricing.graphs[0].sizes
    begin = {row.tobytes(): 0 for row in columns}
    for row in start:
        begin[row.tobytes()] += 1
    model = cp_model.CpModel()
    numbers = []
    for row in columns:
        number = model.new_int_var(0, _times_within(row, tasks), "")
        model.add_hint(number, begin[row.tobytes()])
        numbers.append(number)
    for k, size in enumerate(tasks.tolist()):
        rows = np.flatnonzero(columns[:, k]).tolist()
        model.add(sum(int(columns[y, k]) * numbers[y] for y in rows) == size)
    needs = sizes.entries(columns)
    for t, count in enumerate(sizes.counts.tolist()):
        model.add(sum(numbers[y] for y in np.flatnonzero(needs[:, t]).tolist()) <= count)
    model.maximize(sum(int(value) * n for value, n in zip(values, numbers, strict=True)))
    run = run_cp_sat(model, replace(limits, workers=1), pricing.token)
    if run.interrupted:
        raise CancelledError
    if not run.has_solution:
        return None
    return [
        row for row, n in zip(columns, numbers, strict=True) for _ in range(run.solver.value(n))
    ]
