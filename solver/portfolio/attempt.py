"""Running one engine: its claim is checked before it counts.

The failure of an engine that the caller named (`run_named`) ends the solve; in a portfolio
(`attempt`) it does not end the other engines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.magnitudes import largest_terms
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE, KIND, simple_bounds
from slotwise.solver.core.engine import Engine, configured
from slotwise.solver.core.judged_result import contradiction
from slotwise.solver.core.memory import COMPILER_BYTES, Memory, MemoryLimitError, RunToken
from slotwise.solver.core.not_taken import NotTakenError, UntakenError
from slotwise.solver.core.reporter import Reporter, report_outcome
from slotwise.solver.core.result import Limits, Outcome, Pick, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.core.supervision import ASK_AFTER_S
from slotwise.solver.engines import ENGINES

Answer = tuple[tuple[Engine, ...], Outcome]
"""The engines that ran, and what they found and proved together."""

NAMED = "asked for"
"""The reason given for running an engine that the caller named."""


def run_named(
    engine: Engine,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    state: SolveState,
    token: RunToken,
) -> Answer:
    """Run the engine that the caller named, and those that confirm its claim.

    Raises
    ------
    UntakenError
        When it does not take the problem.
    InternalError
        When the judge contradicts it.
    """
    engine = configured(engine, state.parameters)
    name, reason = engine.name, engine.supports(problem)
    if reason is not None:
        raise not_taken(name, reason)
    began = token.now()
    state.start(name, NAMED)
    if state.confirm:  # bounds that need no solver
        state.prove(simple_bounds(problem), BASELINE.name, KIND)
    try:
        reporter = Reporter(state, name, token=token)
        outcome = _run_checked(engine, NAMED, problem, limits, hint, reporter)
    except MemoryLimitError:
        return (engine,), state.outcome()
    except NotTakenError as error:
        raise not_taken(name, str(error)) from error
    state.trust.check()
    if state.confirm:
        left = replace(limits, time_s=limits.time_s - (token.now() - began))
        confirming = _confirm_claim(state, engine, left, token)
        state.trust.check()
        return (engine, *confirming), _with_state(state, outcome)
    if outcome.status is Status.UNKNOWN and state.best is not None:  # lack of memory ended it
        outcome = _with_state(state, outcome)
    return (engine,), outcome


def _with_state(state: SolveState, outcome: Outcome) -> Outcome:
    """Return an engine's outcome with the state's values and bounds instead of its own."""
    now = state.outcome(outcome.proof)
    return replace(
        outcome, status=now.status, placement=now.placement, values=now.values, bounds=now.bounds
    )


def not_taken(name: str, reason: str) -> UntakenError:
    """Return the error for an engine that the caller named and that declines the problem."""
    rule = f"does not take this instance: {reason}; use auto or another engine"
    return UntakenError(rule, field="engine", value=name)


def _run_checked(
    engine: Engine,
    why: str,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter,
) -> Outcome:
    """Run `engine`, check its claim, report it to `reporter` and return it.

    That the engine starts has been reported. `why` it runs is recorded in the result.

    Raises
    ------
    InternalError
        When the judge contradicts the claim, or the engine itself.
    NotTakenError
        When the engine does not take the problem after all.
    """
    began, is_taken = time.perf_counter(), True
    try:
        outcome = run_engine(engine, problem, limits, hint, reporter)
    except NotTakenError:
        is_taken = False
        raise
    finally:
        if is_taken:
            seconds = time.perf_counter() - began
            reporter.state.picked.append(Pick(engine.name, why, seconds, engine.parameters))
    placement = outcome.placement
    verdict = None if placement is None else reporter.judged(problem, placement)
    wrong = contradiction(engine.name, outcome, verdict)
    if wrong is not None:
        raise InternalError(wrong)
    report_outcome(reporter, outcome)
    return outcome


def attempt(
    engine: Engine,
    why: str,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter,
) -> Outcome | None:
    """Run `engine` as `_run_checked` does; return its claim.

    ``None`` where the engine declines the problem after all, was stopped before it had anything to
    report, or is proven wrong: then it is distrusted.
    """
    trust = reporter.state.trust
    reporter.state.start(engine.name, why)
    try:
        token = reporter.token.child(reporter.token.now() + limits.time_s + ASK_AFTER_S)
        outcome = _run_checked(engine, why, problem, limits, hint, reporter.stopped_by(token))
    except (NotTakenError, CancelledError):
        return None
    except InternalError as error:
        trust.doubt(engine.name, str(error))
        return None
    return None if trust.is_doubted(engine.name) else outcome


# Running an engine within the memory of its solve: lack of memory ends this engine only.

T = TypeVar("T")


def run_engine(
    engine: Engine, problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter
) -> Outcome:
    """Run an engine; lack of memory ends it as if its time were over, and is noted.

    What it reported by then counts, whatever it returns. The first placement (`BASELINE`) is made
    whatever the limit is: without it there is no answer at all.

    Raises
    ------
    MemoryLimitError
        When there is no memory for what it would build first.
    NotTakenError
        When it does not take the problem.
    """
    if engine.name == BASELINE.name:
        return engine.run(problem, limits, hint, reporter)
    memory = reporter.token.memory
    if engine.compiles and memory is not None and "numba" not in sys.modules:
        memory.check_room(COMPILER_BYTES, "the compiler of its loops", engine.name)
    outcome, is_short = in_memory(
        engine.name,
        reporter.token,
        lambda token: engine.run(problem, limits, hint, reporter.stopped_by(token)),
    )
    if outcome is None:
        return Outcome(Status.UNKNOWN, None, None, (None,) * len(problem.terms), "")
    return replace(outcome, interrupted=False) if is_short else outcome


def in_memory(name: str, token: RunToken, work: Callable[[RunToken], T]) -> tuple[T | None, bool]:
    """Call `work`, a search of the engine `name`, with a child of `token`.

    That token is also cancelled when memory runs short.

    Returns
    -------
    tuple[T | None, bool]
        What it returned (``None`` where an exception ended it), and whether it was lack of memory
        that stopped it. Searches take that for Ctrl-C: `interrupted` in their outcome is ignored.

    Raises
    ------
    MemoryLimitError
        When the limit is passed before it begins, or would be by what it is about to build.
    """
    memory, own = token.memory, token.child(engine=name)
    if memory is None:
        return work(own), False
    if memory.left_bytes <= 0:
        memory.free()
    if memory.left_bytes <= 0:
        memory.note(name, f"not started: {_passed(memory)}")
        raise MemoryLimitError(_passed(memory))
    result: T | None = None
    reason = ""
    with memory.running(own):
        try:
            result = work(own)
        except MemoryError as error:
            reason = f"ended because it ran out of memory{_reason(error)}"
        except CancelledError:
            if token.is_cancelled or not own.is_cancelled:
                raise
    if not reason and own.is_cancelled and not token.is_cancelled:
        reason = f"stopped: {_passed(memory)}"
    if reason:
        memory.note(name, reason)
        memory.free()
    return result, bool(reason)


def _passed(memory: Memory) -> str:
    return f"the process passed its memory limit of {memory.limit_mb:,} MB"


def _reason(error: MemoryError) -> str:
    return f" ({str(error).splitlines()[0]})" if str(error) else ""


# Confirming proofs of CP-SAT or a MIP solver, by another engine or without presolve.
#
# Where `SolveState.confirm` is set, such a bound counts only once two engines prove it; here the
# second one runs.

CONFIRM_FROM = 2**31
"""Proofs are confirmed from this value of a term on, unless the user says otherwise."""

CONFIRM_MIP_FROM = 10**6
"""The same for engine ``milp``: HiGHS 1.13 was found wrong on rows that add up to 1.35e7."""

WITHOUT_PRESOLVE = " without presolve"
"""Added to the name of an engine that runs without presolve."""

CONFIRMING = "confirms what was proven"
"""The reason given for running an engine."""

SHARE = 0.5
"""Share of the remaining time for each confirming engine but the last."""

CONFIRMING_ENGINES = ("exhaustive", "cp-sat", "milp", "configurations")
"""Engines that confirm, in this order."""


def is_confirmation_due(problem: Problem, engine: str) -> bool:
    """Return whether some term can reach values at which the engine's solver was found wrong."""
    least = CONFIRM_MIP_FROM if engine == "milp" else CONFIRM_FROM
    return any(most >= least for most in largest_terms(problem))


def without_presolve(engine: Engine, problem: Problem, limits: Limits, reporter: Reporter) -> None:
    """Run `engine` again without presolve; what it proves counts as another engine's proof."""
    name = engine.name + WITHOUT_PRESOLVE
    reporter = reporter.by(name)
    plain = replace(limits, presolve=False)
    attempt(replace(engine, name=name), CONFIRMING, problem, plain, reporter.best(), reporter)


def _confirm_claim(
    state: SolveState, engine: Engine, limits: Limits, token: RunToken
) -> tuple[Engine, ...]:
    """Run other engines for a second proof of what `engine` claims; return those that ran.

    First `engine` itself runs without presolve, then the others, until everything is confirmed
    (the bounds of open terms, too), `token` is cancelled or time is up.
    """
    problem, reporter = state.problem, Reporter(state, engine.name, token=token)
    others = [
        configured(ENGINES[name], state.parameters)
        for name in CONFIRMING_ENGINES
        if name != engine.name
    ]
    others = [other for other in others if token.clock is None or other.takes_work]
    others = [other for other in others if other.supports(problem) is None]
    confirming: list[Engine] = []
    deadline = token.now() + limits.time_s
    for index, other in enumerate([None, *others]):
        left = deadline - token.now()
        if not state.has_unconfirmed or left <= 0 or token.is_cancelled:
            break
        share = 1.0 if index == len(others) else SHARE
        other_limits = replace(limits, time_s=share * left)
        if other is None:
            without_presolve(engine, problem, other_limits, reporter)
        else:
            attempt(
                other, CONFIRMING, problem, other_limits, reporter.best(), reporter.by(other.name)
            )
            confirming.append(other)
    return tuple(confirming)
