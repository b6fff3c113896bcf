"""Each hard rule of the compact model by itself, in both back ends."""

from __future__ import annotations

import pytest
from rule_cases import CASES, KINDS

from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.compact.milp.engine import MILP
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=60.0, workers=1, seed=0)


@pytest.mark.parametrize("engine", [CP_SAT, MILP], ids=lambda engine: engine.name)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", CASES)
def test_rule(row: str, kind: str, engine: Engine) -> None:
    make, expected = getattr(CASES[row], kind)
    problem = compile_problem(make())
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert truth.values == expected
    answer = engine.run(problem, LIMITS, None)
    if expected is None:
        assert answer.status is truth.status is Status.INFEASIBLE
        return
    assert answer.status is truth.status is Status.OPTIMAL
    assert answer.values == answer.bounds == expected
    assert answer.placement is not None
    assert judge(problem, answer.placement).violations == ()
