"""Prices of counts: bounds by exhaustive search, and where they are exact and duals are not."""

from __future__ import annotations

import math
import time
from functools import cache

import numpy as np
import pytest
from flow_graphs import flow_graph, graphs
from hypothesis import given, settings

from slotwise.solver.column_generation.connected.content_pricing import (
    ContentPricing,
    price_of,
)
from slotwise.solver.column_generation.connected.count_prices import find_count_prices
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.joint_duals import JointDuals
from slotwise.solver.column_generation.connected.level import find_duals
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS
from slotwise.solver.core.memory import RunToken

SCALE = 1 << 16


def _bounds(graph: FlowGraph) -> tuple[int, int]:
    """Return the bound by duals, and that by counts."""
    token, deadline = RunToken(), time.perf_counter() + 60
    duals = find_duals(graph, SCALE, deadline, token)
    pricing = ContentPricing((graph,), SCALE, 1, 0, None, CONNECTED_DEFAULTS, token)
    start = JointDuals(duals.pi, duals.configurations)
    found = find_count_prices(pricing, start, deadline, CONNECTED_DEFAULTS)
    return duals.total(graph.sizes) // SCALE, pricing.total(found.pi) // SCALE


def _most_inside(graph: FlowGraph) -> int:
    """Return the most flow that places can hold, by trying all ways to fill one after the other."""
    boxes = np.stack(np.meshgrid(*(range(n + 1) for n in graph.sizes), indexing="ij"), axis=-1)
    contents = boxes.reshape(-1, graph.count)[1:]
    contents = contents[graph.admits(contents)]
    gains = graph.gains(contents)

    @cache
    def best(left: tuple[int, ...]) -> float:
        if not any(left):
            return 0
        first = next(k for k, n in enumerate(left) if n)
        fits = (contents <= left).all(axis=1) & (contents[:, first] > 0)
        return max(
            (
                int(gains[i]) + best(tuple((np.array(left) - contents[i]).tolist()))
                for i in np.flatnonzero(fits)
            ),
            default=-math.inf,
        )

    return int(best(tuple(graph.sizes.tolist())))


def test_two_racks_hold_what_one_cannot() -> None:
    """72, 7 and 10 tasks in a row need 1.4 racks: duals fill 1.4 racks as well as one."""
    flow = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graph = flow_graph([72, 7, 10], [80, 55, 55], 4830, flow)
    by_duals, by_counts = _bounds(graph)
    best = max(
        s * a + a * b + (72 - s) * (7 - a) + (7 - a) * (10 - b)
        for s in range(73)
        for a in range(8)
        for b in range(11)
        if 80 * s + 55 * (a + b) <= 4830 and 80 * (72 - s) + 55 * (17 - a - b) <= 4830
    )
    assert best <= by_counts <= best + 1
    assert by_duals > best + 5


@pytest.mark.parametrize("capacity", [4, 5, 7, 20])
def test_of_two_kinds_bounds_hold_and_are_never_worse(capacity: int) -> None:
    graph = flow_graph([5, 4], [1, 2], capacity, np.array([[0, 1], [1, 0]]))
    by_duals, by_counts = _bounds(graph)
    assert _most_inside(graph) <= by_counts <= by_duals


@settings(max_examples=60)
@given(graphs())
def test_bounds_hold_against_all_ways(graph: FlowGraph) -> None:
    by_duals, by_counts = _bounds(graph)
    assert _most_inside(graph) <= by_counts <= by_duals


def test_price_of_contents() -> None:
    prices = np.array([[0, 5, 7], [0, 1, 1]])
    assert price_of(prices, np.array([[0, 2], [1, 0], [2, 1]])).tolist() == [1, 5, 8]
