"""Local search over assignments: valid, reproducible, good, and never better than the optimum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from assignments import document, planted

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance_file import instance_from_data, read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.assignment.model import make_assignment, reason_against
from slotwise.solver.assignment.tabu import best_fit, make_search, search_assignment
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

MANY_STEPS = 3000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_reaches_the_optimum_of_small_instances_and_never_beats_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tasks, nodes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    made = document(rng, tasks, nodes, rng.uniform(0.5, 0.9))
    problem = compile_problem(instance_from_data(made))
    truth = EXHAUSTIVE.run(problem, Limits(), None)
    model = make_assignment(problem)
    found = search_assignment(
        model, np.random.default_rng(0), CancellationToken(), seconds=60, steps=MANY_STEPS
    )
    if truth.status is Status.INFEASIBLE:
        assert found is None
        return
    assert found is not None
    verdict = judge(problem, model.placement(found))
    assert verdict.valid
    assert verdict.scaled == truth.values == (model.cost(found),)


def test_same_seed_and_steps_give_the_same_answer() -> None:
    problem = compile_problem(instance_from_data(document(np.random.default_rng(7), 25, 6, 0.85)))
    model = make_assignment(problem)
    runs = []
    for seed, parts in ((3, (400,)), (3, (1, 150, 249)), (4, (400,))):
        search = make_search(model, np.random.default_rng(seed))
        for part in parts:
            search.advance(part)
        runs.append((search.nodes.tolist(), search.best.tolist(), search.cost))
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[2][0]


def test_costs_in_its_books_are_the_true_ones() -> None:
    problem = compile_problem(instance_from_data(document(np.random.default_rng(8), 15, 4, 0.9)))
    model = make_assignment(problem)
    search = make_search(model, np.random.default_rng(0))
    for _ in range(20):
        search.advance(7)
        fresh = make_search(model, np.random.default_rng(0), search.nodes)
        assert (search.gain == fresh.gain).all()
        assert (search.load == fresh.load).all()
        assert search.numbers[0] == fresh.numbers[0] == model.cost(search.nodes)


@pytest.mark.parametrize("seed", range(5))
def test_finds_a_place_for_all_where_no_room_is_left(seed: int) -> None:
    problem = planted(np.random.default_rng(seed), 4, 3)
    model = make_assignment(problem)
    found = search_assignment(
        model, np.random.default_rng(0), CancellationToken(), seconds=20, steps=20000
    )
    assert found is not None
    assert judge(problem, model.placement(found)).valid


def test_tells_of_each_better_assignment_and_stops_at_its_target(shared: Path) -> None:
    problem = compile_problem(read_instance(shared / "instances/gqap-leema/C12X5-E-G.json"))
    model = make_assignment(problem)
    told: list[int] = []
    optimum = round(1519100 / problem.terms[0].unit)
    found = search_assignment(
        model,
        np.random.default_rng(0),
        CancellationToken(),
        seconds=20,
        target=optimum,
        on_better=lambda nodes, cost: told.append(cost),
    )
    assert found is not None
    assert told == sorted(told, reverse=True)
    assert told[-1] == model.cost(found) == optimum


def test_best_fit_takes_the_node_with_least_room_left() -> None:
    made = document(np.random.default_rng(0), 3, 2, 1.0)
    made["weights"], made["capacities"] = [[5], [3], [2]], [[10], [5]]
    model = make_assignment(compile_problem(instance_from_data(made)))
    assert best_fit(model).tolist() == [1, 0, 0]


def test_a_task_too_large_for_every_node() -> None:
    made = document(np.random.default_rng(0), 2, 2, 1.0)
    made["weights"], made["capacities"] = [[5], [3]], [[4], [4]]
    model = make_assignment(compile_problem(instance_from_data(made)))
    assert (
        search_assignment(model, np.random.default_rng(0), CancellationToken(), seconds=5) is None
    )


def test_assignments_are_recognised(shared: Path) -> None:
    file = shared / "instances/gqap-cordeau/20-15-35.json"
    assert reason_against(compile_problem(read_instance(file))) is None
