"""What is claimed of a problem, and what another engine's result says about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from slotwise.models.instance.placement import Placement
from slotwise.models.number_text import short_text
from slotwise.solver.core.result import Result, Status, TermResult

Amounts = tuple[Fraction | None, ...]


class Agreement(StrEnum):
    """What the second engine says."""

    AGREED = "agreed"
    """It proves that nothing is at least one quantum better than what is claimed."""
    BETTER = "better"
    """It found something better; the claim did not say that there is nothing."""
    CONTRADICTED = "contradicted"
    """It found what the claim says there is not: one of the two engines is wrong."""
    NOT_SETTLED = "not settled"
    """It did not finish within its limit, or no other engine takes the instance."""


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
        ``None``, are not asked.
    engines
        Names of the engines behind the claim; none of them is asked unless it is named.
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


def agreement(claim: Claim, found: Result) -> Agreement:
    """Return what `found`, started from the claimed placement, says about `claim`."""
    if claim.placement is None:
        settled = {Status.INFEASIBLE: Agreement.AGREED, Status.UNKNOWN: Agreement.NOT_SETTLED}
        return settled.get(found.status, Agreement.CONTRADICTED)
    if found.status is Status.INFEASIBLE or _below_bounds(claim, found.objective):
        return Agreement.CONTRADICTED
    if _targets_proven(claim, found.objective):
        return Agreement.AGREED
    for claimed, term in zip(claim.values, found.objective, strict=True):
        if term.value != claimed:
            return Agreement.BETTER
    return Agreement.NOT_SETTLED


def _below_bounds(claim: Claim, found: tuple[TermResult, ...]) -> bool:
    """Return whether a value was found below its claimed bound, the terms before it as claimed."""
    for value, bound, term in zip(claim.values, claim.bounds, found, strict=True):
        if bound is None or term.value is None:
            return False
        if term.value < bound:
            return True
        if bound != value or term.value != value:
            return False
    return False


def _targets_proven(claim: Claim, found: tuple[TermResult, ...]) -> bool:
    for value, target, term in zip(claim.values, claim.targets, found, strict=True):
        if target is None:
            return True
        if term.bound is None or term.bound < target:
            return False
        if target != value:
            return True
    return True


def reasons(agreement: Agreement, claim: Claim, found: Result | None) -> Iterator[str]:
    """Yield what to tell people about an agreement."""
    by = " and ".join(claim.engines)
    if found is None:
        yield f"no engine other than {by} takes the instance"
        return
    if agreement is Agreement.AGREED:
        what = "no placement keeps all hard rules" if claim.placement is None else "nothing better"
        yield f"{found.engine} proves it too: {what}"
    elif agreement is Agreement.NOT_SETTLED:
        yield f"{found.engine} did not finish within its limit"
        yield from found.notes
    elif found.placement is None or claim.placement is None:
        yield f"{found.engine} says {found.status}, {by} says otherwise"
    for claimed, bound, term in zip(claim.values, claim.bounds, found.objective, strict=True):
        if claimed != term.value and claimed is not None and term.value is not None:
            said = "" if bound is None else f" and bound {short_text(bound)}"
            yield (
                f"{found.engine} finds {term.term} {short_text(term.value)}, "
                f"{by} claims {short_text(claimed)}{said}"
            )
            return
