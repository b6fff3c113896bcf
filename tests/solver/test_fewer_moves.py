"""An engine's answer, with equal things exchanged before anyone sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slotwise.models.errors import InternalError
from slotwise.models.instance.instance import Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve

NODES = (0, 1, 2, 0, 1, 2, 0, 1, 2)
"""Where word-count runs, with the labels of all workers changed: 9 moves, none of them needed."""


RELABELLED = Placement(NODES, (1,) * 9)


def engine_that_says(
    bounds: tuple[int | None, ...], status: Status, placement: Placement = RELABELLED
) -> Engine:
    def run(problem: Problem, *_: object) -> Outcome:
        return Outcome(status, placement, judge(problem, placement).scaled, bounds, "as said")

    return replace(ENGINES["exhaustive"], name="own", run=run)


@pytest.fixture
def problem(examples: Path) -> Problem:
    instance = read_instance("running.json")
    return compile_problem(replace(instance, objective=Objective(("network", "moved"))))


def test_needless_moves_are_not_shown(problem: Problem) -> None:
    result = solve(problem, engine=engine_that_says((23, None), Status.FEASIBLE))
    assert result.placement == running_placement(problem)
    assert result.moves == ()
    assert [int(term.value) for term in result.objective] == [38, 0]
    assert result.status is Status.FEASIBLE


def test_fewer_moves_may_meet_the_bound(problem: Problem) -> None:
    result = solve(problem, engine=engine_that_says((38, 0), Status.FEASIBLE))
    assert result.status is Status.OPTIMAL
    assert result.gap == 0


def test_fewer_moves_than_were_proven_are_an_internal_error(problem: Problem) -> None:
    with pytest.raises(InternalError, match="own claims the bound 9 of moved; the judge finds 0"):
        solve(problem, engine=engine_that_says((38, 9), Status.OPTIMAL))
    objective = Objective(("network",), limits={"moved": 3})  # better than what runs
    few = solve(replace(problem.instance, objective=objective), time_limit_s=60).placement
    assert few is not None
    renamed = Placement(few.nodes, tuple(label + 1 for label in few.workers))
    bounds = judge(problem, renamed).scaled
    assert bounds[1] == 9
    with pytest.raises(InternalError, match="own, equal things exchanged, claims the bound 9"):
        solve(problem, engine=engine_that_says(bounds, Status.OPTIMAL, renamed))
