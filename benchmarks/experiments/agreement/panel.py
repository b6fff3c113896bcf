"""Engines to compare: every one, the general way of columns alone, and ``auto``.

Engines are asked as users ask them, by `solve`, so that its own checks take part. One that settles
an instance (proves an optimum, or that there is none) must agree with all others that do, in the
status and in every term; its bounds must be its values, and the judge must find the same values.
One that ends early must have a valid placement, or none, and true bounds.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from slotwise.models.errors import InternalError
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.engine import COLUMNS
from slotwise.solver.core.not_taken import NotTakenError, UntakenError
from slotwise.solver.core.result import Limits, Outcome, Result, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve


@dataclass(frozen=True, slots=True)
class Answer:
    """What one engine said.

    Parameters
    ----------
    engine
        Its name.
    outcome
        Its claim; ``None`` where it did not take the instance, or failed.
    reason
        Why it did not take it; empty where it did.
    seconds
        Wall-clock time.
    fault
        Its internal error or exception; empty where there was none.
    """

    engine: str
    outcome: Outcome | None
    reason: str
    seconds: float
    fault: str = ""

    @property
    def settled(self) -> Outcome | None:
        """The outcome if it is a proof: an optimum, or that there is no placement."""
        if self.outcome and self.outcome.status.settled:
            return self.outcome
        return None


def disagreements(problem: Problem, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return every contradiction between the answers, or of one with the judge."""
    lines = [line for answer in answers for line in _own(problem, answer)]
    proofs = [(a.engine, a.settled) for a in answers if a.settled]
    for (name, first), (other, second) in pairwise(proofs):
        if (first.status, first.values) != (second.status, second.values):
            lines.append(
                f"{name} says {first.status} {first.values}, "
                f"{other} {second.status} {second.values}"
            )
    if proofs:
        lines += _against(proofs[0][1], (a for a in answers if a.outcome and not a.settled))
    return tuple(lines)


def _own(problem: Problem, answer: Answer) -> Iterable[str]:
    """Yield where a claim contradicts the judge or itself."""
    claim = answer.outcome
    if answer.fault:
        yield f"{answer.engine} fails: {answer.fault}"
    if claim is None:
        return
    if claim.status == Status.OPTIMAL and claim.bounds != claim.values:
        yield f"{answer.engine} says optimal with values {claim.values}, bounds {claim.bounds}"
    if (claim.placement is None) != (claim.status in (Status.INFEASIBLE, Status.UNKNOWN)):
        yield f"{answer.engine} says {claim.status} with the placement {claim.placement}"
    if claim.placement is not None:
        verdict = judge(problem, claim.placement)
        if verdict.violations:
            yield f"{answer.engine} breaks {verdict.violations[0]}"
        elif verdict.scaled != claim.values:
            yield f"{answer.engine} claims {claim.values}; the judge finds {verdict.scaled}"


def _against(truth: Outcome, answers: Iterable[Answer]) -> Iterable[str]:
    """Yield what unfinished answers say that cannot be."""
    for answer in answers:
        claim = answer.outcome
        if claim is None:
            continue
        if truth.values is None:
            if claim.placement is not None:
                yield f"{answer.engine} has a placement where there is none"
            continue
        for bound, best in zip(claim.bounds, truth.values, strict=True):
            if bound is not None and bound > best:
                yield f"{answer.engine} claims the bound {bound}, the optimum is {best}"
            if bound != best:
                break
        if claim.values is not None and claim.values < truth.values:
            yield f"{answer.engine} has {claim.values}, better than the optimum {truth.values}"


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
    except Exception:  # noqa: BLE001 (a fault, reported with the instance)
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
