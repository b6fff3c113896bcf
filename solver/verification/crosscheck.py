"""Having a second, different engine search for anything better than what is claimed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from slotwise.models.errors import InputError, InternalError, suggestion
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import short_text
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Limits, Result, Status, TermResult
from slotwise.solver.core.supervision import Presses, counted_presses
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve

# A claim about a problem, and what another engine's result says about it.

Amounts = tuple[Fraction | None, ...]


class Agreement(StrEnum):
    """The outcome of the cross-check."""

    AGREED = "agreed"
    """The second engine proves that nothing is at least one quantum better than the claim."""
    BETTER = "better"
    """It found something better; the claim did not say that there is nothing."""
    CONTRADICTED = "contradicted"
    """It found what the claim excludes: one of the two engines is wrong."""
    NOT_SETTLED = "not settled"
    """The second engine did not finish, or no other engine takes the instance."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is checked.

    Parameters
    ----------
    placement
        A valid placement; ``None`` = it is claimed that there is none.
    values
        Its value per term; ``None`` each where there is no placement.
    bounds
        Claimed lower bound per term, as in `Result`.
    targets
        What the second engine has to prove as bounds: the values (is anything better?) or the
        bounds (do they hold?). Terms after the first whose target is below its value, or
        ``None``, are not checked.
    engines
        Names of the engines behind the claim; none of them checks it.
    """

    placement: Placement | None
    values: Amounts
    bounds: Amounts
    targets: Amounts
    engines: tuple[str, ...]


class SaysBounds(Protocol):
    """A proof, of a result or of a certificate."""

    @property
    def engine(self) -> str:
        """Name of the engine."""
        ...

    @property
    def bounds(self) -> Sequence[object]:
        """Its own bound of each term; ``None`` where it proved nothing."""
        ...


def engines_behind(proofs: Sequence[SaysBounds]) -> tuple[str, ...]:
    """Return the engines that proved some bound; all that ran where none did."""
    some = [proof for proof in proofs if any(bound is not None for bound in proof.bounds)]
    names = (name for proof in some or proofs for name in proof.engine.split("+"))
    return tuple(dict.fromkeys(names))


def claim_of(result: Result) -> Claim:
    """Return the claim that nothing is better than `result`."""
    values = tuple(term.value for term in result.objective)
    return Claim(
        placement=result.placement,
        values=values,
        bounds=tuple(term.bound for term in result.objective),
        targets=values,
        engines=engines_behind(result.proofs),
    )


def agreement(claim: Claim, result: Result) -> Agreement:
    """Return what `result`, of a solve from the claimed placement, says about `claim`."""
    if claim.placement is None:
        settled = {Status.INFEASIBLE: Agreement.AGREED, Status.UNKNOWN: Agreement.NOT_SETTLED}
        return settled.get(result.status, Agreement.CONTRADICTED)
    if result.status is Status.INFEASIBLE or _below_bounds(claim, result.objective):
        return Agreement.CONTRADICTED
    if _targets_proven(claim, result.objective):
        return Agreement.AGREED
    for claimed, term in zip(claim.values, result.objective, strict=True):
        if term.value != claimed:
            return Agreement.BETTER
    return Agreement.NOT_SETTLED


def _below_bounds(claim: Claim, terms: tuple[TermResult, ...]) -> bool:
    """Return whether a value was found below its claimed bound, the terms before it as claimed."""
    for value, bound, term in zip(claim.values, claim.bounds, terms, strict=True):
        if bound is None or term.value is None:
            return False
        if term.value < bound:
            return True
        if bound != value or term.value != value:
            return False
    return False


def _targets_proven(claim: Claim, terms: tuple[TermResult, ...]) -> bool:
    for value, target, term in zip(claim.values, claim.targets, terms, strict=True):
        if target is None:
            return True
        if term.bound is None or term.bound < target:
            return False
        if target != value:
            return True
    return True


def reasons(agreement: Agreement, claim: Claim, result: Result | None) -> Iterator[str]:
    """Yield the reasons of an agreement, as texts."""
    by = " and ".join(claim.engines)
    if result is None:
        yield f"no engine other than {by} takes the instance"
        return
    if agreement is Agreement.AGREED:
        if claim.placement is None:
            what = "no placement keeps all hard rules"
        else:
            what = "nothing better" if claim.targets == claim.values else "the bounds hold"
        yield f"{result.engine} proves it too: {what}"
    elif agreement is Agreement.NOT_SETTLED:
        yield f"{result.engine} did not finish within its limit"
        yield from result.notes
    elif result.placement is None or claim.placement is None:
        yield f"{result.engine} says {result.status}, {by} says otherwise"
    for claimed, bound, term in zip(claim.values, claim.bounds, result.objective, strict=True):
        if claimed != term.value and claimed is not None and term.value is not None:
            bound_text = "" if bound is None else f" and bound {short_text(bound)}"
            yield (
                f"{result.engine} finds {term.term} {short_text(term.value)}, "
                f"{by} claims {short_text(claimed)}{bound_text}"
            )
            return


FIRST_ASKED = ("exhaustive", "cp-sat", "milp", "configurations")
"""Engines that search most differently from the others come first; any other engine last."""

LEAST_S = 0.001
SHARE = 0.5
"""Share of the time left for each engine but the last."""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The result of a cross-check.

    Parameters
    ----------
    agreement
        See `Agreement`.
    result
        Of the engine that settled it, else of the last one that ran; ``None`` = none ran, or it
        contradicted itself.
    seconds
        Wall-clock time of all engines that ran.
    reason
        One line of text.
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
        document = {} if self.result is None else self.result.to_document()
        keys = ("engine", "version", "objective", "seed", "notes")
        return {
            "agreement": str(self.agreement),
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
            **{key: document.get(key) for key in keys},
        }


def crosscheck(
    problem: Problem, claim: Claim, limits: Limits, *, engine: str | None = None
) -> CrossCheck:
    """Run engines other than the claim's, one after the other, until one settles the question.

    Each starts from the claimed placement, so that it can only find something better.

    Parameters
    ----------
    problem
        The problem of the claim.
    claim
        Its placement must be valid.
    limits
        Of all engines together.
    engine
        Run this one only; ``None`` = any that is not behind the claim.

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
    """Run the engines `names` in turn, until Ctrl-C; with `must_take`, raise if one declines."""
    started = time.perf_counter()
    last: Result | None = None
    units = limits.time_s
    for index, name in enumerate(names):
        left = units if limits.by_work else limits.time_s - (time.perf_counter() - started)
        if left <= 0 or presses.count:
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
        verdict = agreement(claim, last)
        if verdict is not Agreement.NOT_SETTLED or last.interrupted:
            return _answer(verdict, claim, last, started)
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


def _answer(verdict: Agreement, claim: Claim, result: Result | None, started: float) -> CrossCheck:
    seconds = time.perf_counter() - started
    return CrossCheck(verdict, result, seconds, "; ".join(reasons(verdict, claim, result)))


# Engines that are different enough from those behind a proof to confirm it.

FAMILY = {
    "configurations": "column generation",
    "connected": "column generation",
    "partition": "column generation",
    "rack-cut": "column generation",
    "few-moves": "tables of changes",
    "orphans": "CP-SAT",
    "cp-sat": "CP-SAT",
    "milp": "mixed-integer programming",
    "subset-dp": "assignment",
    "dual-ascent": "assignment",
    "exhaustive": "enumeration",
}
"""Engine -> its family: engines of a family share code, so they may share a mistake."""

ORDER = (
    *("exhaustive", "cp-sat", "configurations", "connected", "partition", "few-moves"),
    "orphans",
    *("milp", "subset-dp", "dual-ascent"),
)
"""The order in which engines are tried: the simplest first, then those that prove most often."""


def second_engines(
    problem: Problem, behind: Iterable[str], *, by_work: bool = False
) -> tuple[str, ...]:
    """Return the engines that take `problem` and are of no family of those `behind` a proof.

    The best choice first; `by_work` leaves out engines that only seconds can limit. Names that are
    not those of engines, for example of first placements, belong to no family.
    """
    families = {FAMILY[name] for name in behind if name in FAMILY}
    return tuple(
        name
        for name in ORDER
        if FAMILY[name] not in families
        and (ENGINES[name].takes_work or not by_work)
        and ENGINES[name].supports(problem) is None
    )
