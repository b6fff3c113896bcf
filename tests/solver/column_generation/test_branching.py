"""Branch and price on counts: bounds by exhaustive search, and a gap that only branching closes."""

from __future__ import annotations

import math
import time
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_count_prices import graphs
from test_partitions import rows_of

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.content_pricing import ContentPricing, price_of
from slotwise.solver.column_generation.connected.count_prices import (
    CountMaster,
    find_count_prices,
    lower_prices,
)
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.joint_duals import JointDuals
from slotwise.solver.column_generation.connected.joint_search import JointLevels
from slotwise.solver.column_generation.connected.level import LoadBound, find_duals
from slotwise.solver.column_generation.connected.partitions import CountRow, Partitions
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits

SCALE = 1 << 16
LIMITS = Limits(time_s=60.0)


def contents_of(graph: FlowGraph) -> IntArray:
    """Return [Y, K] every content of a place but the empty one."""
    boxes = np.stack(np.meshgrid(*(range(n + 1) for n in graph.sizes), indexing="ij"), axis=-1)
    contents = boxes.reshape(-1, graph.count)[1:]
    return np.asarray(contents[graph.admits(contents)])


def most_inside(graph: FlowGraph, rows: tuple[CountRow, ...] = ()) -> float:
    """Return the most flow inside connected contents that keep the rows together, by trying all."""
    contents = contents_of(graph)
    contents = contents[[graph.is_connected(row) for row in contents]]
    gains = graph.gains(contents)
    held = np.array([[int(row[r.kind] >= r.count) for r in rows] for row in contents])
    held = held.reshape(len(contents), len(rows))

    @cache
    def best(left: tuple[int, ...], places: tuple[int, ...]) -> float:
        if any(n > row.most for n, row in zip(places, rows, strict=True)):
            return -math.inf
        if not any(left):
            kept = all(n >= row.least for n, row in zip(places, rows, strict=True))
            return 0 if kept else -math.inf
        first = next(k for k, n in enumerate(left) if n)
        fits = (contents <= left).all(axis=1) & (contents[:, first] > 0)
        return max(
            (
                int(gains[i])
                + best(
                    tuple((np.array(left) - contents[i]).tolist()),
                    tuple((np.array(places) + held[i]).tolist()),
                )
                for i in np.flatnonzero(fits)
            ),
            default=-math.inf,
        )

    return best(tuple(graph.sizes.tolist()), (0,) * len(rows))


def root_of(graph: FlowGraph) -> JointLevels:
    """Return the prices of counts of a graph."""
    token, deadline = RunToken(), time.perf_counter() + 60
    apart = find_duals(graph, SCALE, deadline, token)
    pricing = ContentPricing((graph,), SCALE, 1, 0, None, CONNECTED_DEFAULTS, token)
    start = JointDuals(apart.pi, apart.configurations)
    duals = find_count_prices(pricing, start, deadline, CONNECTED_DEFAULTS)
    units = int(graph.weights @ graph.sizes)
    least = np.zeros(units + 1, dtype=np.int64)
    load_bound = LoadBound(graph.weights, min(graph.capacity, units), least)
    return JointLevels(pricing, duals, load_bound, graph.sizes)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_a_node_bounds_all_solutions_that_keep_its_rows(
    graph: FlowGraph, data: st.DataObject
) -> None:
    root = root_of(graph)
    rows = data.draw(rows_of(graph.count, int(graph.most.min())))
    partitions = Partitions(graph.sizes, graph.most, rows)
    best, root_prices = most_inside(graph, rows), root.duals.pi
    if partitions.total(root_prices) == NEG_INF:
        assert best == -math.inf
        return
    late = time.perf_counter() + 60
    master = CountMaster(root.pricing, partitions)
    prices = lower_prices(master, root_prices, late, CONNECTED_DEFAULTS)
    total = partitions.total(prices)
    assert best <= total // SCALE <= partitions.total(root_prices) // SCALE
    contents = contents_of(graph)
    connected = contents[[graph.is_connected(row) for row in contents]]
    assert (price_of(prices, connected) >= SCALE * graph.gains(connected)).all()
    if best == -math.inf:
        return
    # What a solution with a content loses at least: its reduced cost and those of its counts.
    losses = partitions.losses(prices)
    for content in connected[:: max(1, len(connected) // 5)]:
        lost = int(price_of(losses + prices, content)) - SCALE * int(graph.gains(content))
        if lost < SCALE:
            continue
