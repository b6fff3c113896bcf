"""A hint never hurts: whatever the limit, the answer is no worse than a valid hint."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import tiny_instance

from slotwise.heuristics import HEURISTICS
from slotwise.models.compile import compile_problem
from slotwise.models.family import Family
from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.models.rstorm_3d_family import RSTORM_3D
from slotwise.models.rstorm_family import RSTORM
from slotwise.solver.engine import UntakenError
from slotwise.solver.engines import ENGINES
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.result import Limits, Status
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


@pytest.mark.parametrize("engine", ENGINES_AND_AUTO)
def test_an_optimal_hint_is_kept_without_time(engine: str) -> None:
    rng = np.random.default_rng(5)
    kept = 0
    for _ in range(60):
        problem = compile_problem(tiny_instance(rng))
        best = EXHAUSTIVE.run(problem, Limits(), None)
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


@pytest.mark.parametrize("engine", ENGINES_AND_AUTO)
@pytest.mark.parametrize("time_limit_s", [NO_TIME, LITTLE_TIME])
@pytest.mark.parametrize("family", [RSTORM, RSTORM_3D], ids=lambda f: f.name)
def test_no_answer_is_worse_than_its_hint(engine: str, time_limit_s: float, family: Family) -> None:
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
