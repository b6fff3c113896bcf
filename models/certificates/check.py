"""Checking a certificate without a solver: all that can be recomputed, which is not the bounds."""

from __future__ import annotations

from collections.abc import Iterator

from slotwise.models.certificates.certificate import Certificate, CertifiedProof
from slotwise.models.certificates.file import certificate_digest
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, from_places
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain


def findings(given: Instance | Problem, certificate: Certificate) -> tuple[str, ...]:
    """Return what is wrong with `certificate`, one line each; empty where nothing is.

    That the bounds hold is not among what is checked: only a search can tell. A bound that no
    engine claims, or that contradicts value or status, is found, and so is any change of the file
    after it was written, unless its digest was computed again.
    """
    return (*_digest(certificate), *_contents(given, certificate))


def _digest(certificate: Certificate) -> Iterator[str]:
    if certificate.digest not in (None, certificate_digest(certificate)):
        yield "digest: something was changed after the certificate was written"


def _contents(given: Instance | Problem, certificate: Certificate) -> tuple[str, ...]:
    instance = given if isinstance(given, Instance) else given.instance
    expected = instance_hash(instance)
    if certificate.instance != expected:
        return (f"instance: the certificate is for {certificate.instance}, this is {expected}",)
    terms = tuple(t.term for t in certificate.objective)
    if terms != instance.objective.terms:
        wanted = ", ".join(instance.objective.terms)
        return (f"objective: has the terms {', '.join(terms)}, the instance {wanted}",)
    return (*_placement(given, instance, certificate), *_status(certificate), *_bounds(certificate))


def placement_of(instance: Instance, certificate: Certificate) -> Placement | None:
    """Return the placement of a certificate; raise `InputError` where it is of something else."""
    return None if certificate.places is None else from_places(instance, certificate.places)


def _placement(
    given: Instance | Problem, instance: Instance, certificate: Certificate
) -> Iterator[str]:
    """Judge the placement and recompute its values."""
    try:
        placement = placement_of(instance, certificate)
    except InputError as error:
        yield f"placement: {error}"
        return
    if placement is None:
        return
    verdict = judge(given, placement)
    yield from (f"placement: {violation}" for violation in verdict.violations)
    for written, found in zip(certificate.objective, verdict.objective, strict=True):
        if written.value != found.value:
            said = "nothing" if written.value is None else plain(written.value)
            yield f"value of {written.term}: {said} written, {plain(found.value)} recomputed"


def _status(certificate: Certificate) -> Iterator[str]:
    """Optimal means that every bound equals its value."""
    proven = all(t.value is not None and t.value == t.bound for t in certificate.objective)
    if proven != (certificate.status == "optimal"):
        bounds = "equal" if proven else "do not equal"
        yield f"status: {certificate.status}, but the bounds {bounds} the values"


def _bounds(certificate: Certificate) -> Iterator[str]:
    """Bounds stand where they mean something, none above its value, each claimed by an engine."""
    if not certificate.proofs:
        yield "proofs: no engine asserts anything"
    if certificate.status == "infeasible":
        yield from _of_nothing(certificate)
        return
    proven = True
    for index, term in enumerate(certificate.objective):
        if term.bound is not None:
            if not proven:
                yield f"bound of {term.term}: {plain(term.bound)}, but a term before is not proven"
            if term.value is not None and term.bound > term.value:
                yield f"bound of {term.term}: {plain(term.bound)} is above the value"
            claimed = [b for p in certificate.proofs if (b := p.bounds[index]) is not None]
            if term.bound > max(claimed, default=-1):
                yield f"bound of {term.term}: no engine asserts {plain(term.bound)}"
        proven = proven and term.value == term.bound
    for index, proof in enumerate(certificate.proofs):
        yield from _contradicted(certificate, proof, f"proofs[{index}].bounds")


def _contradicted(certificate: Certificate, proof: CertifiedProof, where: str) -> Iterator[str]:
    """Find the bound of one engine that the placement shows to be wrong."""
    for term, bound in zip(certificate.objective, proof.bounds, strict=True):
        if bound is not None and term.value is not None and bound > term.value:
            yield f"{where}: {proof.engine} asserts {term.term} {plain(bound)}, above the value"
        if bound != term.value:
            return  # what follows holds given another value of this term


def _of_nothing(certificate: Certificate) -> Iterator[str]:
    """Where no placement exists, there is nothing that could have a value or a bound."""
    for term in certificate.objective:
        for what, number in (("value", term.value), ("bound", term.bound)):
            if number is not None:
                yield f"{what} of {term.term}: {plain(number)}, but no placement to have it"
    for index, proof in enumerate(certificate.proofs):
        if any(bound is not None for bound in proof.bounds):
            yield f"proofs[{index}].bounds: {proof.engine} bounds what has no placement"
