"""Parameters of engines: how far one goes and how it spends its time, never what it claims."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from slotwise.models.errors import InputError
from slotwise.models.values import whole

FRACTION = "_fraction"
"""How the names of shares end."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a researcher may vary of one engine: a frozen dataclass, its defaults as measured.

    Whole numbers are 1 or more, limits named ``max_...`` 0 or more. Other numbers are above 0, and
    at most 1 where their name ends in ``_fraction``. What several engines have in common is a field
    with parameters of its own.

    Raises
    ------
    InputError
        Naming class and field, where a value is out of range.
    """

    def __post_init__(self) -> None:
        """Check every field by the type of its default."""
        for field in fields(self):
            place = f"{type(self).__name__}.{field.name}"
            value: object = getattr(self, field.name)
            if isinstance(field.default, Parameters):
                of_type(value, type(field.default), place)
            elif isinstance(field.default, float):
                _check_number(value, place)
            else:
                whole(getattr(self, field.name), place, least=0 if field.name[:4] == "max_" else 1)

    def to_document(self) -> dict[str, Any]:
        """Return the parameters as JSON-ready data."""
        return asdict(self)


def of_type(value: object, expected: type[Parameters], field: str) -> None:
    """Raise unless `value` is an instance of `expected`."""
    if not isinstance(value, expected):
        rule = f"must be {expected.__name__}"
        raise InputError(rule, field=field, value=type(value).__name__)


def _check_number(value: object, field: str) -> None:
    most = 1.0 if field.endswith(FRACTION) else sys.float_info.max
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 < cast(float, value) <= most):
        rule = "must be a finite number above 0" + (", at most 1" if most == 1.0 else "")
        raise InputError(rule, field=field, value=value)
