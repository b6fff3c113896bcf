"""While it runs, `solve` tells judged values and proven bounds; whatever ends it, they are kept."""

from __future__ import annotations

import os
import signal
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from assignments import document
from hard_instances import hard_instance
from solved import first_solved

import slotwise
from slotwise.benchmarks.experiments.speed.interrupts import INTERRUPTED, interrupt
from slotwise.cli.progress import LiveLine, PlainLines, describe
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data, instance_from_text
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.progress import Event, Progress
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Result, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.core.supervision import counted_presses
from slotwise.solver.solve import CURRENT, solve

LONG_S = 60.0
"""Far more than what is tested may take, and far less than where it would wait for a search."""

TALKATIVE = ("auto", "configurations", "cp-sat", "milp")


def listened(instance: Instance | Problem, **asked: object) -> tuple[Result, list[Progress]]:
    """Solve and return what was told meanwhile."""
    events: list[Progress] = []
    result = solve(instance, on_progress=events.append, **asked)  # type: ignore[arg-type]
    return result, events


def check_events(events: list[Progress], best: list[Fraction] | None) -> None:
    """Values fall, the first bound rises, and no optimum is above a value or below a bound."""
    values = [event.values for event in events if event.values is not None]
    assert values == sorted(values, reverse=True)
    bounds = [event.bounds[0] for event in events if event.bounds[0] is not None]
    assert bounds == sorted(bounds)
    assert [event.seconds for event in events] == sorted(event.seconds for event in events)
    if best is None:
        assert not values
        return
    for event in events:
        assert event.values is None or list(event.values) >= best
        for bound, truth in zip(event.bounds, best, strict=True):
            assert bound is None or bound <= truth


@pytest.mark.slow
@pytest.mark.parametrize("engine", TALKATIVE)
def test_only_values_and_bounds_that_are_true_are_told(engine: str) -> None:
    told = 0
    for one in first_solved(40):
        problem, truth = one.problem, one.truth
        try:
            result, events = listened(problem, engine=engine, time_limit_s=30)
        except UntakenError:
            continue
        if truth.values is None:
            assert result.status is Status.INFEASIBLE
            check_events(events, None)
            continue
        scaled = zip(truth.values, problem.terms, strict=True)
        check_events(events, [value * term.unit for value, term in scaled])
        # Where something runs, a first placement comes before any engine.
        by_engines = [event for event in events if event.engine != CURRENT]
        assert by_engines[0].event is Event.ENGINE
        assert events[-1].values == tuple(term.value for term in result.objective)
        told += any(event.event is Event.BOUND for event in events)
    assert told >= 5, "too few to mean anything"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "cp-sat", "milp"])
def test_the_first_placement_comes_long_before_the_end(engine: str) -> None:
    instance = instance_from_text(hard_instance(60, 6))
    start = slotwise.place(instance, "r-storm")
    for limit in (1.0, 5.0, 30.0):  # on a busy machine there may be no bounds in the first
        result, events = listened(instance, engine=engine, time_limit_s=limit, hint=start)
        if sum(event.event is Event.BOUND for event in events) >= 2:
            break
    assert result.status is Status.FEASIBLE
    value = result.objective[0].value
    assert value is not None
    check_events(events, [value])
    placed = [event for event in events if event.event is Event.PLACEMENT]
    assert placed[0].engine == "hint"
    assert sum(event.event is Event.BOUND for event in events) >= 2
    of_auto = ("capacity", "cp-sat", "lp over node configurations", "connected")  # the best by then
    assert result.objective[0].bound_kind in (of_auto if engine == "auto" else (engine,))


@pytest.mark.parametrize("engine", ["dual-ascent", "subset-dp"])
def test_engines_of_assignments_tell_too(engine: str) -> None:
    rng = np.random.default_rng(2)
    data = document(rng, 9, 3, 0.7) | {"distance": [[0, 5, 5], [5, 0, 5], [5, 5, 0]]}
    problem = compile_problem(instance_from_data(data))
    best = solve(problem, engine="cp-sat").objective[0].value
    assert best is not None
    result, events = listened(problem, engine=engine)
    assert result.status is Status.OPTIMAL
    check_events(events, [best])
    assert {event.event for event in events} == set(Event)


def test_auto_says_what_it_picked_and_why() -> None:
    result, events = listened(FAMILIES["rstorm"].make(6, 0), time_limit_s=30)
    assert [pick.engine for pick in result.picked] == ["baseline", "configurations"]
    assert all(pick.why and pick.seconds >= 0 for pick in result.picked)
    started = [event.engine for event in events if event.event is Event.ENGINE]
    assert started == ["baseline", "configurations"]
    assert result.engine == "configurations"
    assert result.to_document()["picked"][1]["why"].startswith("distances by level")


@pytest.mark.slow
@pytest.mark.parametrize("index", [1, 3, 6])
def test_two_engines_side_by_side_find_the_same_value(index: int) -> None:
    problem = compile_problem(FAMILIES["rstorm"].make(index, 0))
    alone = solve(problem, time_limit_s=60)
    both = solve(problem, time_limit_s=600, workers=2)
    assert alone.status is both.status is Status.OPTIMAL
    assert [t.value for t in alone.objective] == [t.value for t in both.objective]
    assert both.seconds < 300, "the one that is late is not waited for"
    assert not both.interrupted


@pytest.mark.slow
def test_two_engines_side_by_side_are_right_on_tiny_instances() -> None:
    for one in first_solved(40):
        problem, truth = one.problem, one.truth
        result = solve(problem, time_limit_s=30, workers=2)
        assert result.status is truth.status
        if truth.values is not None:
            assert result.placement is not None
            assert judge(problem, result.placement).scaled == truth.values


def stuck(problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter) -> Outcome:
    """Find a placement, then hear nothing for a while, as native code does."""
    placed = solve(problem, engine="cp-sat").placement
    assert placed is not None
    reporter.offer(placed)
    reporter.prove([0], "trivial")
    time.sleep(4)
    raise AssertionError("left behind long ago")


def test_an_engine_that_does_not_hear_is_left_behind() -> None:
    own = Engine("stuck", stuck, lambda problem: None, lambda: "1")
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = solve(FAMILIES["rstorm"].make(6, 0), engine=own)
    assert result.interrupted
    assert result.engine == "stuck"
    assert result.placement is not None
    assert result.status is Status.FEASIBLE
    assert result.objective[0].bound_kind == "trivial"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_search_begins_ends_it() -> None:
    started = time.perf_counter()
    with counted_presses():  # as a command does while it reads the instance
        signal.raise_signal(signal.SIGINT)
        result = solve(instance_from_text(hard_instance()), time_limit_s=600)
    assert result.interrupted
    assert time.perf_counter() - started < LONG_S


def test_what_a_listener_raises_ends_the_search() -> None:
    def refuse(event: Progress) -> None:
        raise ZeroDivisionError

    started = time.perf_counter()
    with pytest.raises(ZeroDivisionError):
        solve(instance_from_text(hard_instance()), time_limit_s=600, on_progress=refuse)
    assert time.perf_counter() - started < LONG_S


@pytest.mark.slow
def test_ctrl_c_at_several_moments(tmp_path: Path) -> None:
    import sys

    file = tmp_path / "hard.json"
    file.write_text(hard_instance())
    command = [
        sys.executable,
        "-m",
        "slotwise",
        "solve",
        str(file),
        "--json",
        "--time-limit",
        "600",
    ]
    instance = instance_from_text(hard_instance())
    for after in (0.3, 2.5, 6, 12, 30):  # on a busy machine the search may not have begun
        found = interrupt(command, instance, after)
        assert found.code == INTERRUPTED
        assert found.late_s < LONG_S
        if found.kept:
            return
    raise AssertionError("nothing was ever kept")


@pytest.mark.slow
def test_bounds_of_later_terms_count_only_where_the_earlier_ones_are_reached() -> None:
    problem = compile_problem(FAMILIES["rstorm"].make(4, 0))  # overload, then network
    known = SolveState(problem)
    placed = solve(problem, time_limit_s=30).placement
    assert placed is not None
    best = judge(problem, placed).scaled
    known.prove([best[0] - 1, best[1] + 5], "weak", "weak")
    assert known.bounds == (best[0] - 1, None)
    known.offer(placed, "us")
    assert known.bounds == (best[0] - 1, None)
    known.prove([best[0], best[1] - 1], "strong", "strong")
    assert known.bounds == (best[0], best[1] - 1)
    assert not known.is_settled
    known.prove(best, "exact", "exact")
    assert known.is_settled


def test_progress_for_people() -> None:
    values, bounds = (Fraction(0), Fraction(23)), (Fraction(0), Fraction(20))
    event = Progress(7.0, "cp-sat", Event.BOUND, values, bounds)
    terms = ("overload", "network")
    assert describe(terms, event) == "overload 0 proven, network 23, bound 20 (13.04 %)"
    lines: list[str] = []
    plain = PlainLines(terms, lines.append)
    for seconds in (1.0, 6.0, 8.0, 12.0):
        plain.take(Progress(seconds, "cp-sat", Event.BOUND, values, bounds))
    assert len(lines) == 2
    assert lines[0].startswith("slotwise: 6.0 s, cp-sat: overload 0 proven, network 23")
    live = LiveLine(terms)
    live.take(Progress(0.0, "cp-sat", Event.ENGINE, None, (None, None)))
    assert "cp-sat  no placement yet" in live.__rich__().plain
