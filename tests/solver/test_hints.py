"""A hint never hurts: whatever the limit, the answer is no worse than a valid hint."""

from __future__ import annotations

import numpy as np
import pytest
from solved import first_solved

from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.families.family import Family
from slotwise.models.families.rstorm import RSTORM
from slotwise.models.families.rstorm_3d import RSTORM_3D
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve

ENGINES_AND_AUTO = ("auto", *ENGINES)
NO_TIME = 1e-6
LITTLE_TIME = 0.3


def supported(engine: str, problem: Problem) -> bool:
    return engine == "auto" or ENGINES[engine].supports(problem) is None


def method_plan(problem: Problem) -> Placement:
    answer = HEURISTICS["r-storm-pseudocode"].place(problem, np.random.default_rng(0))
    assert isinstance(answer, Placement)
    assert judge(problem, answer).valid
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES_AND_AUTO)
def test_an_optimal_hint_is_kept_without_time(engine: str) -> None:
    kept = 0
    for one in first_solved(60):
        problem, best = one.problem, one.truth
        if best.placement is None or not supported(engine, problem):
            continue
        try:
            result = solve(problem, engine=engine, time_limit_s=NO_TIME, hint=best.placement)
        except UntakenError:
            continue
        assert result.placement is not None
        assert judge(problem, result.placement).scaled == best.values
        kept += 1
    assert kept >= 10 or engine != "auto"  # some engines take few of these


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES_AND_AUTO)
@pytest.mark.parametrize("time_limit_s", [NO_TIME, LITTLE_TIME])
@pytest.mark.parametrize("family", [RSTORM, RSTORM_3D], ids=lambda f: f.name)
def test_no_answer_is_worse_than_its_hint(
    engine: str, time_limit_s: float, family: Family[Instance]
) -> None:
    for index in (0, 3, 5):
        problem = compile_problem(family.make(index, 0))
        if not supported(engine, problem):
            continue
        hint = method_plan(problem)
        result = solve(problem, engine=engine, time_limit_s=time_limit_s, hint=hint)
        assert result.placement is not None
        assert judge(problem, result.placement).scaled <= judge(problem, hint).scaled


@pytest.mark.parametrize("engine", ["auto", "configurations"])
def test_a_hint_does_not_stop_the_search(engine: str) -> None:
    problem = compile_problem(RSTORM.make(6, 0))
    result = solve(problem, engine=engine, time_limit_s=20, hint=method_plan(problem))
    assert result.status is Status.OPTIMAL
