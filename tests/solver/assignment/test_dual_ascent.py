"""Dual ascent with branch and bound against exhaustive search and published optima."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from assignments import document, planted

from slotwise.models.instance.instance import Objective
from slotwise.models.instance_file import instance_from_data, read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.model import make_assignment
from slotwise.solver.assignment.rlt_bound import StarState, make_state
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve

LIMITS = Limits(time_s=600.0)
LARGE_COST = 10**6


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    tasks, nodes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    return compile_problem(instance_from_data(document(rng, tasks, nodes, rng.uniform(0.5, 1.0))))


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile the loops, which a new checkout has yet to do, before any time limit runs."""
    for seed in range(3):
        DUAL_ASCENT.run(random_problem(seed), LIMITS, None)


@pytest.mark.slow
def test_equals_exhaustive_search() -> None:
    seen = set()
    for seed in range(40):
        problem = random_problem(seed)
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = DUAL_ASCENT.run(problem, LIMITS, None)
        assert (found.status, found.values, found.bounds) == (
            truth.status,
            truth.values,
            truth.bounds,
        ), seed
        if found.placement is not None:
            assert judge(problem, found.placement).scaled == found.values
        seen.add(found.status)
    assert seen == {Status.OPTIMAL, Status.INFEASIBLE}


def test_equals_exhaustive_search_where_no_room_is_left() -> None:
    for seed in range(5):
        problem = planted(np.random.default_rng(seed), 3, 2)
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        assert DUAL_ASCENT.run(problem, LIMITS, None).values == truth.values


def cost_in_books(state: StarState, nodes: tuple[int, ...]) -> int:
    """What the books of a state make of an assignment, multipliers of the capacities left out."""
    total = state.bound
    for i, k in enumerate(nodes):
        total += int(state.single[i, k])
        for j, m in enumerate(nodes):
            if j != i:
                total += int(state.star[i, k, j, m])
    return total


@pytest.mark.slow
def test_bounds_and_what_the_books_keep() -> None:
    """The bound rises to the optimum at most; no entry is negative, no valid cost exceeded."""
    for seed in range(15):
        problem = random_problem(seed)
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        if truth.placement is None or truth.values is None:
            continue
        state = make_state(make_assignment(problem), LARGE_COST)
        last = 0
        for _ in range(10):
            state.ascend(1, 0.0)
            assert last <= state.bound
            assert state.value <= truth.values[0]
            assert state.single[state.ok].min() >= 0
            assert state.star.min() >= 0
            books = cost_in_books(state, truth.placement.nodes)
            assert books <= truth.values[0] * state.scale
            last = state.bound


@pytest.mark.slow
def test_fixing_a_task_keeps_a_lower_bound() -> None:
    for seed in range(15):
        problem = random_problem(seed)
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        if truth.placement is None or truth.values is None:
            continue
        state = make_state(make_assignment(problem), LARGE_COST)
        state.ascend(3, 0.0)
        for task, node in enumerate(truth.placement.nodes):
            assert state.ok[task, node]
            state = state.with_task(task, node)
            state.ascend(2, 0.0)
            assert state.value <= truth.values[0]
        assert tuple(state.nodes.tolist()) == truth.placement.nodes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "optimum"),
    [("gqap-leema/C12X4-E-G", 1500150), ("gqap-leema/C12X8-E-G-0226", 1244300),
     ("qaplib/chr12a", 9552)],
)  # fmt: skip
def test_proves_published_optima(shared: Path, name: str, optimum: int) -> None:
    instance = read_instance(shared / "instances" / f"{name}.json")
    result = solve(instance, engine="dual-ascent", time_limit_s=60)
    assert result.status is Status.OPTIMAL
    assert result.objective[0].value == result.objective[0].bound == optimum


@pytest.mark.slow
def test_out_of_time_with_incumbent_and_bound(shared: Path) -> None:
    problem = compile_problem(read_instance(shared / "instances/gqap-cordeau/20-15-75.json"))
    found = DUAL_ASCENT.run(problem, Limits(time_s=5.0), None)
    assert found.status is Status.FEASIBLE
    assert found.values is not None
    assert found.bounds[0] is not None
    best_known = 1953188 / problem.terms[0].unit
    assert 0 < found.bounds[0] < best_known <= found.values[0]


def test_keeps_a_better_hint_as_it_is() -> None:
    problem = random_problem(11)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert truth.placement is not None
    found = DUAL_ASCENT.run(problem, LIMITS, truth.placement)
    assert (found.status, found.values) == (truth.status, truth.values)


def test_refuses_with_the_reason() -> None:
    made = instance_from_data(document(np.random.default_rng(0), 4, 3, 0.7))
    assert DUAL_ASCENT.supports(compile_problem(made)) is None
    other = replace(made, objective=Objective(("network+linear", "nodes")))
    assert "'nodes'" in str(DUAL_ASCENT.supports(compile_problem(other)))
    many = instance_from_data(document(np.random.default_rng(0), 70, 40, 0.7))
    assert "pairs of places" in str(DUAL_ASCENT.supports(compile_problem(many)))
