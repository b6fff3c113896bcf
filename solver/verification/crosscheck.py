"""Having a second, different engine search for anything better than what is claimed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from slotwise.models.errors import InputError, InternalError
from slotwise.models.problem.problem import Problem
from slotwise.models.suggestion import suggestion
from slotwise.solver.core.ctrl_c import Presses, counted_presses
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Limits, Result
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve
from slotwise.solver.verification.claim import Agreement, Claim, agreement, reasons

FIRST_ASKED = ("exhaustive", "cp-sat", "milp", "configurations")
"""Engines that search most differently from the others come first; any other engine last."""

LEAST_S = 0.001
SHARE = 0.5
"""Of the time left, for an engine that is not the last one."""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The second engine's answer.

    Parameters
    ----------
    agreement
        See `Agreement`.
    result
        Of the engine that settled it, else of the last one asked; ``None`` = none was, or it
        contradicted itself.
    seconds
        Wall-clock time of all engines that were asked.
    reason
        One line for people.
    """

    agreement: Agreement
    result: Result | None
    seconds: float
    reason: str

    def __repr__(self) -> str:
        """One line: whether the engines agree, and why."""
        return f"CrossCheck: {self.agreement}: {self.reason}"

    def to_document(self) -> dict[str, object]:
        """Return JSON-ready data."""
        found = {} if self.result is None else self.result.to_document()
        keys = ("engine", "version", "objective", "seed", "notes")
        return {
            "agreement": str(self.agreement),
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
            **{key: found.get(key) for key in keys},
        }


def crosscheck(
    problem: Problem, claim: Claim, limits: Limits, *, engine: str | None = None
) -> CrossCheck:
    """Ask other engines than the claim's, one after the other, until one settles the question.

    Each starts from the claimed placement, so all it can find is something better.

    Parameters
    ----------
    problem
        What the claim is about.
    claim
        Its placement must be valid.
    limits
        Of all engines together.
    engine
        Ask this one only; ``None`` = any that is not behind the claim.

    Raises
    ------
    InputError
        When `engine` is unknown, behind the claim itself, or does not take the problem.
    """
    if engine is None:
        names = _candidates(problem, claim, limits.by_work)
    else:
        names = (_named(engine, claim),)
    with counted_presses() as presses:
        return _first_to_settle(problem, claim, limits, names, engine is not None, presses)


def _first_to_settle(
    problem: Problem,
    claim: Claim,
    limits: Limits,
    names: tuple[str, ...],
    must_take: bool,
    presses: Presses,
) -> CrossCheck:
    """Ask the engines `names` in turn, until Ctrl-C; `must_take` raises where one does not."""
    started, before = time.perf_counter(), presses.count
    last: Result | None = None
    units = limits.time_s
    for index, name in enumerate(names):
        left = units if limits.by_work else limits.time_s - (time.perf_counter() - started)
        if left <= 0 or presses.count > before:
            break
        share = left if index == len(names) - 1 else left * SHARE
        units -= share
        try:
            last = _ask(problem, claim, limits, name, share)
        except InternalError as error:
            seconds = time.perf_counter() - started
            return CrossCheck(Agreement.CONTRADICTED, None, seconds, str(error))
        except UntakenError:
            if must_take:
                raise
            continue
        said = agreement(claim, last)
        if said is not Agreement.NOT_SETTLED or last.interrupted:
            return _answer(said, claim, last, started)
    return _answer(Agreement.NOT_SETTLED, claim, last, started)


def _ask(problem: Problem, claim: Claim, limits: Limits, name: str, time_s: float) -> Result:
    return solve(
        problem,
        engine=name,
        time_limit_s=max(round(time_s, 3), LEAST_S),
        workers=limits.workers,
        seed=limits.seed,
        memory_limit_mb=limits.memory_mb,
        hint=claim.placement,
        confirm=False,  # it confirms the claim itself
        deterministic=limits.by_work,
    )


def _candidates(problem: Problem, claim: Claim, by_work: bool) -> tuple[str, ...]:
    order = (*FIRST_ASKED, *(name for name in ENGINES if name not in FIRST_ASKED))
    return tuple(
        name
        for name in order
        if name in ENGINES
        and name not in claim.engines
        and (ENGINES[name].takes_work or not by_work)
        and ENGINES[name].supports(problem) is None
    )


def _named(engine: str, claim: Claim) -> str:
    if engine not in ENGINES:
        raise InputError(
            f"is not an engine; {suggestion(engine, ENGINES)}", field="engine", value=engine
        )
    if engine in claim.engines:
        raise InputError("made the claim itself; name another engine", field="engine", value=engine)
    return engine


def _answer(said: Agreement, claim: Claim, found: Result | None, started: float) -> CrossCheck:
    seconds = time.perf_counter() - started
    return CrossCheck(said, found, seconds, "; ".join(reasons(said, claim, found)))
