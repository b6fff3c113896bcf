"""Branch and price on counts: bounds by exhaustive search, and gaps that only branching closes."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from engine_cases import small_instance
from flow_graphs import flow_graph, graphs, rows_of
from hypothesis import event, given, settings
from hypothesis import strategies as st

from slotwise.models.cancellation import CancelledError, WorkClock
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.branching import BranchAndPrice
from slotwise.solver.column_generation.connected.content_pricing import ContentPricing, price_of
from slotwise.solver.column_generation.connected.count_prices import (
    CountMaster,
    find_count_prices,
    lower_prices,
)
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.joint_duals import JointDuals
from slotwise.solver.column_generation.connected.joint_search import JointLevels, by_loads
from slotwise.solver.column_generation.connected.level import LoadBound, find_duals
from slotwise.solver.column_generation.connected.partitions import CountRow, Partitions
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.engine import configured
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits
from slotwise.solver.exhaustive import EXHAUSTIVE

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
    return JointLevels(pricing, duals, load_bound, graph.sizes, load_bound.total)


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


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(-3, 3))
def test_listed_contents_bound_all_solutions(graph: FlowGraph, below: int) -> None:
    """Whatever is known of the best placement: what is not listed costs more than it may."""
    root, best = root_of(graph), most_inside(graph)
    found = by_loads(root, max(int(best) - below, -1), time.perf_counter() + 60)
    event("higher" if found.load_bound.total > root.load_bound.total else "as it was")
    assert best <= found.saved <= root.saved


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(-3, 3))
def test_the_tree_bounds_all_solutions(graph: FlowGraph, below: int) -> None:
    """Whatever is known of the best placement: what saves more is never lost."""
    root, best = root_of(graph), most_inside(graph)
    enough = max(int(best) - below, -1)
    tree = BranchAndPrice(root, lambda: enough, lambda contents: None)
    tree.run(time.perf_counter() + 60, LIMITS)
    assert max(best, enough) <= tree.bound <= max(root.saved, enough)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_losses_are_of_every_solution(graph: FlowGraph, data: st.DataObject) -> None:
    """A content loses at most what the best solution that has it falls short of the total."""
    root, best = root_of(graph), most_inside(graph)
    contents = contents_of(graph)
    contents = contents[[graph.is_connected(row) for row in contents]]
    content = contents[data.draw(st.integers(0, len(contents) - 1))]
    rest = replace(graph, sizes=graph.sizes - content)
    with_it = int(graph.gains(content)) + most_inside(rest)
    prices = root.duals.pi
    losses = root.pricing.partitions.losses(prices)
    lost = int(price_of(prices + losses, content)) - SCALE * int(graph.gains(content))
    assert with_it <= best
    assert SCALE * with_it <= root.pricing.total(prices) - lost


STAR = np.array([[0, 4, 3], [4, 0, 0], [3, 0, 0]])
"""Flows of 6, 5 and 5 tasks whose root leaves a gap: 80 and the best is 75."""


def star() -> FlowGraph:
    """Return the tasks on places of 12 units."""
    return flow_graph([6, 5, 5], [1, 3, 2], 12, STAR)


def by_branching_alone(root: JointLevels, best: int) -> BranchAndPrice:
    """Return the tree where the contents that are left are never searched."""
    root.pricing.params = replace(CONNECTED_DEFAULTS, max_searched=0, max_listed=0)
    return BranchAndPrice(root, lambda: best, lambda contents: None)


def test_branching_closes_a_gap_of_the_root() -> None:
    graph = star()
    root, best = root_of(graph), int(most_inside(graph))
    tree = by_branching_alone(root, best)
    tree.run(time.perf_counter() + 60, LIMITS)
    assert (root.saved, tree.bound, best) == (80, 75, 75)
    assert tree.nodes >= 3


def test_branching_alone_closes_every_gap_of_random_rows_and_stars() -> None:
    rng, gaps = np.random.default_rng(1), 0
    for number in range(60):
        sizes, weights = rng.integers(2, 6, 3).tolist(), rng.integers(1, 6, 3).tolist()
        flow = np.zeros((3, 3), dtype=np.int64)
        for k in (1, 2):
            other = int(rng.integers(0, k))
            flow[k, other] = flow[other, k] = int(rng.integers(1, 5))
        graph = flow_graph(sizes, weights, int(rng.integers(max(weights), 14)), flow)
        root, best = root_of(graph), int(most_inside(graph))
        tree = by_branching_alone(root, best)
        tree.run(time.perf_counter() + 60, LIMITS)
        assert tree.bound == best, number
        gaps += root.saved > best
    assert gaps >= 5


def test_a_deadline_in_mid_tree_leaves_a_valid_bound() -> None:
    graph, bounds, nodes = star(), [], []
    best = int(most_inside(graph))
    for units in (0.0, 0.001, 0.005, 0.02, 0.1, math.inf):
        root = root_of(graph)
        root.pricing.token = RunToken(clock=WorkClock())
        tree = by_branching_alone(root, best)
        tree.run(units, LIMITS)
        bounds.append(tree.bound)
        nodes.append(tree.nodes)
    assert min(bounds) == bounds[-1] == best
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == 80
    assert len(set(nodes)) >= 3


def test_a_cancelled_tree_keeps_its_bound() -> None:
    graph = star()
    root, best = root_of(graph), int(most_inside(graph))
    root.pricing.token = RunToken(0.05, clock=WorkClock(100.0))
    tree = by_branching_alone(root, best)
    with pytest.raises(CancelledError):
        tree.run(math.inf, LIMITS)
    assert best <= tree.bound <= root.saved


def test_a_better_solution_is_reported() -> None:
    graph = star()
    root, best = root_of(graph), int(most_inside(graph))
    met: list[int] = []

    def meet(contents: list[IntArray]) -> None:
        assert (np.sum(contents, axis=0) == graph.sizes).all()
        met.append(int(graph.gains(np.array(contents)).sum()))

    tree = BranchAndPrice(root, lambda: max([70, *met]), meet)
    tree.run(time.perf_counter() + 60, LIMITS)
    assert max(met) == tree.bound == best


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["single", "isolated", "split"])
def test_the_engine_by_branching_agrees_with_exhaustive_search(workers: str) -> None:
    """With no time for the searches before it."""
    rng, seen = np.random.default_rng(9), Counter[str]()
    hasty = ConnectedParams(levels_fraction=1e-9, joint_fraction=1e-9, combination_fraction=1e-9)
    engine = configured(CONNECTED, {CONNECTED.name: hasty})
    for number in range(40):
        problem = compile_problem(small_instance(rng, workers))
        if engine.supports(problem) is not None or EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = engine.run(problem, LIMITS, truth.placement)
        seen[f"{truth.status}/{found.status}"] += 1
        if truth.values is None:
            assert found.values is None, number
            continue
        assert found.bounds[0] is not None
        assert found.bounds[0] <= truth.values[0], number
        assert found.values == truth.values
    assert seen["optimal/optimal"] >= 10
