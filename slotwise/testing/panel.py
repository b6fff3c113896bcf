"""Whom to ask for a proof: every engine, the general way of columns alone, and ``auto``.

Engines are asked as users ask them, by `solve`, so that its own checks take part.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from functools import partial

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.engine import COLUMNS
from slotwise.solver.core.not_taken import NotTakenError, UntakenError
from slotwise.solver.core.result import Limits, Outcome, Result
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve
from slotwise.testing.agreement import Answer

Ask = Callable[[Problem, Limits], Outcome]
"""Returns a claim; raises `NotTakenError`, or `UntakenError` where that is seen while it runs."""


def by_solve(engine: str, workers: int, problem: Problem, limits: Limits) -> Outcome:
    """Return what `solve` says, in integer steps.

    Raises
    ------
    NotTakenError
        When the engine does not take the problem.
    """
    reason = ENGINES[engine].supports(problem) if engine in ENGINES else None
    if reason is not None:
        raise NotTakenError(reason)
    result = solve(
        problem, engine=engine, time_limit_s=limits.time_s, workers=workers, seed=limits.seed
    )
    return outcome_of(problem, result)


def by_columns(problem: Problem, limits: Limits) -> Outcome:
    """Return what the general way of ``configurations`` says where it runs alone."""
    reason = COLUMNS.supports(problem)
    if reason is not None:
        raise NotTakenError(reason)
    return COLUMNS.run(problem, limits, None)


PANEL: dict[str, Ask] = {
    "exhaustive": partial(by_solve, "exhaustive", 1),
    **{name: partial(by_solve, name, 1) for name in ENGINES if name != "exhaustive"},
    "columns": by_columns,
    "auto": partial(by_solve, "auto", 1),
    "auto-2": partial(by_solve, "auto", 2),
}
"""The ground truth first. ``auto-2`` is ``auto`` with two workers."""


def ask(name: str, problem: Problem, limits: Limits) -> Answer:
    """Return the answer of one of `PANEL`; whatever it raises is a fault of its own."""
    started = time.perf_counter()
    outcome: Outcome | None = None
    reason = fault = ""
    try:
        outcome = PANEL[name](problem, limits)
    except (NotTakenError, UntakenError) as error:
        reason = str(error.__cause__ or error)
    except InternalError as error:
        fault = f"internal error: {error}"
    except Exception:  # noqa: BLE001 (a fault, told with the instance)
        fault = " | ".join(traceback.format_exc().strip().splitlines()[-3:])
    return Answer(name, outcome, reason, time.perf_counter() - started, fault)


def outcome_of(problem: Problem, result: Result) -> Outcome:
    """Return a result as the claim that it was made from."""
    terms = list(zip(problem.terms, result.objective, strict=True))
    values = [None if got.value is None else int(got.value / term.unit) for term, got in terms]
    bounds = tuple(None if got.bound is None else int(got.bound / term.unit) for term, got in terms)
    return Outcome(
        status=result.status,
        placement=result.placement,
        values=None if result.placement is None else tuple(v for v in values if v is not None),
        bounds=bounds,
        proof=result.proof,
    )
