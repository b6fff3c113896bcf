"""Configurations of nodes together with their split into workers: both levels at once.

With duals of nodes and duals of workers, the reduced cost of a configuration of a node is ``a *
(its reduced cost as a node) + b * (least reduced cost of a split of it into workers)``. All
configurations that fit a gap are among those whose reduced cost as nodes alone does.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.gap_search import GapSearch
from slotwise.solver.column_generation.connected.level import Level
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.connected.worker_split import WorkerSplitter
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.worker_packing.subset_table import split_gains
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
        left = (gap - a * nodes.reduced_costs(configurations, gains)) // b
        left = left - workers.load_bound.of_others(configurations)
        configurations, gains, left = configurations[left >= 0], gains[left >= 0], left[left >= 0]
        inside, kept = _inside(configurations, left, deadline)
        counts = np.concatenate(
            [np.zeros((1, nodes.graph.count), dtype=np.int64), configurations[kept]]
        )
        values = np.concatenate([[0], (a * gains + b * inside)[kept]])
        return TypeColumns(counts, np.asarray(values, dtype=np.int64))

    def _inside(
        configurations: IntArray, left: IntArray, deadline: float
    ) -> tuple[IntArray, BoolArray]:
        """Return the flow inside workers, and which configurations fit the gap that is left."""
        duals = workers.duals.pi
        widest = int(left.max(initial=0))
        small = enumerate_connected(workers.graph, scale, duals, widest, token, deadline, params)
        found = split_gains(configurations, small, workers.graph.gains(small), params, token)
        if found is None:
            found = split.gains(configurations, left)
        inside, possible = found
        cost = configurations @ duals - scale * np.where(possible, inside, 0)
        return inside, np.asarray(possible & (cost <= left))

    duals, sizes = a * nodes.duals.pi + b * workers.duals.pi, places.kinds.sizes
    min_reduced_cost = a * nodes.load_bound.total + b * workers.load_bound.total
    return GapSearch(
        sizes, scale, int(duals @ sizes), min_reduced_cost, columns, params.residual, token
    )
