"""Quadratic assignment: bounds by transportation, symmetries, and the tree, against exhaustive."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.models.instance_file import instance_from_data
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment import dual_ascent, tree_search
from slotwise.solver.assignment.model import make_assignment
from slotwise.solver.assignment.params import DUAL_ASCENT_DEFAULTS
from slotwise.solver.assignment.rlt_bound import make_state
from slotwise.solver.assignment.rlt_kernels import NEVER, transport
from slotwise.solver.assignment.tree_search import different_nodes, node_symmetries
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import null_reporter
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=600.0)  # a new checkout compiles the loops first


def quadratic(
    seed: int, tasks: int, rows: int, columns: int, *, room: int = 1, linear: bool = False
) -> Problem:
    """Tasks of one size on a grid whose fields hold `room` of them."""
    rng = np.random.default_rng(seed)
    at = np.array([(r, c) for r in range(rows) for c in range(columns)])
    made = {
        "format": "matrix-assignment",
        "name": "quadratic",
        "weights": [[3]] * tasks,
        "capacities": [[3 * room + 1]] * len(at),
        "flow": [
            [i, j, int(rng.integers(1, 9))]
            for i in range(tasks)
            for j in range(tasks)
            if i != j and rng.random() < 0.5
        ],
        "distance": np.abs(at[:, None] - at[None]).sum(axis=2).tolist(),
        "linear": rng.integers(0, 9, (tasks, len(at))).tolist() if linear else None,
    }
    return compile_problem(instance_from_data(made))


def optimum(problem: Problem) -> int:
    """The least cost, by trying everything without any engine."""
    model = make_assignment(problem)
    units = [n for n in range(model.node_count) for _ in range(int(model.capacity[n, 0]) // 3)]
    ways = set(permutations(units, model.task_count))
    return min(model.cost(np.array(way)) for way in ways)


def test_transport_finds_the_optimum_and_optimal_duals() -> None:
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(200):
        tasks, nodes = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        room = rng.integers(0, 3, (nodes, 1))
        costs, ok = rng.integers(0, 20, (tasks, nodes)), rng.random((tasks, nodes)) < 0.8
        units = [n for n in range(nodes) for _ in range(int(room[n, 0]))]
        ways = [
            int(costs[np.arange(tasks), way].sum())
            for way in map(list, permutations(units, tasks))
            if ok[np.arange(tasks), way].all()
        ]
        rows, multipliers = costs.copy(), np.zeros((nodes, 1), dtype=np.int64)
        gain = transport(rows, np.ones(tasks, dtype=np.bool_), ok, multipliers, room)
        assert gain == (min(ways) if ways else -NEVER)
        found.add(bool(ways))
        if ways:
            counts = ok & (room[:, 0] > 0)
            assert rows[counts].min() >= 0
            assert multipliers.min() >= 0
            # What is taken off the rows is the gain, multipliers of full nodes included.
            assert (rows - costs - multipliers[:, 0])[counts].max() <= 0
            again = transport(rows, np.ones(tasks, dtype=np.bool_), ok, multipliers, room)
            assert again == 0
    assert found == {True, False}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 2), st.integers(1, 3),
    st.integers(1, 2), st.booleans(),
)  # fmt: skip
def test_the_bound_rises_and_never_exceeds_the_optimum(
    seed: int, tasks: int, rows: int, columns: int, room: int, linear: bool
) -> None:
    problem = quadratic(seed, tasks, rows, columns, room=room, linear=linear)
    model = make_assignment(problem)
    if tasks > room * rows * columns:
        state = make_state(model, model.largest_cost)
        state.ascend(3, 0.0)
        assert EXHAUSTIVE.run(problem, LIMITS, None).status is Status.INFEASIBLE
        return
    best = optimum(problem)
    state, last = make_state(model, model.largest_cost), 0
    assert best % model.cost_step == 0
    for _ in range(8):
        state.ascend(1, 0.0)
        assert last <= state.bound
        assert state.value <= best
        assert state.single[state.ok].min() >= 0
        last = state.bound


@pytest.mark.slow
@pytest.mark.parametrize("most_open_bytes", [0, 2**20])
@pytest.mark.parametrize("seed", range(12))
def test_equals_exhaustive_search(
    seed: int, most_open_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without room for best-first search; no incumbent comes from local search."""
    tasks, rows, columns = [(6, 2, 3), (5, 2, 3), (4, 2, 2), (5, 1, 6)][seed % 4]
    problem = quadratic(seed, tasks, rows, columns, room=1 + seed % 2, linear=seed % 3 == 0)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    monkeypatch.setattr(dual_ascent, "search_assignment", lambda *a, **k: None)
    params = replace(DUAL_ASCENT_DEFAULTS, max_open_bytes=most_open_bytes)
    found = dual_ascent.run(problem, LIMITS, None, params=params)
    assert (found.status, found.values, found.bounds) == (truth.status, truth.values, truth.bounds)


@pytest.mark.parametrize(("rows", "columns", "count"), [(3, 4, 3), (3, 3, 7), (1, 1, 0)])
def test_symmetries_of_a_grid(rows: int, columns: int, count: int) -> None:
    model = make_assignment(quadratic(0, 2, rows, columns, room=2))
    symmetries = node_symmetries(model)
    assert len(symmetries) == count
    for image in symmetries:
        assert (model.distance[np.ix_(image, image)] == model.distance).all()
    corners = [0, columns - 1, (rows - 1) * columns, rows * columns - 1]
    nothing = np.zeros(0, dtype=np.int64)
    if count:
        assert different_nodes(corners, nothing, symmetries) == [0]
        # The mirror images of the other three leave no node of a corner where it is, but for one.
        after = different_nodes(corners[1:], np.array([0]), symmetries)
        assert len(after) == (2 if rows == columns else 3)
    assert len(node_symmetries(model, most_steps=rows * columns)) <= count


def test_linear_costs_and_capacities_break_symmetries() -> None:
    model = make_assignment(quadratic(0, 2, 2, 2, room=2))
    assert len(node_symmetries(model)) == 7
    capacity = model.capacity.copy()
    capacity[0] += 1
    assert len(node_symmetries(replace(model, capacity=capacity))) == 1
    linear = np.arange(8).reshape(2, 4)
    assert not len(node_symmetries(replace(model, linear=linear)))


def test_the_least_bound_of_what_is_open_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped anywhere, the bound is that of the open nodes, and no more than the optimum."""
    problem = quadratic(4, 7, 2, 4)
    model, best = make_assignment(problem), optimum(problem)
    bounds = []
    for stop in (0, 1, 2, 4, 8, 16):
        search = tree_search.TreeSearch(
            model, LIMITS, Incumbent(problem, null_reporter(problem, "test")), DUAL_ASCENT_DEFAULTS
        )
        root = make_state(model, model.largest_cost)
        root.aim_below(best + 1)

        def check(self: tree_search.TreeSearch, stop: int = stop) -> None:
            if self.visited >= stop:
                raise tree_search.OutOfTimeError

        monkeypatch.setattr(tree_search.TreeSearch, "check_clock", check)
        with pytest.raises(tree_search.OutOfTimeError):
            search.branch(root)
        assert search.bound is not None
        assert search.bound <= best
        assert search.bound == root.rounded_up(min(node.bound for node in search.open_nodes))
        bounds.append(search.bound)
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]
