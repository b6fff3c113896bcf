"""Making certificates of results, and proving their bounds again by another engine."""

from __future__ import annotations

from fractions import Fraction
from importlib.metadata import version

from slotwise.models.certificates import Certificate, CertifiedProof, CertifiedTerm, placement_of
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.instance.placement import to_places
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.limited import wall_limit_s
from slotwise.solver.core.result import Limits, Result, Status
from slotwise.solver.verification.crosscheck import (
    Agreement,
    Claim,
    CrossCheck,
    crosscheck,
    engines_behind,
)


def certificate_of(
    problem: Problem, result: Result, check: CrossCheck | None = None
) -> Certificate:
    """Return the certificate of a result.

    Parameters
    ----------
    problem
        What was solved.
    result
        Its result; one without an answer cannot be certified.
    check
        A cross-check of the result, whose proofs are added; ``None`` = there was none.

    Raises
    ------
    InputError
        Without an answer, and for an answer to another problem: one without a placement is known
        as such by its terms alone.
    """
    if result.status is Status.UNKNOWN:
        raise InputError("has no answer to certify", field="status", value=str(result.status))
    expected, verdict = instance_hash(problem.instance), result.verdict
    is_other = tuple(term.term for term in result.objective) != problem.instance.objective.terms
    if is_other or (verdict and instance_hash(verdict.problem.instance) != expected):
        rule = f"must be of {problem.instance.name}; it is another instance's"
        raise InputError(rule, field="result", has_value=False)
    bounded = result.status is not Status.INFEASIBLE
    others = () if check is None or check.result is None else (check.result,)
    return Certificate(
        instance=expected,
        status=str(result.status),
        made_by=f"slotwise {version('slotwise')}",
        objective=tuple(
            CertifiedTerm(t.term, t.value, t.bound if bounded else None) for t in result.objective
        ),
        proofs=tuple(
            proof
            for answer in (result, *others)
            for proof in proofs_of(problem, answer, bounded=bounded)
        ),
        places=None if result.placement is None else to_places(problem.instance, result.placement),
    )


def proofs_of(
    problem: Problem, result: Result, *, bounded: bool | None = None
) -> tuple[CertifiedProof, ...]:
    """Return the proofs of `result`, without bounds where there is no placement.

    `bounded` says whether there is a placement; ``None`` = as in the result. Where work limited the
    search, the time limit is its safety limit.
    """
    bounded = result.status is not Status.INFEASIBLE if bounded is None else bounded
    limits = result.limits
    seconds = wall_limit_s(limits.time_s) if limits.by_work else limits.time_s
    return tuple(
        CertifiedProof(
            engine=proof.engine,
            version=proof.version,
            time_limit_s=Fraction(str(seconds)),
            workers=limits.workers,
            seed=limits.seed,
            how=proof.how,
            bounds=tuple(
                None if bound is None or not bounded else bound * term.unit
                for bound, term in zip(proof.bounds, problem.terms, strict=True)
            ),
        )
        for proof in result.proofs
    )


def resolve(
    problem: Problem, certificate: Certificate, limits: Limits, *, engine: str | None = None
) -> CrossCheck:
    """Have an engine other than the certificate's search for anything below its bounds.

    The certificate must have been checked without a solver first (`findings`). Agreement means
    that the bounds hold; for a proven value, that nothing at least one quantum better exists.

    Raises
    ------
    InputError
        As `crosscheck` does.
    """
    values = tuple(term.value for term in certificate.objective)
    bounds = tuple(term.bound for term in certificate.objective)
    if certificate.places is not None and bounds[0] is None:
        return CrossCheck(Agreement.NOT_SETTLED, None, 0.0, "the certificate asserts no bound")
    claim = Claim(
        placement=placement_of(problem.instance, certificate),
        values=values,
        bounds=bounds,
        targets=bounds,
        engines=engines_behind(certificate.proofs),
    )
    return crosscheck(problem, claim, limits, engine=engine)
