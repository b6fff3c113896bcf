"""Reading and writing certificates."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from slotwise.models.certificates.certificate import Certificate, CertifiedProof, CertifiedTerm
from slotwise.models.certificates.schema import CertificateFile, ProofFile
from slotwise.models.errors import in_file
from slotwise.models.formats.instance_reader import places_of
from slotwise.models.formats.instance_writer import places_document
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.formats.text import read_data, write_data
from slotwise.models.formats.validation import check_format, validated
from slotwise.models.values import as_decimal

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
