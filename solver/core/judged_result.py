"""The result returned to users: values and bounds in their units, proofs and notes."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.infeasibility.statement import stated
from slotwise.models.judge.moves import judged_running
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Term
from slotwise.models.values import GAP_FLOOR
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.result import Limits, Outcome, Proof, Result, Status, TermResult
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.parameters import Parameters


def gap_of(outcome: Outcome, terms: Sequence[Term]) -> float | None:
    """(value - bound) / max(|value|, `GAP_FLOOR`) of the first term that is not proven."""
    if outcome.values is None:
        return None
    for value, bound, term in zip(outcome.values, outcome.bounds, terms, strict=True):
        if bound is None:
            return None
        if value != bound:
            return float((value - bound) * term.unit / max(abs(value) * term.unit, GAP_FLOOR))
    return 0.0


def _proofs(engines: tuple[Engine, ...], outcome: Outcome) -> tuple[Proof, ...]:
    """Return the engines' own proofs, or one joint proof where theirs do not imply the bounds."""
    best = [
        max((b for b in bounds if b is not None), default=None)
        for bounds in zip(*(proof.bounds for proof in outcome.proofs), strict=True)
    ]
    produced = all(
        bound is None or (own is not None and own >= bound)
        for bound, own in zip(outcome.bounds, best, strict=False)
    )
    if outcome.proofs and produced:
        return outcome.proofs
    name = "+".join(engine.name for engine in engines)
    return (Proof(name, _versions(engines), outcome.bounds, outcome.proof),)


def _versions(engines: tuple[Engine, ...]) -> str:
    """Return the versions of the packages that the engines use, each once."""
    versions = (one for engine in engines for one in engine.version().split(", "))
    return ", ".join(dict.fromkeys(versions))


def judged_result(
    state: SolveState,
    engines: tuple[Engine, ...],
    limits: Limits,
    outcome: Outcome,
    verdict: Verdict | None,
    seconds: float,
    notes: Sequence[str] = (),
) -> Result:
    """Return the user's result for an `outcome` that the judge has confirmed with `verdict`.

    `notes` are lines for people, in addition to those of `state`.
    """
    problem, why = state.problem, outcome.contradiction
    values = outcome.values or (None,) * len(problem.terms)
    return Result(
        status=outcome.status,
        objective=tuple(
            TermResult(
                term.name,
                None if value is None else value * term.unit,
                None if bound is None else bound * term.unit,
                kind,
            )
            for term, value, bound, kind in zip(
                problem.terms, values, outcome.bounds, _kinds(state, outcome), strict=True
            )
        ),
        gap=gap_of(outcome, problem.terms),
        placement=outcome.placement,
        verdict=verdict,
        running=judged_running(problem),
        contradiction=None if why is None else stated(problem, why),
        parameters=_parameters(state, engines),
        engine="+".join(engine.name for engine in engines),
        version=_versions(engines),
        seed=limits.seed,
        limits=limits,
        seconds=seconds,
        proof=outcome.proof,
        deterministic_work=outcome.deterministic_work,
        trace=outcome.trace,
        interrupted=outcome.interrupted,
        proofs=_proofs(engines, outcome),
        picked=tuple(state.picked),
        distrusted=state.trust.distrusted(),
        notes=(*notes, *state.notes),
        confirmed=state.confirm and outcome.status.settled,
    )


def _parameters(state: SolveState, engines: Sequence[Engine]) -> dict[str, Parameters]:
    """Return the parameters that the caller set and those of the engines that ran."""
    ran = [(pick.engine, pick.parameters) for pick in state.picked]
    ran += [(engine.name, engine.parameters) for engine in engines]
    return {**state.parameters, **{name: one for name, one in ran if one is not None}}


def _kinds(state: SolveState, outcome: Outcome) -> list[str | None]:
    """Return the kind of each bound."""
    pairs = zip(outcome.bounds, state.proofs(), strict=True)
    return [None if bound is None or one is None else one.kind for bound, one in pairs]


def contradiction(engine: str, outcome: Outcome, verdict: Verdict | None) -> str | None:
    """Return how the judge contradicts an engine's claim, with both numbers; ``None`` if not.

    `verdict` is that of the outcome's placement; ``None`` where it has none.
    """
    if verdict is None:
        needs_one = outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
        return f"{engine} says {outcome.status} without a placement" if needs_one else None
    if outcome.status is Status.INFEASIBLE:
        return f"{engine} says {outcome.status} with a placement"
    if verdict.violations:
        return f"{engine} returned an invalid placement: {verdict.violations[0]}"
    if outcome.values != verdict.scaled:
        return f"{engine} claims {outcome.values}; the judge finds {verdict.scaled}"
    for value, bound in zip(verdict.scaled, outcome.bounds, strict=True):
        if bound is not None and bound > value:
            return f"{engine} claims the bound {bound}; the judge finds {value}"
        if value != bound:
            break
    proven = outcome.bounds == verdict.scaled
    if proven != (outcome.status == Status.OPTIMAL):
        return (
            f"{engine} says {outcome.status} with values {verdict.scaled} "
            f"and bounds {outcome.bounds}"
        )
    return None
