"""Graphs of kinds on equal places, and rows on their counts, for several tests of `connected`."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from slotwise.models.problem.problem import IntArray
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.partitions import CountRow
from slotwise.solver.core.memory import RunToken


def flow_graph(sizes: list[int], weights: list[int], capacity: int, flow: IntArray) -> FlowGraph:
    """Return kinds of these numbers of tasks and weights on places of a capacity."""
    count, demand = np.array(sizes), np.array(weights)
    most = np.minimum(count, capacity // demand)

    def admits(rows: IntArray) -> np.ndarray:
        return np.asarray((rows @ demand <= capacity) & (rows <= most).all(axis=1))

    return make_flow_graph(count, flow, demand, capacity, most, admits, RunToken())


@st.composite
def graphs(draw: st.DrawFn) -> FlowGraph:
    """Draw two to four kinds that flows connect."""
    kinds = draw(st.integers(2, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=kinds, max_size=kinds))
    weights = draw(st.lists(st.integers(1, 4), min_size=kinds, max_size=kinds))
    capacity = draw(st.integers(max(weights), 9))
    flow = np.zeros((kinds, kinds), dtype=np.int64)
    for k in range(1, kinds):
        other = draw(st.integers(0, k - 1))
        flow[k, other] = flow[other, k] = draw(st.integers(1, 3))
    if kinds > 2 and draw(st.booleans()):
        flow[0, kinds - 1] = flow[kinds - 1, 0] = 1
    return flow_graph(sizes, weights, capacity, flow)


@st.composite
def rows_of(draw: st.DrawFn, kinds: int, most: int) -> tuple[CountRow, ...]:
    """Draw up to three rows; some are kept by no partition."""
    rows = []
    for _ in range(draw(st.integers(0, 3))):
        least = draw(st.integers(0, 3))
        limit = draw(st.one_of(st.just(NO_LIMIT), st.integers(0, 3)))
        kind, count = draw(st.integers(0, kinds - 1)), draw(st.integers(1, most))
        rows.append(CountRow(kind, count, least, limit))
    return tuple(rows)
