"""The leading terms of an objective without what runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.presolve.leading_terms import without_running
from slotwise.testing.random_instances.tiny import mixed_instance, tiny_instance

LIMITS = Limits(time_s=60.0)


def with_moves_last(rng: np.random.Generator) -> Instance | None:
    """A tiny instance on which tasks run, its own terms first and then fewest moves."""
    instance = tiny_instance(rng)
    earlier = tuple(t for t in instance.objective.terms if "moved" not in t) or ("network",)
    if instance.running is None:
        return None
    try:
        return replace(instance, objective=Objective((*earlier, "moved"), instance.objective.soft))
    except InputError:  # linear costs that only the term with moves counted
        return None


def test_leading_terms_keep_their_optimum() -> None:
    rng = np.random.default_rng(3)
    statuses: dict[Status, int] = {}
    while sum(statuses.values()) < 40:
        instance = with_moves_last(rng)
        if instance is None:
            continue
        problem = compile_problem(instance)
        easier = without_running(problem)
        if easier is None:
            assert all(one.home is None for one in problem.classes)
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = EXHAUSTIVE.run(easier.problem, LIMITS, None)
        assert found.status == truth.status
        if truth.values is not None and found.values is not None:
            assert found.values == truth.values[:-1]
        statuses[truth.status] = statuses.get(truth.status, 0) + 1
    assert min(statuses.get(s, 0) for s in (Status.OPTIMAL, Status.INFEASIBLE)) > 5


def test_it_is_the_problem_compiled_without_running() -> None:
    rng = np.random.default_rng(4)
    compared = 0
    while compared < 40:
        instance = with_moves_last(rng)
        easier = None if instance is None else without_running(compile_problem(instance))
        if instance is None or easier is None:
            continue
        objective = replace(instance.objective, terms=instance.objective.terms[:-1])
        plain = compile_problem(replace(instance, running=None, objective=objective))
        found = easier.problem
        assert found.classes == plain.classes
        assert found.flows == plain.flows
        assert found.rules == plain.rules
        assert found.regions == plain.regions
        assert found.task_class.tolist() == plain.task_class.tolist()
        assert found.demand.tolist() == plain.demand.tolist()
        assert found.heap.tolist() == plain.heap.tolist()
        assert (found.linear is None) == (plain.linear is None)
        assert found.linear is None or found.linear.tolist() == plain.linear.tolist()
        assert found.move_limit == NO_LIMIT
        compared += 1


@pytest.mark.slow
def test_of_any_objective_the_answer_is_a_bound() -> None:
    rng = np.random.default_rng(6)
    seen: Counter[str] = Counter()
    while min(seen[what] for what in ("equal", "below", "left out", "infeasible")) < 5:
        problem = compile_problem(mixed_instance(rng))
        easier = without_running(problem)
        if easier is None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = EXHAUSTIVE.run(easier.problem, LIMITS, None)
        assert easier.problem.may_reject == problem.may_reject
        if truth.values is None or found.values is None:
            assert found.status is truth.status or problem.move_limit != NO_LIMIT
            seen["infeasible"] += 1
            continue
        assert truth.placement is not None
        leading = truth.values[: len(found.values)]
        assert found.values <= leading
        assert found.values == leading or problem.move_limit != NO_LIMIT
        seen["equal" if found.values == leading else "below"] += 1
        seen["left out"] += UNPLACED in truth.placement.nodes


@pytest.mark.parametrize("terms", [("network", "moved", "rejected"), ("network", "moved+rejected")])
def test_terms_before_rejected_are_not_solved_alone(terms: tuple[str, ...]) -> None:
    """A topology may be left out where it is counted later, too: alone the terms forbid it."""
    rng = np.random.default_rng(7)
    instance = None
    while instance is None or not instance.running:
        instance = with_moves_last(rng)
    objective = replace(instance.objective, terms=terms)
    assert without_running(compile_problem(replace(instance, objective=objective))) is None
    first = replace(instance.objective, terms=("rejected", "network", "moved"))
    easier = without_running(compile_problem(replace(instance, objective=first)))
    assert easier is not None
    assert easier.problem.may_reject


@pytest.mark.parametrize("terms", [("moved", "network"), ("network+moved",)])
def test_a_first_term_that_counts_moves_leaves_nothing(terms: tuple[str, ...]) -> None:
    rng = np.random.default_rng(5)
    instance = None
    while instance is None or instance.linear:
        instance = with_moves_last(rng)
    objective = replace(instance.objective, terms=terms)
    assert without_running(compile_problem(replace(instance, objective=objective))) is None
    empty = replace(instance, running={}, objective=replace(objective, terms=("network", "moved")))
    assert without_running(compile_problem(empty)) is None
