"""One `solve` for every engine: compile, choose, run, judge."""

from __future__ import annotations

import math
import time

from slotwise.models.compile import compile_problem
from slotwise.models.errors import InputError, InternalError
from slotwise.models.instance import Instance
from slotwise.models.judge import judge
from slotwise.models.numbers import whole
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.auto import run_auto
from slotwise.solver.engine import Engine, NotTakenError, UntakenError
from slotwise.solver.engines import ENGINES
from slotwise.solver.result import Limits, Outcome, Proof, Result, Status, TermResult


def solve(
    instance: Instance | Problem,
    *,
    engine: str = "auto",
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    hint: Placement | None = None,
) -> Result:
    """Return the best placement found and what is proven about it.

    Parameters
    ----------
    instance
        What to place; a compiled problem is taken as it is.
    engine
        A name of `ENGINES`, or ``auto``.
    time_limit_s
        Wall-clock seconds, above 0; when they end, the incumbent and the bound are returned.
    workers
        Threads, 1 or more. With more than one the placement may differ between runs.
    seed
        0 or more.
    hint
        A placement of the instance to start from; it need not be valid.

    Raises
    ------
    InputError
        For an argument out of range, or an engine that does not take the instance.
    InternalError
        When the judge does not confirm the engine's claim.
    """
    started = time.perf_counter()
    limits = _limits(time_limit_s, workers, seed)
    problem = compile_problem(instance) if isinstance(instance, Instance) else instance
    if hint is not None:
        judge(problem, hint)
    engines, outcome = _run(engine, problem, limits, hint)
    _confirm(problem, " and ".join(e.name for e in engines), outcome)
    return _result(problem, engines, limits, outcome, time.perf_counter() - started)


def _limits(time_limit_s: float, workers: int, seed: int) -> Limits:
    if not 0 < time_limit_s < math.inf:
        raise InputError("must be a number above 0", field="time limit", value=time_limit_s)
    return Limits(
        time_s=float(time_limit_s),
        workers=whole(workers, "workers", least=1),
        seed=whole(seed, "seed"),
    )


def _run(
    name: str, problem: Problem, limits: Limits, hint: Placement | None
) -> tuple[tuple[Engine, ...], Outcome]:
    if name == "auto":
        return run_auto(problem, limits, hint)
    if name not in ENGINES:
        known = ", ".join(["auto", *ENGINES])
        raise InputError(f"must be one of {known}", field="engine", value=name)
    chosen = ENGINES[name]
    reason = chosen.supports(problem)
    if reason is not None:
        raise _not_taken(name, reason)
    try:
        return (chosen,), chosen.run(problem, limits, hint)
    except NotTakenError as error:
        raise _not_taken(name, str(error)) from error


def _not_taken(name: str, reason: str) -> UntakenError:
    rule = f"does not take this instance: {reason}; use auto or another engine"
    return UntakenError(rule, field="engine", value=name)


def _confirm(problem: Problem, engine: str, outcome: Outcome) -> None:
    """Compare the engine's claim with the judge's own sums."""
    if outcome.placement is None:
        return
    verdict = judge(problem, outcome.placement)
    if verdict.violations:
        raise InternalError(f"{engine} returned an invalid placement: {verdict.violations[0]}")
    if outcome.values != verdict.scaled:
        raise InternalError(f"{engine} claims {outcome.values}, the judge finds {verdict.scaled}")
    for value, bound in zip(verdict.scaled, outcome.bounds, strict=True):
        if bound is not None and bound > value:
            raise InternalError(f"{engine} claims the bound {bound}, the judge finds {value}")
        if value != bound:
            break
    proven = outcome.bounds == verdict.scaled
    if proven != (outcome.status == Status.OPTIMAL):
        raise InternalError(
            f"{engine} says {outcome.status} with values {verdict.scaled} "
            f"and bounds {outcome.bounds}"
        )


def _gap(outcome: Outcome) -> float | None:
    """(value - bound) / max(|value|, 1 step) of the first term that is not proven."""
    if outcome.values is None:
        return None
    for value, bound in zip(outcome.values, outcome.bounds, strict=True):
        if bound is None:
            return None
        if value != bound:
            return (value - bound) / max(abs(value), 1)
    return 0.0


def _proofs(engines: tuple[Engine, ...], outcome: Outcome) -> tuple[Proof, ...]:
    """Return the engines' own proofs; one for all of them where theirs do not make the bounds."""
    best = [
        max((b for b in bounds if b is not None), default=None)
        for bounds in zip(*(proof.bounds for proof in outcome.proofs), strict=True)
    ]
    made = all(
        bound is None or (own is not None and own >= bound)
        for bound, own in zip(outcome.bounds, best, strict=False)
    )
    if outcome.proofs and made:
        return outcome.proofs
    name = "+".join(engine.name for engine in engines)
    version = ", ".join(engine.version() for engine in engines)
    return (Proof(name, version, outcome.bounds, outcome.proof),)


def _result(
    problem: Problem,
    engines: tuple[Engine, ...],
    limits: Limits,
    outcome: Outcome,
    seconds: float,
) -> Result:
    values = outcome.values or (None,) * len(problem.terms)
    return Result(
        status=outcome.status,
        objective=tuple(
            TermResult(
                term.name,
                None if value is None else value * term.unit,
                None if bound is None else bound * term.unit,
            )
            for term, value, bound in zip(problem.terms, values, outcome.bounds, strict=True)
        ),
        gap=_gap(outcome),
        placement=outcome.placement,
        engine="+".join(engine.name for engine in engines),
        version=", ".join(engine.version() for engine in engines),
        seed=limits.seed,
        limits=limits,
        seconds=seconds,
        proof=outcome.proof,
        deterministic_work=outcome.deterministic_work,
        trace=outcome.trace,
        interrupted=outcome.interrupted,
        proofs=_proofs(engines, outcome),
    )
