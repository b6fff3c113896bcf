"""Certificate files: their shape, reading and writing."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from slotwise.models.certificates.certificate import (
    STATUSES,
    Certificate,
    CertifiedProof,
    CertifiedTerm,
)
from slotwise.models.errors import in_file
from slotwise.models.formats.fields import Amount, FileObject, Name, Positive, Whole, choice
from slotwise.models.formats.instance_reader import places_of
from slotwise.models.formats.instance_schema import Places
from slotwise.models.formats.instance_writer import places_document
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.formats.text import read_data, write_data
from slotwise.models.formats.validation import check_format, validated
from slotwise.models.values import as_decimal


class TermFile(FileObject):
    """Value and bound of a term; ``null`` where there is none."""

    term: Name = Field(description="Name of the term, as in the instance.")
    value: Amount | None = Field(
        description="What the placement costs, in the user's unit; null = there is no placement."
    )
    bound: Amount | None = Field(
        description="Lower bound given that all terms before are at their values; null = nothing "
        "is proven."
    )


class ParametersFile(FileObject):
    """How an engine was called."""

    time_limit_s: Amount = Field(description="Wall-clock limit, seconds.")
    workers: Positive = Field(description="Threads, 1 or more.")
    seed: Whole = Field(description="Seed of its random choices, 0 or more.")


class ProofFile(FileObject):
    """What one engine claims: its own bound of each term."""

    engine: Name = Field(description="Name of the engine.")
    version: str = Field(description="Version of the solver behind it.")
    parameters: ParametersFile = Field(description="How it was called.")
    how: str = Field(description="How it proved its bounds, in words.")
    bounds: list[Amount | None] = Field(
        description="Its own bound of each term, in the user's unit; null = it proved nothing."
    )


class CertificateFile(FileObject):
    """A file ``slotwise.certificate/1``."""

    format: Literal["slotwise.certificate/1"] = Field(description="Names this format.")
    instance: Name = Field(description="Hash of the instance, `sha256:...`.")
    status: Annotated[str, choice(STATUSES)] = Field(
        description="`optimal`: values equal bounds; `feasible`: not proven best; `infeasible`: "
        "proven that there is no placement."
    )
    made_by: Name = Field(description="Program and version that wrote it.")
    objective: list[TermFile] = Field(description="One entry per term, in order.")
    proofs: list[ProofFile] = Field(description="One entry per engine.")
    placement: Places | None = Field(
        description="Topology -> `component[index]` -> place; null = infeasible."
    )
    digest: Name = Field(description="Hash of all the rest, `sha256:...`; no signature.")


CERTIFICATE_FORMAT = "slotwise.certificate/1"


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
    check_format(data, CERTIFICATE_FORMAT)
    file = validated(CertificateFile, data)
    return Certificate(
        instance=file.instance,
        status=file.status,
        made_by=file.made_by,
        objective=tuple(
            CertifiedTerm(t.term, _fraction(t.value), _fraction(t.bound)) for t in file.objective
        ),
        proofs=tuple(_proof(proof) for proof in file.proofs),
        places=None if file.placement is None else places_of(file.placement, "placement"),
        digest=file.digest,
    )


def _proof(file: ProofFile) -> CertifiedProof:
    return CertifiedProof(
        engine=file.engine,
        version=file.version,
        time_limit_s=Fraction(file.parameters.time_limit_s),
        workers=file.parameters.workers,
        seed=file.parameters.seed,
        how=file.how,
        bounds=tuple(_fraction(bound) for bound in file.bounds),
    )


def _fraction(amount: Decimal | None) -> Fraction | None:
    return None if amount is None else Fraction(amount)


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """Return the data of a certificate's file, its digest computed; numbers are exact."""
    document = _document(certificate)
    return document | {"digest": _digest(document)}


def certificate_digest(certificate: Certificate) -> str:
    """Return ``sha256:`` and the hash of all that the certificate says, however it is laid out.

    It tells a changed file from the one that was written. It is no signature: who changes a
    certificate on purpose can compute it again.
    """
    return _digest(_document(certificate))


def _digest(document: dict[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def _document(certificate: Certificate) -> dict[str, Any]:
    return {
        "format": CERTIFICATE_FORMAT,
        "instance": certificate.instance,
        "status": certificate.status,
        "made_by": certificate.made_by,
        "objective": [
            {"term": t.term, "value": _decimal(t.value), "bound": _decimal(t.bound)}
            for t in certificate.objective
        ],
        "proofs": [
            {
                "engine": proof.engine,
                "version": proof.version,
                "parameters": {
                    "time_limit_s": _decimal(proof.time_limit_s),
                    "workers": proof.workers,
                    "seed": proof.seed,
                },
                "how": proof.how,
                "bounds": [_decimal(bound) for bound in proof.bounds],
            }
            for proof in certificate.proofs
        ],
        "placement": None if certificate.places is None else places_document(certificate.places),
    }


def _decimal(number: Fraction | None) -> Decimal | None:
    return None if number is None else as_decimal(number)


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
