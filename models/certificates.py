"""Certificates: a placement, the claims about it, and the engines behind each claim.

A certificate is a file with the hash of an instance, a placement, and value and bound of every term
with the engine, version and parameters behind each bound. `findings` recomputes without a solver
all that can be recomputed, which is everything but the bounds; having another engine search for
anything better is `solver.verification`. A digest shows accidental changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from slotwise.models.display import block
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.formats.text import read_data, write_data
from slotwise.models.formats.validation import check_format, validated
from slotwise.models.instance.instance import Instance, Running
from slotwise.models.instance.placement import Placement, from_places
from slotwise.models.judge.judge import judge
from slotwise.models.nouns import (
    REQUIRED,
    Amount,
    FromFile,
    Name,
    Noun,
    Positive,
    Whole,
    check_fields,
    choice,
)
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain, short_text

# A certificate: a placement, the claims about it, and the engines that make them.

STATUSES = ("optimal", "feasible", "infeasible")
"""Statuses that can be certified; a search without an answer cannot."""


Value = Annotated[Fraction, FromFile(Amount, Fraction)]


@dataclass(frozen=True, slots=True)
class CertifiedTerm(Noun):
    """Value and bound of a term; ``None`` where there is none.

    Parameters
    ----------
    term
        Name of the term, as in the instance.
    value
        Cost of the placement, in the user's unit; ``None`` = there is no placement.
    bound
        Lower bound given that all terms before are at their values; ``None`` = nothing is proven.
    """

    term: Name
    value: Value | None
    bound: Value | None


@dataclass(frozen=True, slots=True)
class ParametersFile(Noun):
    """Parameters of an engine's run.

    Parameters
    ----------
    time_limit_s
        Wall-clock limit, seconds.
    workers
        Threads, 1 or more.
    seed
        Seed of its random choices, 0 or more.
    """

    time_limit_s: Value
    workers: Positive
    seed: Whole


@dataclass(frozen=True, slots=True)
class ProofFile(Noun):
    """The claim of one engine, in a file.

    Parameters
    ----------
    engine
        Name of the engine.
    version
        Version of the solver behind it.
    parameters
        Parameters of its run.
    how
        How it proved its bounds, in words.
    bounds
        Its own bound of each term, in the user's unit; ``None`` = it proved nothing.
    """

    engine: Name
    version: str
    parameters: ParametersFile
    how: str
    bounds: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class CertifiedProof(Noun):
    """The proof that one engine claims.

    Parameters
    ----------
    engine, version
        Which engine, and which version of the solver behind it.
    time_limit_s, workers, seed
        Its parameters: wall-clock seconds, threads, seed of its random choices.
    how
        How it proved its bounds, in words.
    bounds
        Its own bound of each term in the user's unit; ``None`` where it proved nothing.
    """

    engine: str
    version: str
    time_limit_s: Fraction
    workers: int
    seed: int
    how: str
    bounds: tuple[Fraction | None, ...]

    @classmethod
    def of(cls, file: ProofFile) -> CertifiedProof:
        """Return the proof of a file."""
        called = file.parameters
        return cls(
            file.engine,
            file.version,
            called.time_limit_s,
            called.workers,
            called.seed,
            file.how,
            file.bounds,
        )

    def to_document(self) -> dict[str, Any]:
        """Return the data of a file."""
        called = ParametersFile(self.time_limit_s, self.workers, self.seed)
        return ProofFile(self.engine, self.version, called, self.how, self.bounds).to_document()


@dataclass(frozen=True, slots=True)
class Certificate(Noun):
    """A claim about one instance.

    Parameters
    ----------
    instance
        Hash of the instance, ``sha256:...``.
    status
        ``optimal``: values equal bounds; ``feasible``: not proven best; ``infeasible``: proven that
        there is no placement.
    made_by
        Program and version that wrote it.
    objective
        One entry per term, in order.
    proofs
        One entry per engine.
    places
        Topology -> ``component[index]`` -> place; ``None`` = infeasible.
    digest
        Hash of all the rest, ``sha256:...``, no signature; files must have it. ``None`` = it was
        made in Python.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> result = slotwise.solve(instance, engine="exhaustive")
    >>> slotwise.certify(instance, result).asserted_by().partition(" ")[0]
    'exhaustive'
    """

    FORMAT = "slotwise.certificate/1"

    instance: Name
    status: Annotated[str, choice(STATUSES)]
    made_by: Name
    objective: tuple[CertifiedTerm, ...]
    proofs: tuple[Annotated[CertifiedProof, FromFile(ProofFile, CertifiedProof.of)], ...]
    places: Running | None = field(metadata={"alias": "placement"})
    digest: Annotated[str | None, FromFile(Name, str)] = field(
        default=None, compare=False, metadata=REQUIRED
    )

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        check_fields(self)
        if (self.places is None) != (self.status == "infeasible"):
            raise InputError(
                "has no placement when infeasible, and one otherwise",
                field="status",
                value=self.status,
            )
        for index, proof in enumerate(self.proofs):
            if len(proof.bounds) != len(self.objective):
                raise InputError(
                    f"must have one entry per term (there are {len(self.objective)})",
                    field=f"proofs[{index}].bounds",
                    value=f"{len(proof.bounds)} entries",
                )

    def __repr__(self) -> str:
        """Two lines: the instance, the claims, and the engines behind them."""
        claims = ", ".join(
            f"{one.term} {short_text(one.value)} (bound {short_text(one.bound)})"
            for one in self.objective
        )
        head = f"Certificate of {self.instance[:19]}...: {self.status}; {claims}"
        return block(head, [f"asserted by {self.asserted_by()}"])

    def asserted_by(self) -> str:
        """Return the engines that assert the bounds, with their versions."""
        return " and ".join(f"{proof.engine} ({proof.version})" for proof in self.proofs)


# Checking a certificate without a solver: all that can be recomputed, which is not the bounds.


def findings(given: Instance | Problem, certificate: Certificate) -> tuple[str, ...]:
    """Return what is wrong with `certificate`, one line each; empty where nothing is.

    That the bounds hold is not among what is checked: only a search can tell. A bound that no
    engine claims, or that contradicts value or status, is found, and so is any change of the file
    after it was written, unless its digest was computed again.
    """
    return (*_digest_findings(certificate), *_contents(given, certificate))


def _digest_findings(certificate: Certificate) -> Iterator[str]:
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
    for written, recomputed in zip(certificate.objective, verdict.objective, strict=True):
        if written.value != recomputed.value:
            value = "nothing" if written.value is None else plain(written.value)
            yield f"value of {written.term}: {value} written, {plain(recomputed.value)} recomputed"


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


# Reading and writing certificates.


def read_certificate(source: str | Path) -> Certificate:
    """Read a certificate, in JSON or YAML; ``-`` = stdin. Nothing in it is checked against facts.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    data, file = read_data(source)
    with in_file(file):
        return certificate_from_data(data)


def certificate_from_data(data: Any) -> Certificate:
    """Return the certificate in the data of a file."""
    check_format(data, Certificate.FORMAT)
    return validated(Certificate, data)


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """Return the data of a certificate's file, its digest computed; numbers are exact."""
    document = _document(certificate)
    return document | {"digest": _digest(document)}


def certificate_digest(certificate: Certificate) -> str:
    """Return ``sha256:`` and the hash of all that the certificate says, however it is laid out.

    It tells a changed file from the one that was written. It is not a signature: whoever changes a
    certificate on purpose can compute it again.
    """
    return _digest(_document(certificate))


def _digest(document: dict[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def _document(certificate: Certificate) -> dict[str, Any]:
    return {k: one for k, one in certificate.to_document().items() if k != "digest"}


def write_certificate(path: str | Path, certificate: Certificate) -> None:
    """Write a certificate file, its digest computed, whole or not at all.

    Parameters
    ----------
    path
        Of the file: YAML where it ends in ``.yaml`` or ``.yml``, otherwise JSON.
    certificate
        Of `certify`.

    Raises
    ------
    InputError
        When the file cannot be written.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> result = slotwise.solve(instance, time_limit_s=30)
    >>> slotwise.write_certificate("certificate.json", slotwise.certify(instance, result))
    >>> slotwise.verify(instance, "certificate.json").status
    'placement verified'
    """
    write_data(path, certificate_document(certificate))
