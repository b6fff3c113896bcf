"""What several exact engines say of one instance, and whether they agree.

An engine that settles an instance (proves an optimum, or that there is none) must agree with all
others that do, in the status and in every term; its bounds must be its values, and the judge must
find the same values. One that ends early must have a valid placement, or none, and true bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Outcome, Status


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
        if self.outcome and self.outcome.status in (Status.OPTIMAL, Status.INFEASIBLE):
            return self.outcome
        return None


def disagreements(problem: Problem, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return every contradiction between the answers, or of one with the judge."""
    found = [line for answer in answers for line in _own(problem, answer)]
    proofs = [(a.engine, a.settled) for a in answers if a.settled]
    for (one, first), (other, second) in pairwise(proofs):
        if (first.status, first.values) != (second.status, second.values):
            found.append(
                f"{one} says {first.status} {first.values}, {other} {second.status} {second.values}"
            )
    if proofs:
        found += _against(proofs[0][1], (a for a in answers if a.outcome and not a.settled))
    return tuple(found)


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
