"""Connected pieces priced by dynamic programming: judged by enumeration and exhaustive search."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from engine_cases import LIMITS, network_topology
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.column_generation.configurations.engine import FAST_CONFIGURATIONS
from slotwise.solver.column_generation.connected import enumeration
from slotwise.solver.column_generation.connected import graph as piece_graphs
from slotwise.solver.column_generation.connected.engine import PIECES
from slotwise.solver.column_generation.connected.enumeration import connected, list_pieces
from slotwise.solver.column_generation.connected.graph import PieceGraph, piece_graph
from slotwise.solver.column_generation.connected.level import make_profile
from slotwise.solver.column_generation.connected.pricing import find_prices
from slotwise.solver.column_generation.connected.rack_bound import rack_graph
from slotwise.solver.column_generation.connected.tree_knapsack import (
    best_contents,
    best_worth,
    make_tables,
)
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive.engine import EXHAUSTIVE
from slotwise.solver.structure.task_types import merge_twins

SCALE = 16


def random_graph(rng: Generator) -> PieceGraph:
    """Return up to five kinds with random flows on places of a few units; few cases at times."""
    count, capacity = int(rng.integers(1, 6)), int(rng.integers(2, 12))
    sizes, weights = rng.integers(1, 4, count), rng.integers(0, 5, count)
    flow = np.triu(rng.integers(1, 3, (count, count)) * (rng.random((count, count)) < 0.5), 1)
    weights = np.minimum(weights, capacity)
    most = np.minimum(sizes, capacity // np.maximum(weights, 1))
    most = np.where(weights == 0, sizes, most)
    return piece_graph(
        sizes, flow + flow.T, weights, capacity, most, lambda rows: np.ones(len(rows), np.bool_)
    )


def all_contents(graph: PieceGraph) -> IntArray:
    """Return every content that keeps the rule on weights."""
    ranges = [range(int(most) + 1) for most in graph.most]
    rows = np.array(list(itertools.product(*ranges)), dtype=np.int64)
    return rows[rows @ graph.weights <= graph.capacity]


def test_tables_and_lists_agree_with_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    for number in range(200):
        monkeypatch.setattr(piece_graphs, "MOST_CASES", (200, 4, 0)[number % 3])
        graph = random_graph(rng)
        prices = rng.integers(0, 40, graph.count)
        contents = all_contents(graph)
        worths = SCALE * graph.gains(contents) - contents @ prices
        whole = connected(graph.flow, contents)
        assert whole.tolist() == [graph.connected(row) for row in contents], number
        most = max(0, int(worths[whole].max(initial=0)))
        found = 0
        for case in graph.cases():
            tables = make_tables(graph, SCALE, prices, case)
            best = best_worth(tables)
            rows = best_contents(tables)
            reached = [int(graph.gain_bounds(SCALE, row)) - int(prices @ row) for row in rows]
            assert max(reached, default=0) == max(best, 0), number
            found = max(found, best)
        bounded = graph.gain_bounds(SCALE, contents) - contents @ prices
        assert (bounded >= worths).all()
        assert most <= found <= max(0, int(bounded.max())), number
        assert graph.closing or graph.loose or found == most, number
        seen["closing"] += bool(graph.closing)
        seen["loose"] += bool(graph.loose)
        for budget in (0, 10, 50):
            listed = {tuple(row) for row in list_pieces(graph, SCALE, prices, budget).tolist()}
            expected = {tuple(row) for row in contents[whole & (worths >= -budget)].tolist()}
            assert listed == expected, (number, budget)
    assert min(seen["closing"], seen["loose"]) >= 15


def test_no_content_is_worth_more_than_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    for number in range(90):
        monkeypatch.setattr(piece_graphs, "MOST_CASES", (200, 4, 0)[number % 3])
        graph = random_graph(rng)
        for seconds in (0.0, 60.0):  # proven also when the time was over at once
            found = find_prices(graph, 1 << 20, time.perf_counter() + seconds)
            contents = all_contents(graph)
            assert (contents @ found.prices >= (graph.gains(contents) << 20)).all()


def test_every_plan_loses_what_the_profile_says() -> None:
    """Random plans lose at least the profile's sum, and beside each piece what it says."""
    rng = np.random.default_rng(5)
    more = 0
    for number in range(120):
        graph = random_graph(rng)
        prices = find_prices(graph, 1 << 20, time.perf_counter() + 60)
        profile = make_profile(graph, prices)
        contents = all_contents(graph)
        contents = contents[contents.any(axis=1)]
        more += profile.lost > 0
        for _ in range(10):
            left, pieces = graph.sizes.copy(), []
            for _ in range(int(left.sum())):  # each content takes a task away
                if not left.any():
                    break
                fitting = contents[(contents <= left).all(axis=1)]
                pieces.append(fitting[int(rng.integers(len(fitting)))])
                left = left - pieces[-1]
            assert not left.any()
            plan = np.array(pieces)
            losses = plan @ prices.prices - (graph.gains(plan) << 20)
            assert losses.sum() >= profile.lost, number
            assert (losses.sum() >= losses + profile.beside(plan)).all(), number
    assert more >= 5


def test_a_list_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(np.random.default_rng(2))
    monkeypatch.setattr(enumeration, "MOST_ROWS", 0)
    with pytest.raises(TooLongError):
        list_pieces(graph, SCALE, np.zeros(graph.count, dtype=np.int64), 0)


def pieced(rng: Generator, workers: str) -> Instance:
    """Return a topology on a few nodes: with single workers, one component in each, or split."""
    heap = None if workers == "single" else int(rng.integers(3, 8))
    topology = network_topology(rng, most_components=3, heap_mb=heap)
    topology = replace(topology, one_component_per_worker=workers == "isolated")
    sizes = [int(size) for size in rng.integers(15, 60, 2)]
    memory, slots, racks = (int(x) for x in rng.integers((4, 1, 1), (20, 5, 3)))
    nodes = tuple(
        Node(f"n{i}", f"r{i % racks}", "", slots, {"cpu": sizes[i % 2], "memory_mb": memory})
        for i in range(int(rng.integers(1, 5)))
    )
    return Instance("pieced", Cluster(nodes), (topology,), objective=Objective(("network",)))


@pytest.mark.parametrize("workers", ["single", "isolated", "split"])
def test_pieces_agree_with_exhaustive_search(workers: str, note: list[str]) -> None:
    rng = np.random.default_rng(3)
    seen: Counter[str] = Counter()
    for number in range(60):
        problem = compile_problem(pieced(rng, workers))
        if PIECES.supports(problem) is not None or EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = PIECES.run(problem, LIMITS, None)
        seen[f"{truth.status}/{found.status}"] += 1
        seen["racks too small"] += rack_graph(problem, merge_twins(problem)) is not None
        if truth.values is None:
            assert found.values is None, number
            continue
        assert found.status != Status.INFEASIBLE, number
        assert found.bounds[0] is not None
        assert found.bounds[0] <= truth.values[0], number
        if found.status == Status.OPTIMAL:
            assert found.values == truth.values, number
        if found.placement is not None:
            verdict = judge(problem, found.placement)
            assert verdict.valid
            assert verdict.scaled == found.values
    note.append(f"pieces against exhaustive ({workers}; truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= 10
    assert seen["racks too small"] >= 5
    assert seen["infeasible/infeasible"] + seen["infeasible/unknown"] >= 2


def tree_problem(nodes: int, capacity: int) -> Problem:
    """Return 12 spouts before 24 bolts before 24 sinks, of 5, 3 and 2 points."""
    components = tuple(
        Component(name, kind, count, {"cpu": cpu})
        for name, kind, count, cpu in (
            ("spout", "spout", 12, 5),
            ("bolt", "bolt", 24, 3),
            ("sink", "bolt", 24, 2),
        )
    )
    topology = Topology("t", components, (Stream("spout", "bolt"), Stream("bolt", "sink")))
    cluster = Cluster(tuple(Node(f"n{i}", "r", "", 4, {"cpu": capacity}) for i in range(nodes)))
    return compile_problem(
        Instance("tree", cluster, (topology,), objective=Objective(("network",)))
    )


def test_everything_on_one_node_is_one_piece() -> None:
    found = PIECES.run(tree_problem(2, 200), LIMITS, None)
    assert (found.status, found.values, found.bounds) == (Status.OPTIMAL, (0,), (0,))


def test_a_larger_tree_is_the_same_for_configurations() -> None:
    problem = tree_problem(12, 40)
    found = PIECES.run(problem, LIMITS, None)
    other = FAST_CONFIGURATIONS.run(problem, LIMITS, None)
    assert found.status == other.status == Status.OPTIMAL
    assert found.values == other.values


def test_too_large_tasks_are_infeasible() -> None:
    assert PIECES.run(tree_problem(12, 4), LIMITS, None).status == Status.INFEASIBLE


def test_without_time_the_bound_still_holds() -> None:
    problem = tree_problem(12, 40)
    truth = PIECES.run(problem, LIMITS, None)
    found = PIECES.run(problem, Limits(time_s=0.0), None)
    assert truth.values is not None
    assert found.bounds[0] is not None
    assert found.bounds[0] <= truth.values[0]
