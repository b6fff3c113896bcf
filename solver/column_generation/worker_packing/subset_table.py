"""The best splits of many node configurations into workers, by one table of all subsets."""

from __future__ import annotations

import math

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.neg_inf import NEG_INF
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.worker_packing.table import mixed_radix_strides
from slotwise.solver.core.memory import RunToken


def split_gains(
    configurations: IntArray,
    workers: IntArray,
    gains: IntArray,
    params: ConnectedParams,
    token: RunToken,
) -> tuple[IntArray, BoolArray] | None:
    """Return for configurations [Y, K] the most flow inside workers, and whether they split.

    Each worker holds one of `workers` [W, K], with the flow `gains` [W] inside. ``None`` where the
    table would be too large.
    """
    if not len(configurations):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    most = configurations.max(axis=0)
    box = math.prod((most + 1).tolist())
    if box > params.max_subset_cells or not token.has_room(
        4 * box, f"a table of {box:,} configurations of nodes"
    ):
        return None
    strides = mixed_radix_strides(most + 1)
    cells = _all_within(configurations, strides, params.max_subset_rows, token)
    if cells is None or len(cells) * len(workers) > params.max_subset_steps:
        return None
    from slotwise.solver.column_generation.worker_packing.compiled import fill_compiled

    index = np.zeros(box, dtype=np.int32)
    index[cells] = np.arange(len(cells))
    workers, gains = workers[(workers <= most).all(1)], gains[(workers <= most).all(1)]
    firsts = (workers > 0).argmax(axis=1)
    order = np.argsort(firsts, kind="stable")
    starts = np.searchsorted(firsts[order], np.arange(len(most) + 1)).astype(np.int64)
    table = np.full(len(cells), NEG_INF, dtype=np.int64)
    rows = cells[:, None] // strides % (most + 1)
    parts = (workers[order], workers[order] @ strides, gains[order], starts)
    fill_compiled(rows, cells, index, *parts, table, table)
    found = table[index[configurations @ strides]]
    return found, np.asarray(found != NEG_INF)


def _all_within(
    configurations: IntArray, strides: IntArray, max_rows: int, token: RunToken
) -> IntArray | None:
    """Return the cells of all subsets of some `configurations`; ``None``: too many."""
    rows = np.unique(configurations, axis=0)
    for k in range(configurations.shape[1]):
        tops = rows[:, k]
        more = int((tops + 1).sum())
        size = 3 * 8 * more * configurations.shape[1]
        if more > 4 * max_rows or not token.has_room(
            size, f"{more:,} subsets of configurations of nodes"
        ):
            return None
        repeated = np.repeat(rows, tops + 1, axis=0)
        repeated[:, k] = np.concatenate([np.arange(top + 1) for top in tops.tolist()])
        _, kept = np.unique(repeated @ strides, return_index=True)
        rows = repeated[kept]
    return None if len(rows) > max_rows else rows @ strides
