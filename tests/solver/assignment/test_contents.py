"""Contents of nodes listed, priced and searched, against exhaustive search."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from assignments import equally_far
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.benchmarks.experiments.proofs.matrix import constrained
from slotwise.models.cancellation import UNLIMITED
from slotwise.models.instance_file import instance_from_data
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment import subset_dp
from slotwise.solver.assignment.model import Assignment, make_assignment
from slotwise.solver.assignment.params import SUBSET_DP_DEFAULTS
from slotwise.solver.assignment.subset_dp import distances_apart, list_all, most_contents
from slotwise.solver.assignment.subset_fixing import price
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve

LIMITS = Limits(time_s=600.0)  # a new checkout compiles the loops first
NO_TABLES = replace(SUBSET_DP_DEFAULTS, max_tasks=0)


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    tasks, nodes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    return compile_problem(instance_from_data(equally_far(rng, tasks, nodes, alike=bool(seed % 2))))


def apart(model: Assignment) -> int:
    distances = distances_apart(model)
    return int(distances[0]) if len(distances) else 0


@pytest.mark.slow
def test_lists_every_content_once() -> None:
    for seed in range(20):
        model = make_assignment(random_problem(seed))
        found = list_all(model, apart(model), RunToken())
        assert sum(len(sets) for sets, _ in found.values()) <= most_contents(model)
        both = model.flow + model.flow.T
        for node, (sets, costs) in found.items():
            saved = apart(model) - int(model.distance[node, node])
            expected = {}
            for chosen in product((0, 1), repeat=model.task_count):
                tasks = np.flatnonzero(chosen)
                if (model.demand[tasks].sum(axis=0) <= model.capacity[node]).all():
                    inside = int(both[np.ix_(tasks, tasks)].sum()) // 2
                    cost = int(model.linear[tasks, node].sum()) - saved * inside
                    expected[sum(1 << int(i) for i in tasks)] = cost
            assert dict(zip(sets.tolist(), costs.tolist(), strict=True)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("searched", [False, True])
def test_equals_exhaustive_search(searched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an incumbent of local search, and with none."""
    if not searched:
        monkeypatch.setattr(subset_dp, "search_assignment", lambda *a, **k: None)
    seen = set()
    for seed in range(40):
        problem = random_problem(seed)
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = subset_dp.run(problem, LIMITS, None, params=NO_TABLES)
        assert (found.status, found.values, found.bounds) == (
            truth.status,
            truth.values,
            truth.bounds,
        ), seed
        if found.placement is not None:
            verdict = judge(problem, found.placement)
            assert (verdict.violations, verdict.scaled) == ((), found.values)
        seen.add(found.status)
    assert seen == {Status.OPTIMAL, Status.INFEASIBLE}


@pytest.mark.slow
def test_too_many_sets_leave_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search may keep next to nothing, what is proven by then is no more than true."""
    monkeypatch.setattr(subset_dp, "search_assignment", lambda *a, **k: None)
    unproven = 0
    for seed in range(40):
        problem = random_problem(seed)
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        params = replace(NO_TABLES, max_sets=1)
        found = subset_dp.run(problem, LIMITS, None, params=params)
        assert found.status is not Status.INFEASIBLE or truth.status is Status.INFEASIBLE
        if truth.values is None:
            continue
        unproven += found.status is not Status.OPTIMAL
        assert (found.bounds[0] or 0) <= truth.values[0]
        assert found.values is None or found.values >= truth.values
    assert unproven


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 30))
def test_losses_make_up_the_cost_of_every_placement_as_good(seed: int, above: int) -> None:
    problem = random_problem(seed)
    model = make_assignment(problem)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    if truth.values is None:
        return
    constant = apart(model) * int(model.flow.sum())
    target = truth.values[model.term] - constant + above
    priced = price(list_all(model, apart(model), RunToken()), model.task_count, target, UNLIMITED)
    assert priced.least_cost <= target
    where = [
        {int(s): int(loss) for s, loss in zip(priced.sets[k], priced.losses[k], strict=True)}
        for k in range(model.node_count)
    ]
    for nodes in product(range(model.node_count), repeat=model.task_count):
        cost = model.cost(np.array(nodes)) - constant
        if cost > target or not model.is_valid(np.array(nodes)):
            continue
        held = [sum(1 << i for i, n in enumerate(nodes) if n == k) for k in range(len(where))]
        losses = sum(where[k][content] for k, content in enumerate(held))
        assert cost * priced.scale == priced.bound + losses


def test_stops_at_the_limit() -> None:
    problem = compile_problem(instance_from_data(constrained(0)))
    stopped = subset_dp.run(problem, Limits(time_s=1e-9), None)
    assert stopped.status in (Status.FEASIBLE, Status.UNKNOWN)
    assert stopped.bounds == (None,)


@pytest.mark.parametrize("seed", [6, 8])
def test_proves_constrained_assignments_of_24_tasks(seed: int) -> None:
    result = solve(instance_from_data(constrained(seed)), time_limit_s=60)
    assert result.status is Status.OPTIMAL
    assert "subset-dp" in result.engine
