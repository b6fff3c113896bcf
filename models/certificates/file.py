"""Reading and writing certificates."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from slotwise.models.certificates.certificate import Certificate
from slotwise.models.errors import in_file
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.formats.text import read_data, write_data
from slotwise.models.formats.validation import check_format, validated


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

    It tells a changed file from the one that was written. It is no signature: who changes a
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
