"""When CP-SAT runs: early where no placement is known, and not where many tasks have a bound."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import EXAMPLES

from slotwise.models.families.storm_like_family import STORM_LIKE
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.portfolio import auto
from slotwise.solver.portfolio.params import AutoParams
from slotwise.solver.portfolio.run import FIRST_PLACEMENT, NO_PLACEMENT_YET
from slotwise.solver.solve import solve


def knows_nothing(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    return Outcome(Status.UNKNOWN, None, None, (None,) * len(problem.terms), "")


def test_cp_sat_runs_early_where_no_placement_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right after the heuristics, which find one here unless they are kept from it."""
    problem = compile_problem(read_instance(EXAMPLES / "word-count.json"))
    late = solve(problem, time_limit_s=30)
    assert all(pick.why != NO_PLACEMENT_YET for pick in late.picked)
    finds_nothing = replace(BASELINE, run=knows_nothing)
    monkeypatch.setattr(auto, "BASELINE", finds_nothing)
    result = solve(problem, time_limit_s=30)
    assert [(pick.engine, pick.why) for pick in result.picked[:2]] == [
        ("baseline", FIRST_PLACEMENT),
        ("cp-sat", NO_PLACEMENT_YET),
    ]
    assert tuple(term.value for term in result.objective) == (0, 23)


@pytest.mark.slow
@pytest.mark.parametrize(("most", "runs"), [(1000, True), (100, False)])
def test_cp_sat_is_left_out_where_many_tasks_have_a_bound(most: int, runs: bool) -> None:
    instance = STORM_LIKE.make(31, 7)  # 168 tasks, proven in minutes
    parameters = {"auto": AutoParams(cp_sat_to_tasks=most, configurations_fraction=0.2)}
    result = solve(compile_problem(instance), time_limit_s=12, workers=1, parameters=parameters)
    assert result.status == Status.FEASIBLE
    assert ("cp-sat" in [pick.engine for pick in result.picked]) == runs
