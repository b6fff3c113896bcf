"""One `solve` for every engine: compile, choose, run, judge."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue

from slotwise.models.cancellation import CancellationToken, CancelledError, WorkClock
from slotwise.models.errors import InputError, InternalError, suggestion
from slotwise.models.infeasibility.contradictions import holds
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.contradictions import COUNTING, find_contradiction
from slotwise.solver.core.declared_rules import unknown
from slotwise.solver.core.engine import Engine, configured
from slotwise.solver.core.judged_result import contradiction, judged_result
from slotwise.solver.core.limited import (
    check_takes_work,
    checked_limits,
    supervised_by_work,
    supervised_in_time,
)
from slotwise.solver.core.memory import RunToken, watched
from slotwise.solver.core.progress import LOG, OnProgress, Progress, logged
from slotwise.solver.core.result import Limits, Outcome, Result, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.core.supervision import TimeLimit
from slotwise.solver.engines import ENGINES
from slotwise.solver.orphans.first_placement import first_placement
from slotwise.solver.parameters import Parameters
from slotwise.solver.portfolio.attempt import Answer, is_confirmation_due, not_taken, run_named
from slotwise.solver.portfolio.auto import run_auto
from slotwise.solver.portfolio.params import AUTO, AUTO_DEFAULTS, auto_params, checked_parameters
from slotwise.solver.structure.matching import kept_running
from slotwise.solver.structure.task_types import PARTS, RULES

CURRENT = "what runs, and orphans"
"""The reported source of the first placement where tasks run already."""
RELAXATION = "solved before, as a relaxation"
"""The kind of bounds that the caller passes in."""


def solve(
    instance: Instance | Problem,
    *,
    engine: str | Engine = "auto",
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    hint: Placement | None = None,
    confirm: bool | None = None,
    on_progress: OnProgress | None = None,
    parameters: Mapping[str, Parameters] | None = None,
    bounds: Sequence[int | None] = (),
    deterministic: bool = False,
) -> Result:
    """Return the best placement found and what is proven about it.

    The strict form of `slotwise.solve`, which documents the arguments and also takes paths and
    dicts.

    Parameters
    ----------
    instance
        What to place; a compiled problem is taken as it is.
    engine
        A name of `ENGINES`, ``auto``, or an engine of your own.
    time_limit_s, workers, seed, memory_limit_mb
        As in `Limits`; ``None`` = the default limit of memory.
    hint
        A placement of the instance to start from; it need not be valid. ``None`` = none.
    confirm
        Whether bounds that rely on a solver count only once they are confirmed; ``None`` = where
        `is_confirmation_due`.
    on_progress
        Called in this thread with each event; an exception that it raises ends the search.
    parameters
        Name of an engine, or ``auto`` -> its parameters instead of the defaults.
    bounds
        Bounds that another solve proved for this instance or a relaxation, in integer steps of the
        terms, as in `Outcome.bounds`.
    deterministic
        Whether `time_limit_s` counts units of work; see `by_work`.

    Raises
    ------
    InputError
        For an argument out of range, or an engine that declines the instance.
    InternalError
        When the judge contradicts the engine that the caller named.
    UnfinishedError
        When a safety limit ended a deterministic search.
    """
    started = time.perf_counter()
    limits = checked_limits(time_limit_s, workers, seed, memory_limit_mb, deterministic)
    name = engine if isinstance(engine, str) else engine.name
    if deterministic:
        check_takes_work(ENGINES.get(engine) if isinstance(engine, str) else engine, workers)
    parameters_by_engine = checked_parameters(parameters or {})
    if name == AUTO:
        parameters_by_engine.setdefault(AUTO, AUTO_DEFAULTS)

    def left() -> Limits:
        if deterministic:
            return limits
        return replace(limits, time_s=max(0.0, limits.time_s - (time.perf_counter() - started)))

    problem = compile_problem(instance) if isinstance(instance, Instance) else instance
    events: SimpleQueue[Progress | None] = SimpleQueue()
    state = SolveState(
        problem,
        events.put,
        started,
        confirm=is_confirmation_due(problem, name) if confirm is None else confirm,
        parameters=parameters_by_engine,
    )
    if hint is not None:
        state.offer(hint, "hint")
    state.prove(bounds, "relaxation", RELAXATION)
    unit = "units of work" if deterministic else "s"
    LOG.info("%s: engine %s, %g %s", problem.instance.name, name, limits.time_s, unit)

    def work(token: RunToken) -> Answer:
        return _run(engine, problem, left(), hint, state, token)

    tell = logged([term.name for term in problem.terms], on_progress)
    spent: float | None = None
    with watched(limits.memory_mb) as memory:
        if deterministic:
            ended, spent = supervised_by_work(work, events, tell, limits.time_s, memory)
        else:
            end = TimeLimit.of(started, limits.time_s)
            ended = supervised_in_time(name, work, events, tell, end, memory)
    engines, outcome = ended.answer or _unfinished(engine, state)
    work_done = outcome.deterministic_work if spent is None else spent
    outcome = replace(outcome, interrupted=ended.interrupted, deterministic_work=work_done)
    verdict = None if outcome.placement is None else judge(problem, outcome.placement)
    who = " and ".join(e.name for e in engines)
    _confirm(who, outcome, verdict)
    if outcome.status is Status.INFEASIBLE and not state.trust.is_doubted(COUNTING.name):
        if spent is None:
            time_left = CancellationToken(started + limits.time_s)
        else:
            time_left = CancellationToken(limits.time_s - spent, clock=WorkClock())
        outcome = _with_contradiction(problem, who, outcome, time_left)
    if verdict is not None and verdict.parts["moved"]:
        outcome, verdict = _with_fewer_moves(problem, who, outcome, verdict)
    seconds = time.perf_counter() - started
    result = judged_result(state, engines, limits, outcome, verdict, seconds, memory.notes)
    LOG.info("%r", result)
    return result


def _confirm(who: str, outcome: Outcome, verdict: Verdict | None) -> None:
    """Raise `InternalError` where the judge contradicts a claim."""
    wrong = contradiction(who, outcome, verdict)
    if wrong is not None:
        raise InternalError(wrong)


def _with_contradiction(
    problem: Problem, who: str, outcome: Outcome, token: CancellationToken
) -> Outcome:
    """Return the outcome with a contradiction, if one that a sentence can state is found in time.

    Raises `InternalError` where the independent check does not confirm it.
    """
    contradiction = outcome.contradiction
    if contradiction is None:
        with suppress(CancelledError):
            contradiction = find_contradiction(problem, token)
    if contradiction is not None and not holds(problem, contradiction):
        raise InternalError(f"{who}: the contradiction {contradiction} does not hold")
    return replace(outcome, contradiction=contradiction)


def _with_fewer_moves(
    problem: Problem, who: str, outcome: Outcome, verdict: Verdict
) -> tuple[Outcome, Verdict]:
    """Return outcome and verdict after exchanging equal things, if that leaves fewer moves.

    Raises `InternalError` if that changes any other cost, or needs fewer moves than were proven.
    """
    assert outcome.placement is not None, "it has a verdict"
    placement = kept_running(problem, outcome.placement)
    fewer_moves = judge(problem, placement)
    if {**fewer_moves.parts, "moved": 0} != {**verdict.parts, "moved": 0}:
        rule = f"to exchange equal things changed {verdict.parts} to {fewer_moves.parts}"
        raise InternalError(f"{who}: {rule}")
    if fewer_moves.parts["moved"] >= verdict.parts["moved"]:
        return outcome, verdict
    status = Status.OPTIMAL if outcome.bounds == fewer_moves.scaled else Status.FEASIBLE
    better = replace(outcome, placement=placement, values=fewer_moves.scaled, status=status)
    _confirm(f"{who}, equal things exchanged,", better, fewer_moves)
    return better, fewer_moves


def _run(
    engine: str | Engine,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    state: SolveState,
    token: RunToken,
) -> Answer:
    """Offer a first placement, then run ``auto``, or the engine that the caller named."""
    reason = unknown(problem, RULES, PARTS)
    if reason is not None:
        raise not_taken(engine if isinstance(engine, str) else engine.name, reason)
    placement = first_placement(problem, token)
    if placement is not None:
        state.offer(placement, CURRENT)
    if engine == AUTO:
        return run_auto(problem, limits, hint, state, token, auto_params(state.parameters))
    named = ENGINES.get(engine) if isinstance(engine, str) else engine
    if named is None:
        rule = f"is not an engine; {suggestion(str(engine), [AUTO, *ENGINES])}"
        raise InputError(rule, field="engine", value=engine)
    return run_named(named, problem, limits, hint, state, token)


def _unfinished(engine: str | Engine, state: SolveState) -> Answer:
    """Return the state as an answer, where the engine did not end in time."""
    names = [pick.engine for pick in state.picked]
    named = engine if isinstance(engine, Engine) else ENGINES.get(engine)
    engines = tuple(ENGINES[n] for n in dict.fromkeys(names) if n in ENGINES)
    engines = engines or (() if named is None else (configured(named, state.parameters),))
    kinds = dict.fromkeys(proven.kind for proven in state.proofs() if proven is not None)
    return engines or (BASELINE,), state.outcome(", ".join(kinds))
