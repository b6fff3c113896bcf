"""Numbers as text: short for people, exact for files."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slotwise.models.values import plain


def short_text(
    number: Fraction | Decimal | float | None, *, missing: str = "-", grouped: bool = False
) -> str:
    """Return a finite number for people: whole ones in full, others with six digits.

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
    return format(value, f"{comma}d" if isinstance(value, int) else f"{comma}.6g")


def exact_text(number: Decimal) -> str:
    """Return a finite decimal in plain notation without superfluous zeros."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
