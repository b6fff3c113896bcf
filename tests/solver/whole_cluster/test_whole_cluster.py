"""Several topologies on one cluster: judged by exhaustive search of all of them together."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_clusters import LIMITS, TERMS, planted, tight_shared, tiny_shared

from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.exhaustive.engine import EXHAUSTIVE
from slotwise.solver.portfolio.auto import run_auto
from slotwise.solver.whole_cluster.bounds import ClusterBounds
from slotwise.solver.whole_cluster.topologies import topology_parts


def proven_by_topologies(problem: Problem) -> tuple[ClusterBounds, list[Outcome]]:
    """Return what the optima of the topologies alone prove, by exhaustive search."""
    parts = topology_parts(problem)
    alone = [EXHAUSTIVE.run(part.problem, LIMITS, None) for part in parts]
    nothing = (0,) * (len(problem.terms) - problem.may_reject)
    impossible = {i for i, one in enumerate(alone) if one.status is Status.INFEASIBLE}
    values = [nothing if one.values is None else one.values for one in alone]
    return ClusterBounds(problem, parts, values, impossible), alone


def check_bounds(problem: Problem) -> str:
    """Compare the bounds with the optimum of the whole; return what kind of instance it is."""
    known, _ = proven_by_topologies(problem)
    whole = EXHAUSTIVE.run(problem, LIMITS, None)
    if whole.values is None:
        assert not problem.may_reject
        return "infeasible"
    assert not known.is_infeasible
    rejected = whole.values[0] if problem.may_reject else 0
    assert not problem.may_reject or known.least_rejected() <= rejected
    cost = known.least_cost(rejected)
    own = whole.values[1:] if problem.may_reject else whole.values
    assert cost is not None
    assert cost <= own
    if rejected:
        return "rejected"
    return "sum of optima" if cost == own else "above the sum"


def test_sums_of_bounds_are_bounds() -> None:
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(120):
        make = tight_shared if number % 2 else tiny_shared
        seen[check_bounds(compile_problem(make(rng, TERMS[number % 3])))] += 1
    assert set(seen) == {"infeasible", "rejected", "sum of optima", "above the sum"}, seen


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), terms=st.sampled_from(TERMS))
def test_no_bound_is_above_the_optimum(seed: int, terms: tuple[str, ...]) -> None:
    check_bounds(compile_problem(tight_shared(np.random.default_rng(seed), terms)))


def test_auto_agrees_with_exhaustive_search() -> None:
    rng = np.random.default_rng(6)
    seen: Counter[str] = Counter()
    for number in range(40):
        make = tight_shared if number % 2 else tiny_shared
        problem = compile_problem(make(rng, TERMS[number % 3]))
        expected = EXHAUSTIVE.run(problem, LIMITS, None)
        _, found = run_auto(problem, LIMITS, None)
        assert (found.status, found.values) == (expected.status, expected.values), number
        if found.placement is not None:
            assert judge(problem, found.placement).scaled == found.values
        seen[str(found.status)] += 1
    assert seen[Status.OPTIMAL] >= 20
    assert seen[Status.INFEASIBLE] >= 3


@pytest.mark.parametrize("seed", range(4))
def test_a_planted_packing_is_found_and_proven_by_the_sum(seed: int) -> None:
    problem = compile_problem(planted(np.random.default_rng(seed)))
    _, found = run_auto(problem, LIMITS, None)
    assert found.status is Status.OPTIMAL
    assert found.values is not None
    assert found.values[0] == 0
    known, _ = proven_by_topologies(problem)
    assert known.least_cost(0) == found.values[1:]
