"""Configurations of nodes together with their split into workers: both levels at once.

With duals of nodes and duals of workers, the reduced cost of a configuration of a node is ``a *
(its reduced cost as a node) + b * (least reduced cost of a split of it into workers)``. All
configurations that fit a gap are among those whose reduced cost as nodes alone does.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.gap_search import GapSearch
from slotwise.solver.column_generation.connected.level import Level
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.connected.worker_split import WorkerSplitter
from slotwise.solver.column_generation.listed_master import NEG_INF, TypeColumns
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.worker_packing.table import mixed_radix_strides
from slotwise.solver.core.memory import RunToken


def two_level_search(
    places: PlaceModel,
    nodes: Level,
    workers: Level,
    split: WorkerSplitter,
    params: ConnectedParams,
    token: RunToken,
) -> GapSearch:
    """Return the search with value ``a`` per unit of flow inside nodes and ``b`` inside workers.

    `a` and `b` are the savings of `places`, both above 0.
    """
    a, b = places.node_saving, places.worker_saving
    scale = nodes.duals.scale

    def columns(gap: int, deadline: float) -> TypeColumns:
        room = gap // a - nodes.load_bound.min_of_others
        configurations = enumerate_connected(
            nodes.graph, scale, nodes.duals.pi, room, token, deadline, params
        )
        gains = nodes.graph.gains(configurations)
        remaining = (gap - a * nodes.reduced_costs(configurations, gains)) // b
        remaining = remaining - workers.load_bound.of_others(configurations)
        configurations, gains, remaining = (
            configurations[remaining >= 0],
            gains[remaining >= 0],
            remaining[remaining >= 0],
        )
        inside, mask = _inside(configurations, remaining, deadline)
        counts = np.concatenate(
            [np.zeros((1, nodes.graph.count), dtype=np.int64), configurations[mask]]
        )
        values = np.concatenate([[0], (a * gains + b * inside)[mask]])
        return TypeColumns(counts, np.asarray(values, dtype=np.int64))

    def _inside(
        configurations: IntArray, remaining: IntArray, deadline: float
    ) -> tuple[IntArray, BoolArray]:
        """Return the flow inside workers, and which configurations fit the gap that is left."""
        duals = workers.duals.pi
        widest = int(remaining.max(initial=0))
        small = enumerate_connected(workers.graph, scale, duals, widest, token, deadline, params)
        limited = in_time(params, deadline - token.now())
        splits = split_gains(configurations, small, workers.graph.gains(small), limited, token)
        if splits is None:
            splits = split.gains(configurations, remaining, deadline)
        inside, possible = splits
        cost = configurations @ duals - scale * np.where(possible, inside, 0)
        return inside, np.asarray(possible & (cost <= remaining))

    duals, sizes = a * nodes.duals.pi + b * workers.duals.pi, places.kinds.sizes
    min_reduced_cost = a * nodes.load_bound.total + b * workers.load_bound.total
    return GapSearch(
        sizes, scale, int(duals @ sizes), min_reduced_cost, columns, params.residual, token
    )


# The best splits of many node configurations into workers, by one table of all subsets.

STEPS_PER_SECOND = 100_000_000
"""Rows times workers of the table that are filled in a second, or more."""


def in_time(params: ConnectedParams, seconds: float) -> ConnectedParams:
    """Return the parameters with a table that is filled within this time."""
    steps = int(max(seconds, 0.0) * STEPS_PER_SECOND)
    return replace(params, max_subset_steps=min(params.max_subset_steps, steps))


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
    inside = table[index[configurations @ strides]]
    return inside, np.asarray(inside != NEG_INF)


def _all_within(
    configurations: IntArray, strides: IntArray, max_rows: int, token: RunToken
) -> IntArray | None:
    """Return the cells of all subsets of some `configurations`; ``None``: too many."""
    largest = configurations.max(axis=0)
    all_in_one = (configurations == largest).all(axis=1).any()
    rows = largest[None, :] if all_in_one else np.unique(configurations, axis=0)
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
        _, distinct = np.unique(repeated @ strides, return_index=True)
        rows = repeated[distinct]
    return None if len(rows) > max_rows else rows @ strides
