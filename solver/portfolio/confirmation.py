"""Confirming what CP-SAT or a MIP solver proved, by another engine or without presolve.

`SolveState` counts such a bound only once two of them prove it where its `confirm` is set; here the
second one is asked.
"""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.problem.magnitudes import largest_terms
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine, configured
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.engines import ENGINES
from slotwise.solver.portfolio.attempt import attempt

DUE_FROM = 2**31
"""From such values of a term on proofs are confirmed unless the user says otherwise."""

DUE_FROM_MIP = 10**6
"""The same for engine ``milp``: HiGHS 1.13 was found wrong on rows that add up to 1.35e7."""

WITHOUT_PRESOLVE = " without presolve"
"""Added to the name of an engine that runs without presolve."""

CONFIRMING = "confirms what was proven"
"""Why an engine runs."""

SHARE = 0.5
"""Of the time left, for each but the last to be asked."""

ASKED = ("exhaustive", "cp-sat", "milp", "configurations")
"""Other engines that are asked, in this order."""


def is_confirmation_due(problem: Problem, engine: str) -> bool:
    """Return whether some term can reach values at which the engine's solver was found wrong."""
    due_from = DUE_FROM_MIP if engine == "milp" else DUE_FROM
    return any(most >= due_from for most in largest_terms(problem))


def without_presolve(engine: Engine, problem: Problem, limits: Limits, reporter: Reporter) -> None:
    """Run `engine` again without presolve; what it proves counts as another engine's proof."""
    name = engine.name + WITHOUT_PRESOLVE
    reporter = reporter.by(name)
    plain = replace(limits, presolve=False)
    attempt(replace(engine, name=name), CONFIRMING, problem, plain, reporter.best(), reporter)


def confirm_claim(
    known: SolveState, engine: Engine, limits: Limits, token: RunToken
) -> tuple[Engine, ...]:
    """Ask for a second proof of what `engine` claims; return who was asked besides.

    Until all is confirmed, the bounds of open terms too, `token` is cancelled, or time is up: first
    `engine` itself without presolve, then others.
    """
    problem, reporter = known.problem, Reporter(known, engine.name, token=token)
    others = [configured(ENGINES[name], known.parameters) for name in ASKED if name != engine.name]
    others = [other for other in others if token.clock is None or other.takes_work]
    others = [other for other in others if other.supports(problem) is None]
    asked: list[Engine] = []
    deadline = token.now() + limits.time_s
    for index, other in enumerate([None, *others]):
        left = deadline - token.now()
        if not known.has_unconfirmed or left <= 0 or token.is_cancelled:
            break
        share = 1.0 if index == len(others) else SHARE
        within = replace(limits, time_s=share * left)
        if other is None:
            without_presolve(engine, problem, within, reporter)
        else:
            attempt(other, CONFIRMING, problem, within, reporter.best(), reporter.by(other.name))
            asked.append(other)
    return tuple(asked)
