"""What the cells of a grading's rows must be: a report is made of files that anybody may have made.

Each check raises `InputError` for a value that breaks its rule; whoever calls it names the place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from slotwise.benchmarks.grading.exact.proofs import read_proofs
from slotwise.benchmarks.grading.rows import (
    MEANING,
    OTHER_MEANING,
    SUCCEEDED,
    Kind,
    Row,
    RunStatus,
)
from slotwise.benchmarks.grading.run import read_placement_text
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import parse_json
from slotwise.models.values import number_of_text, one_of

NEEDED = frozenset(
    (
        *("instance_hash", "instance", "tasks", "nodes", "tightness"),
        *("kind", "method", "seed", "time_limit_s", "version", "versions", "status"),
    )
)
"""Columns whose cells are never null."""

_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def check_cell(column: str, value: Any) -> None:
    """Check one cell that has its column's type."""
    if value is None:
        if column in NEEDED:
            raise InputError("must not be null", value=value)
    elif column in _CHECKS:
        _CHECKS[column](value)


def check_success(row: Row) -> None:
    """Check that the cell ``terms`` of a row has what its status promises."""
    status = row["status"]
    if status not in SUCCEEDED:
        return
    if not row["terms"]:
        raise InputError(f"must have values where status is {status}", value=row["terms"])
    for index, term in enumerate(row["terms"]):
        if term["value"] is None:
            rule = f"must be a number where status is {status}"
            raise InputError(rule, field=f"[{index}].value", value=None)


def _hash(value: str) -> None:
    if _HASH.fullmatch(value) is None:
        raise InputError("must be sha256: and 64 hexadecimal digits", value=value)


def _count(value: int) -> None:
    if value < 0:
        raise InputError("must be 0 or more", value=value)


def _amount(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InputError("must be finite and 0 or more", value=value)


def _tightness(value: float) -> None:
    if math.isnan(value) or value < 0:
        raise InputError("must be 0 or more", value=value)


def _name(text: str) -> None:
    if not text:
        raise InputError("must not be empty", value=text)


def _version(text: str) -> None:
    if MEANING not in text.split(", "):
        raise InputError(OTHER_MEANING, value=text)


def _object(text: str) -> None:
    if not isinstance(parse_json(text), dict):
        raise InputError("must be a JSON object", value=text)


def _versions(text: str) -> None:
    data = parse_json(text)
    if not isinstance(data, dict) or not all(isinstance(one, str) for one in data.values()):
        raise InputError("must be a JSON object of texts", value=text)


def _terms(terms: list[dict[str, Any] | None]) -> None:
    for index, term in enumerate(terms):
        if term is None or term["term"] is None:
            raise InputError("must name its term", field=f"[{index}]", value=term)
        for key in ("value", "bound"):
            if term[key] is not None and number_of_text(term[key], f"[{index}].{key}") < 0:
                raise InputError("must be 0 or more", field=f"[{index}].{key}", value=term[key])


def _texts(values: list[str | None]) -> None:
    if None in values:
        raise InputError("must be text", field=f"[{values.index(None)}]", value=None)


_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "instance_hash": _hash,
    "tasks": _count,
    "nodes": _count,
    "tightness": _tightness,
    "kind": lambda value: one_of(value, tuple(Kind), ""),
    "seed": _count,
    "time_limit_s": _amount,
    "versions": _versions,
    "status": lambda value: one_of(value, tuple(RunStatus), ""),
    "terms": _terms,
    "violation_count": _count,
    "violations": _texts,
    "placement": read_placement_text,
    "wall_s": _amount,
    "gap": _amount,
    "parameters": _object,
    "engine_parameters": _object,
    "work_limit": _amount,
    "work": _amount,
    "proofs": read_proofs,
    "instance": _name,
    "method": _name,
    "version": _version,
}
