"""Connected configurations priced by dynamic programming: judged by exhaustive search."""

from __future__ import annotations

import itertools
import time
from collections import Counter

import numpy as np
import pytest
from engine_cases import LIMITS, small_instance
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.configurations.engine import FAST_CONFIGURATIONS
from slotwise.solver.column_generation.connected import enumeration, level, tree_knapsack
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.connected.enumeration import (
    enumerate_connected,
    is_connected,
)
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.kernels import price_units
from slotwise.solver.column_generation.connected.level import find_duals, make_load_bound
from slotwise.solver.column_generation.connected.rack_flow import rack_graph
from slotwise.solver.column_generation.connected.tree_knapsack import (
    best_configurations,
    best_value,
    make_tables,
)
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.structure.task_types import merge_twins

SCALE = 16


def no_other_rule(rows: IntArray) -> BoolArray:
    """Return [Y] that every configuration keeps the rules beside that on weights."""
    return np.ones(len(rows), np.bool_)


def random_graph(rng: Generator, params: ConnectedParams = CONNECTED_DEFAULTS) -> FlowGraph:
    """Return up to five kinds with random flows on places of a few units."""
    count, capacity = int(rng.integers(1, 6)), int(rng.integers(2, 12))
    sizes, weights = rng.integers(1, 4, count), rng.integers(0, 5, count)
    flow = np.triu(rng.integers(1, 3, (count, count)) * (rng.random((count, count)) < 0.5), 1)
    weights = np.minimum(weights, capacity)
    most = np.minimum(sizes, capacity // np.maximum(weights, 1))
    most = np.where(weights == 0, sizes, most)
    return make_flow_graph(
        sizes,
        flow + flow.T,
        weights,
        capacity,
        most,
        no_other_rule,
        RunToken(),
        params.max_assignments,
    )


def all_configurations(graph: FlowGraph) -> IntArray:
    """Return every configuration that keeps the rule on weights."""
    ranges = [range(int(most) + 1) for most in graph.most]
    rows = np.array(list(itertools.product(*ranges)), dtype=np.int64)
    return rows[rows @ graph.weights <= graph.capacity]


@pytest.mark.slow
@pytest.mark.parametrize("few_rows", [enumeration.FEW_ROWS, 0], ids=["few rows", "unit prices"])
def test_tables_and_lists_agree_with_enumeration(
    few_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enumeration, "FEW_ROWS", few_rows)
    rng, of_steps = np.random.default_rng(0), np.random.default_rng(7)
    seen: Counter[str] = Counter()
    for number in range(200):
        graph = random_graph(rng, ConnectedParams(max_assignments=(200, 4, 0)[number % 3]))
        duals = rng.integers(0, 40, graph.count)
        configurations = all_configurations(graph)
        values = SCALE * graph.gains(configurations) - configurations @ duals
        whole = is_connected(graph.flow, configurations)
        assert whole.tolist() == [graph.is_connected(row) for row in configurations], number
        most = max(0, int(values[whole].max(initial=0)))
        found = 0
        for assignment in graph.assignments():
            tables = make_tables(graph, SCALE, duals, assignment, RunToken())
            best = best_value(tables)
            rows = best_configurations(tables, RunToken())
            reached = [int(graph.gain_bounds(SCALE, row)) - int(duals @ row) for row in rows]
            assert max(reached, default=0) == max(best, 0), number
            found = max(found, best)
        bounded = graph.gain_bounds(SCALE, configurations) - configurations @ duals
        assert (bounded >= values).all()
        assert most <= found <= max(0, int(bounded.max())), number
        assert graph.feedback or graph.relaxed or found == most, number
        steps = {
            k: np.append(0, of_steps.integers(0, 20, int(graph.sizes[k])))
            for k in np.flatnonzero(of_steps.random(graph.count) < 0.4).tolist()
        }
        for k, step in steps.items():
            values = values - step[configurations[:, k]]
        seen["feedback"] += bool(graph.feedback)
        seen["relaxed"] += bool(graph.relaxed)
        for gap in (0, 10, 50):
            listed = {
                tuple(row)
                for row in enumerate_connected(
                    graph, SCALE, duals, gap, RunToken(), steps=steps
                ).tolist()
            }
            expected = {tuple(row) for row in configurations[whole & (values >= -gap)].tolist()}
            assert listed == expected, (number, gap)
    assert min(seen["feedback"], seen["relaxed"]) >= 15


def test_tables_are_the_same_row_by_row_and_hear_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """One table of kinds of thousands of tasks took minutes and heard no time limit."""
    graph = random_graph(np.random.default_rng(3), ConnectedParams(max_assignments=0))
    duals = np.full(graph.count, 7, dtype=np.int64)
    none = np.zeros(graph.count, dtype=np.int64)
    at_once = make_tables(graph, SCALE, duals, none, RunToken())
    asked: list[None] = []
    token = RunToken()
    monkeypatch.setattr(RunToken, "check", lambda _: asked.append(None))
    monkeypatch.setattr(tree_knapsack, "STEPS_AT_ONCE", 1)
    by_rows = make_tables(graph, SCALE, duals, none, token)
    assert all((by_rows.lifted[k] == rows).all() for k, rows in at_once.lifted.items())
    assert len(asked) >= sum(len(rows) for rows in at_once.lifted.values())


def test_no_reduced_cost_is_negative() -> None:
    rng = np.random.default_rng(1)
    for number in range(90):
        graph = random_graph(rng, ConnectedParams(max_assignments=(200, 4, 0)[number % 3]))
        for seconds in (0.0, 60.0):  # proven also when the time was over at once
            found = find_duals(graph, 1 << 20, time.perf_counter() + seconds, RunToken())
            configurations = all_configurations(graph)
            assert (configurations @ found.pi >= (graph.gains(configurations) << 20)).all()


def test_rougher_units_first_end_at_the_same_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    for number in range(90):
        graph = random_graph(rng, ConnectedParams(max_assignments=(200, 4, 0)[number % 3]))
        until = time.perf_counter() + 60
        plain = find_duals(graph, 1 << 20, until, RunToken())
        with monkeypatch.context() as patch:
            patch.setattr(level, "ROUGH_UNITS", 2)
            found = find_duals(graph, 1 << 20, until, RunToken())
        configurations = all_configurations(graph)
        assert (configurations @ found.pi >= (graph.gains(configurations) << 20)).all(), number
        tolerance = int(graph.sizes.sum()) << (level.TOLERANCE_BITS + 1)
        assert abs(found.total(graph.sizes) - plain.total(graph.sizes)) <= tolerance, number


def test_every_solution_keeps_the_load_bound() -> None:
    """Random solutions cost what the load bound says, in total and beside each configuration."""
    rng = np.random.default_rng(5)
    more = 0
    for number in range(120):
        graph = random_graph(rng)
        duals = find_duals(graph, 1 << 20, time.perf_counter() + 60, RunToken())
        load_bound = make_load_bound(graph, duals, RunToken())
        configurations = all_configurations(graph)
        configurations = configurations[configurations.any(axis=1)]
        more += load_bound.total > 0
        for _ in range(10):
            left, chosen = graph.sizes.copy(), []
            while left.any():
                fitting = configurations[(configurations <= left).all(axis=1)]
                chosen.append(fitting[int(rng.integers(len(fitting)))])
                left = left - chosen[-1]
            solution = np.array(chosen)
            reduced_costs = solution @ duals.pi - (graph.gains(solution) << 20)
            assert reduced_costs.sum() >= load_bound.total, number
            assert (reduced_costs.sum() >= reduced_costs + load_bound.of_others(solution)).all(), (
                number
            )
    assert more >= 5


def test_an_endless_enumeration_is_given_up() -> None:
    graph = random_graph(np.random.default_rng(2))
    duals = np.zeros(graph.count, dtype=np.int64)
    with pytest.raises(TooLongError):
        enumerate_connected(
            graph, SCALE, duals, 0, RunToken(), params=ConnectedParams(max_partial=0)
        )


@pytest.mark.parametrize("scale", [SCALE, 1 << 52], ids=["small", "large"])
def test_subtrees_share_the_units_left(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spout and six bolts that each alone could fill the place: one content is worth it."""
    flow = np.zeros((7, 7), dtype=np.int64)
    flow[0, 1:] = flow[1:, 0] = np.arange(2, 8)
    sizes, weights, capacity = np.array([1] + [6] * 6), np.ones(7, dtype=np.int64), 7
    graph = make_flow_graph(sizes, flow, weights, capacity, sizes, no_other_rule, RunToken())
    duals = scale * np.array([0] + [3] * 6)
    few = ConnectedParams(max_partial=4)
    with pytest.raises(TooLongError):
        enumerate_connected(graph, scale, duals, -24 * scale, RunToken(), params=few)
    monkeypatch.setattr(enumeration, "FEW_ROWS", 0)
    rows = enumerate_connected(graph, scale, duals, -24 * scale, RunToken(), params=few)
    assert rows.tolist() == [[1, 0, 0, 0, 0, 0, 6]]


def test_values_less_the_price_of_their_units() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        values = rng.integers(-20, 20, (int(rng.integers(1, 4)), int(rng.integers(1, 9))))
        prices = np.unique(rng.integers(0, 8, int(rng.integers(1, 7))))
        net = np.empty((len(prices), len(values)), dtype=np.int64)
        price_units(values, prices, net)
        units = np.arange(values.shape[1])
        assert (net == (values[None] - prices[:, None, None] * units).max(axis=2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["single", "isolated", "split"])
def test_connected_agrees_with_exhaustive_search(workers: str, note: list[str]) -> None:
    rng = np.random.default_rng(3)
    seen: Counter[str] = Counter()
    for number in range(60):
        problem = compile_problem(small_instance(rng, workers))
        if CONNECTED.supports(problem) is not None or EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = CONNECTED.run(problem, LIMITS, None)
        seen[f"{truth.status}/{found.status}"] += 1
        seen["racks too small"] += (
            rack_graph(problem, merge_twins(problem, RunToken()), RunToken()) is not None
        )
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
    note.append(f"connected against exhaustive ({workers}; truth/claim): {dict(seen)}")
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


def test_everything_on_one_node_is_one_configuration() -> None:
    found = CONNECTED.run(tree_problem(2, 200), LIMITS, None)
    assert (found.status, found.values, found.bounds) == (Status.OPTIMAL, (0,), (0,))


def test_a_larger_tree_is_the_same_for_configurations() -> None:
    problem = tree_problem(12, 40)
    found = CONNECTED.run(problem, LIMITS, None)
    other = FAST_CONFIGURATIONS.run(problem, LIMITS, None)
    assert found.status == other.status == Status.OPTIMAL
    assert found.values == other.values


def test_too_large_tasks_are_infeasible() -> None:
    assert CONNECTED.run(tree_problem(12, 4), LIMITS, None).status == Status.INFEASIBLE


def test_slots_alone_may_bind() -> None:
    """No node and no task names a resource."""
    parts = (Component("a", "spout", 1), Component("b", "bolt", 1))
    topology = Topology("t", parts, (Stream("a", "b"),), one_task_per_worker=True)
    nodes = (Node("n0", "r", slots=1), Node("n1", "r", slots=1))
    problem = compile_problem(Instance("bare", Cluster(nodes), (topology,)))
    found = CONNECTED.run(problem, LIMITS, None)
    assert (found.status, found.values, found.bounds) == (Status.OPTIMAL, (0, 2), (0, 2))


def test_a_task_that_fits_no_single_node_is_infeasible() -> None:
    """Each resource is there, on another node."""
    topology = Topology("t", (Component("a", "spout", 1, {"cpu": 2, "gpu": 2}),))
    nodes = (Node("n0", "r0", resources={"cpu": 2}), Node("n1", "r1", resources={"gpu": 2}))
    problem = compile_problem(Instance("split", Cluster(nodes), (topology,)))
    assert CONNECTED.supports(problem) is None
    assert CONNECTED.run(problem, LIMITS, None).status is Status.INFEASIBLE


def test_without_time_the_bound_still_holds() -> None:
    problem = tree_problem(12, 40)
    truth = CONNECTED.run(problem, LIMITS, None)
    found = CONNECTED.run(problem, Limits(time_s=0.0), None)
    assert truth.values is not None
    assert found.bounds[0] is not None
    assert found.bounds[0] <= truth.values[0]
