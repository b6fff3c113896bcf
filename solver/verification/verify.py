"""Verifying a certificate: without a solver, or with one that resolves its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slotwise.models.certificates import Certificate, findings
from slotwise.models.display import block
from slotwise.models.infeasibility.contradictions import holds
from slotwise.models.infeasibility.statement import Statement, stated
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compiled
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain, short_text
from slotwise.solver.contradictions import find_contradiction

if TYPE_CHECKING:
    from slotwise.solver.verification.crosscheck import CrossCheck


@dataclass(frozen=True, slots=True)
class Verified:
    """What ``verify`` found.

    Parameters
    ----------
    certificate
        What was verified.
    findings
        What is wrong with it; empty where nothing is.
    check
        The other engine's answer; ``None`` = none was asked.
    contradiction
        Why there is no placement, proven again without a solver; ``None`` where there is one, or
        where no contradiction is at hand.
    """

    certificate: Certificate
    findings: tuple[str, ...]
    check: CrossCheck | None
    contradiction: Statement | None = None

    @property
    def status(self) -> str:
        """``failed``, ``not settled``, ``verified`` or ``placement verified``."""
        if self.findings:
            return "failed"
        if self.contradiction is not None:
            return "verified"
        if self.check is None:
            return "placement verified"
        return "verified" if self.check.agreement == "agreed" else "not settled"

    def __repr__(self) -> str:
        """Return what `lines` says, in at most five lines."""
        first, *others = self.lines()
        return block(f"Verified: {first}", [line.strip() for line in others])

    @property
    def reproven(self) -> str:
        """What was proven again without a solver, in words."""
        if self.contradiction is not None:
            why = self.contradiction.text.removesuffix(".")
            return f"no placement keeps every hard rule ({why})"
        if self.certificate.places is None:
            return "the certificate is unchanged and of this instance"
        values = ", ".join(f"{t.term} {short_text(t.value)}" for t in self.certificate.objective)
        return f"the placement keeps every hard rule and has {values}"

    @property
    def on_trust(self) -> tuple[str, ...]:
        """What rests on the word of the engines that assert it, one claim each, in words.

        A bound of 0 does not: no term is ever below.
        """
        if self.contradiction is not None:
            return ()
        if self.certificate.places is None:
            return ("no placement keeps every hard rule",)
        return tuple(
            f"{t.term} is at least {short_text(t.bound)}"
            for t in self.certificate.objective
            if t.bound
        )

    def lines(self) -> list[str]:
        """Return what to tell people: at first what is re-proven, and what is taken on trust."""
        if self.status == "failed":
            return ["verification failed:", *(f"  {line}" for line in self.findings)]
        proven = f"re-proven without a solver: {self.reproven}"
        if self.check is not None and self.status == "verified":
            return [f"verified: {proven}; {self.check.reason}"]
        trusted = "nothing"
        if self.on_trust:
            trusted = f"{', '.join(self.on_trust)}; so say {self.certificate.asserted_by()}"
        first = f"{proven}; on trust: {trusted}"
        if self.check is not None:
            return [f"{first}; not settled: {self.check.reason}"]
        return [f"{first}; --resolve lets another engine check it" if self.on_trust else first]

    def to_document(self) -> dict[str, Any]:
        """Return what ``verify --json`` prints."""
        return {
            "status": self.status,
            "findings": list(self.findings),
            "instance": self.certificate.instance,
            "claimed": self.certificate.status,
            "objective": [
                {
                    "term": t.term,
                    "value": None if t.value is None else plain(t.value),
                    "bound": None if t.bound is None else plain(t.bound),
                }
                for t in self.certificate.objective
            ],
            "asserted_by": [
                {"engine": proof.engine, "version": proof.version}
                for proof in self.certificate.proofs
            ],
            "reproven": self.reproven if self.status != "failed" else None,
            "on_trust": list(self.on_trust),
            "resolve": None if self.check is None else self.check.to_document(),
        }


def verify(
    instance: Instance | Problem,
    certificate: Certificate,
    *,
    resolve: bool = False,
    engine: str | None = None,
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
) -> Verified:
    """Check a certificate of `instance`.

    Parameters
    ----------
    instance, certificate
        What is claimed, of what; a compiled problem is taken as it is.
    resolve
        Also have another engine search for anything below the certificate's bounds. Without it
        no solver is loaded, and the bounds stay asserted; so does infeasibility, unless
        a contradiction is at hand.
    engine
        That engine; ``None`` = any that takes the instance and is not behind the certificate.
    time_limit_s, workers, seed, memory_limit_mb
        For the other engine, as in `solve`.
    """
    wrong = findings(instance, certificate)
    if wrong:
        return Verified(certificate, wrong, None)
    why = None if certificate.places is not None else _contradiction(compiled(instance))
    if not resolve:
        return Verified(certificate, (), None, why)
    from slotwise.solver.core.result import Limits
    from slotwise.solver.verification.certify import resolve as resolved

    limits = Limits(time_limit_s, workers, seed, memory_mb=memory_limit_mb)
    check = resolved(compiled(instance), certificate, limits, engine=engine)
    wrong = (f"bound: {check.reason}",) if check.agreement == "contradicted" else ()
    return Verified(certificate, wrong, check, why)


def _contradiction(problem: Problem) -> Statement | None:
    """Return why `problem` has no placement, where counting shows it."""
    contradiction = find_contradiction(problem)
    if contradiction is None or not holds(problem, contradiction):
        return None
    return stated(problem, contradiction)
