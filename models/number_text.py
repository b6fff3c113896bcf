"""Numbers as text: short for people, exact for files."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slotwise.models.values import plain

MANY = 999_999.5
"""From here on six digits would need an exponent."""


def short_text(
    number: Fraction | Decimal | float | None, *, missing: str = "-", grouped: bool = False
) -> str:
    """Return a finite number for people: whole ones in full, others with six digits or more.

    From a million on, others have one digit behind the point: ``7.83585e+07`` is hard to read.

    Parameters
    ----------
    number
        What to show; ``None`` = there is none, for which `missing` stands.
    grouped
        Whether thousands have commas between.
    """
    if number is None:
        return missing
    value = plain(number)
    comma = "," if grouped else ""
    if isinstance(value, int):
        return format(value, f"{comma}d")
    return format(value, f"{comma}.6g" if abs(value) < MANY else f"{comma}.1f")


def exact_text(number: Decimal) -> str:
    """Return a finite decimal in plain notation without superfluous zeros."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
