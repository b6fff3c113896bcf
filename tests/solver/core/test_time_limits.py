"""The time limit: what heeds it, and what happens to what does not."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

import pytest

from slotwise import place
from slotwise.benchmarks.experiments.speed.limit_instances import SHAPES
from slotwise.benchmarks.experiments.speed.time_limits import CRASHED, KILLED, SolveEnd
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancelledError
from slotwise.models.families.rstorm import RSTORM
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import best_of_heuristics
from slotwise.solver.column_generation import engine as configurations
from slotwise.solver.compact.milp import engine as milp
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.progress import Progress
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.core.supervision import TimeLimit, supervised
from slotwise.solver.engines import ENGINES
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.solve import solve

LONG_S = 20.0
"""Far more than what is tested may take, and less than it took."""


@pytest.fixture(scope="module")
def mid() -> Problem:
    """2,000 tasks on 500 nodes."""
    return compile_problem(SHAPES["mid"]())


def _wait(seconds: float) -> None:
    """Wait as native code does: without asking anybody."""
    threading.Event().wait(seconds)


def within(problem: Problem, seconds: float) -> Reporter:
    """Return a reporter whose token is cancelled after that number of seconds."""
    return null_reporter(problem, "one", RunToken(time.perf_counter() + seconds))


def test_what_asks_ends_at_its_limit_and_is_not_interrupted() -> None:
    def work(token: RunToken) -> str:
        end = time.perf_counter() + LONG_S
        try:
            while time.perf_counter() < end:
                token.check()
        except CancelledError:
            return "kept"
        raise AssertionError("was not asked to stop")

    events: SimpleQueue[Progress | None] = SimpleQueue()
    limit = TimeLimit.of(time.perf_counter(), 0.05)
    ended = supervised(work, events, None, replace(limit, leave_at=limit.ask_at + LONG_S))
    assert (ended.answer, ended.interrupted) == ("kept", False)


def test_what_does_not_ask_is_left_behind() -> None:
    events: SimpleQueue[Progress | None] = SimpleQueue()
    limit = TimeLimit.of(time.perf_counter(), 0.05)
    release = threading.Event()
    ended = supervised(lambda token: release.wait(LONG_S), events, None, limit)
    assert ended.answer is None
    assert not ended.interrupted
    assert not release.is_set()
    release.set()


def test_a_search_left_behind_loses_nothing_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = next(iter(RSTORM.generate(1)))
    problem = compile_problem(instance)
    known = best_of_heuristics(problem, 0, None, ("r-storm",))
    assert known.placement is not None
    release, ended = threading.Event(), threading.Event()

    def run(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
    ) -> Outcome:
        assert reporter is not None
        assert known.placement is not None
        reporter.offer(known.placement)
        reporter.prove([0])
        release.wait(LONG_S)
        reporter.prove([10**6])  # nonsense: must not reach the answer
        ended.set()
        return replace(known, status=Status.OPTIMAL)

    monkeypatch.setitem(ENGINES, "cp-sat", replace(ENGINES["cp-sat"], run=run))
    result = solve(problem, engine="cp-sat", time_limit_s=0.1)
    release.set()
    assert ended.wait(LONG_S)
    assert result.status == Status.FEASIBLE
    assert result.placement == known.placement
    assert [term.bound for term in result.objective] == [0, None]
    assert not result.interrupted
    assert result.limits.time_s == 0.1


@pytest.mark.parametrize("name", ["r-storm", "ras-default", "ras-round-robin", "ras-paper"])
def test_heuristics_heed_a_deadline(name: str, mid: Problem) -> None:
    with pytest.raises(CancelledError):
        run_method(mid, HEURISTICS[name], 0, RunToken(time.perf_counter()))


def test_bounds_are_kept_where_no_heuristic_ends(mid: Problem) -> None:
    found = best_of_heuristics(mid, 0, None, tuple(HEURISTICS), seconds=0.0)
    assert found.bounds[0] == 0
    assert found.placement is None or judge(mid, found.placement).valid


@pytest.mark.parametrize("name", ["configurations", "connected", "milp"])
def test_engines_heed_a_deadline_while_they_build(name: str, mid: Problem) -> None:
    began = time.perf_counter()
    try:
        found = ENGINES[name].run(mid, Limits(time_s=1e6), None, within(mid, 0.2))
        assert found.status in (Status.UNKNOWN, Status.FEASIBLE)
    except CancelledError:
        pass  # `solve` says what is known
    assert time.perf_counter() - began < LONG_S


def test_the_heuristics_behind_configurations_have_its_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[Reporter] = []

    def known(*words: Any, reporter: Reporter) -> Outcome:
        given.append(reporter)
        return best_of_heuristics(*words, reporter=reporter)

    problem = compile_problem(next(iter(RSTORM.generate(1))))
    asked = within(problem, LONG_S)
    monkeypatch.setattr(configurations, "best_of_heuristics", known)
    monkeypatch.setattr(configurations.fast, "supports", lambda problem: "not today")
    ENGINES["configurations"].run(problem, Limits(time_s=1e-6), None, asked)
    assert [one.token for one in given] == [asked.token]


@pytest.mark.slow
def test_local_search_heeds_a_deadline_within_a_step(mid: Problem) -> None:
    start = best_of_heuristics(mid, 0, None, ("ras-default",)).placement
    LOCAL_SEARCH.run(mid, Limits(time_s=1e6, deterministic_work=1.0), start)  # compiles its loops
    began = time.perf_counter()
    found = LOCAL_SEARCH.run(mid, Limits(time_s=1e6), start, within(mid, 0.5))
    assert found.interrupted
    assert time.perf_counter() - began < LONG_S


def test_local_search_does_not_take_tables_that_are_too_large(mid: Problem) -> None:
    assert LOCAL_SEARCH.supports(mid) is None
    classes = tuple(mid.classes[0] for _ in range(10_000))
    assert "too large" in str(LOCAL_SEARCH.supports(replace(mid, classes=classes)))


def test_a_linear_model_that_is_too_large_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(milp, "build", lambda problem, token: pytest.fail("was built"))
    problem = compile_problem(SHAPES["topologies"]())
    with pytest.raises(NotTakenError, match="more than 300,000 columns"):
        ENGINES["milp"].run(problem, Limits(time_s=5), None)


def test_the_benchmark_says_what_is_late() -> None:
    one = SolveEnd("mid", "auto", 1, 4.0, "feasible", "baseline", 5.1, None)
    assert one.holds
    assert not replace(one, wall_s=5.3).holds
    assert not replace(one, status=KILLED).holds
    assert not replace(one, status=CRASHED).holds
    assert "LATE" in str(replace(one, wall_s=5.3))


@pytest.mark.parametrize("engine", ["cp-sat", "milp"])
def test_a_hint_stays_where_time_is_over_before_the_model_is_built(engine: str) -> None:
    """It was called unknown, with a placement."""
    problem = compile_problem(RSTORM.make(1, 0))
    hint = place(problem.instance, "r-storm-pseudocode", seed=0)
    outcome = ENGINES[engine].run(problem, Limits(time_s=60.0), hint, within(problem, 0.0))
    assert outcome.status is Status.FEASIBLE
    assert outcome.placement == hint
