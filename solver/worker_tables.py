"""The best splits of many node contents into workers at once, by one table of all they contain."""

from __future__ import annotations

import math

import numpy as np

from slotwise.models.problem import BoolArray, IntArray
from slotwise.solver.memory import has_room
from slotwise.solver.packing_kernel import IMPOSSIBLE
from slotwise.solver.worker_packing import place_values

MOST_CELLS = 50_000_000
MOST_ROWS = 1_000_000
MOST_STEPS = 2_000_000_000
"""Rows times workers: a dozen seconds."""


def split_gains(
    contents: IntArray, workers: IntArray, gains: IntArray
) -> tuple[IntArray, BoolArray] | None:
    """Return for contents [Y, K] the most flow inside workers, and whether they split at all.

    Each worker holds one of `workers` [W, K], with the flow `gains` [W] inside. ``None`` where the
    table would be too large.
    """
    if not len(contents):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    most = contents.max(axis=0)
    strides = place_values(most + 1)
    box = math.prod((most + 1).tolist())
    if box > MOST_CELLS or not has_room(4 * box, f"a table of {box:,} contents of nodes"):
        return None
    cells = _all_within(contents, strides)
    if cells is None or len(cells) * len(workers) > MOST_STEPS:
        return None
    from slotwise.solver.packing_compiled import fill_compiled

    index = np.zeros(box, dtype=np.int32)
    index[cells] = np.arange(len(cells))
    workers, gains = workers[(workers <= most).all(1)], gains[(workers <= most).all(1)]
    firsts = (workers > 0).argmax(axis=1)
    order = np.argsort(firsts, kind="stable")
    starts = np.searchsorted(firsts[order], np.arange(len(most) + 1)).astype(np.int64)
    table = np.full(len(cells), IMPOSSIBLE, dtype=np.int64)
    rows = cells[:, None] // strides % (most + 1)
    parts = (workers[order], workers[order] @ strides, gains[order], starts)
    fill_compiled(rows, cells, index, *parts, table, table)
    found = table[index[contents @ strides]]
    return found, np.asarray(found != IMPOSSIBLE)


def _all_within(contents: IntArray, strides: IntArray) -> IntArray | None:
    """Return the cells of all contents no larger than one of `contents`; ``None``: too many."""
    rows = np.unique(contents, axis=0)
    for k in range(contents.shape[1]):
        tops = rows[:, k]
        more = int((tops + 1).sum())
        size = 3 * 8 * more * contents.shape[1]
        if more > 4 * MOST_ROWS or not has_room(size, f"{more:,} parts of contents of nodes"):
            return None
        repeated = np.repeat(rows, tops + 1, axis=0)
        repeated[:, k] = np.concatenate([np.arange(top + 1) for top in tops.tolist()])
        _, kept = np.unique(repeated @ strides, return_index=True)
        rows = repeated[kept]
    return None if len(rows) > MOST_ROWS else rows @ strides
