"""The shape of certificate files (Pydantic)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, WithJsonSchema

from slotwise.models.certificates.certificate import STATUSES
from slotwise.models.errors import InputError
from slotwise.models.formats.fields import FileObject, Name, Positive, Whole, choice
from slotwise.models.formats.instance_schema import Places
from slotwise.models.values import TOO_LONG, Outsized


def _amount(value: Any) -> Decimal:
    if isinstance(value, Outsized):
        raise InputError(TOO_LONG, value=value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InputError("must be a number", value=value)
    amount = Decimal(value)
    if not amount.is_finite() or amount < 0:
        raise InputError("must be finite and 0 or more", value=value)
    return amount


Amount = Annotated[
    Decimal, PlainValidator(_amount), WithJsonSchema({"type": "number", "minimum": 0})
]
"""A value that was computed: exact, and finer than the numbers of an instance may be."""


class TermFile(FileObject):
    """Value and bound of a term; ``null`` where there is none."""

    term: Name
    value: Amount | None
    bound: Amount | None


class ParametersFile(FileObject):
    """How an engine was called."""

    time_limit_s: Amount
    workers: Positive
    seed: Whole


class ProofFile(FileObject):
    """What one engine claims: its own bound of each term."""

    engine: Name
    version: str
    parameters: ParametersFile
    how: str
    bounds: list[Amount | None]


class CertificateFile(FileObject):
    """A file ``slotwise.certificate/1``."""

    format: Literal["slotwise.certificate/1"]
    instance: Name
    status: Annotated[str, choice(STATUSES)]
    made_by: Name
    objective: list[TermFile]
    proofs: list[ProofFile]
    placement: Places | None
    digest: Name
