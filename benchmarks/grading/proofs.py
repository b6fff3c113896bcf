"""Who proved what, as a cell of a row: the proofs of a certificate, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction

from slotwise.benchmarks.grading.rows import number_cell
from slotwise.models.certificates import CertifiedProof
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import parse_json
from slotwise.models.values import number_of_text

FIELDS = ("engine", "version", "time_limit_s", "workers", "seed", "how", "bounds")


def proofs_text(proofs: Iterable[CertifiedProof]) -> str:
    """Return proofs as JSON; numbers are text, exact."""
    return json.dumps([_document(proof) for proof in proofs])


def _document(proof: CertifiedProof) -> dict[str, object]:
    return {
        "engine": proof.engine,
        "version": proof.version,
        "time_limit_s": number_cell(proof.time_limit_s),
        "workers": proof.workers,
        "seed": proof.seed,
        "how": proof.how,
        "bounds": [number_cell(bound) for bound in proof.bounds],
    }


def read_proofs(text: str) -> tuple[CertifiedProof, ...]:
    """Return the proofs that `proofs_text` wrote.

    Raises
    ------
    InputError
        When it is something else.
    """
    data = parse_json(text)
    if not isinstance(data, list):
        raise InputError("must be a JSON list of proofs", value=text)
    return tuple(_proof(one, f"[{index}]") for index, one in enumerate(data))


def _proof(data: object, place: str) -> CertifiedProof:
    if not isinstance(data, dict) or set(data) != set(FIELDS):
        raise InputError(f"must have {', '.join(FIELDS)}", field=place, value=data)
    texts, counts = ("engine", "version", "how"), ("workers", "seed")
    for key, kind in (*((key, str) for key in texts), *((key, int) for key in counts)):
        if not isinstance(data[key], kind):
            rule = "must be a text" if kind is str else "must be a whole number"
            raise InputError(rule, field=f"{place}.{key}", value=data[key])
    if not isinstance(data["bounds"], list):
        raise InputError("must be a list", field=f"{place}.bounds", value=data["bounds"])
    bounds = (
        None if bound is None else _number(bound, f"{place}.bounds") for bound in data["bounds"]
    )
    return CertifiedProof(
        engine=data["engine"],
        version=data["version"],
        time_limit_s=_number(data["time_limit_s"], f"{place}.time_limit_s"),
        workers=data["workers"],
        seed=data["seed"],
        how=data["how"],
        bounds=tuple(bounds),
    )


def _number(value: object, place: str) -> Fraction:
    if not isinstance(value, str):
        raise InputError("must be a number as text", field=place, value=value)
    return Fraction(number_of_text(value, place))
