"""Exact numbers at the door: everything read becomes a non-negative `Decimal` or is refused."""

from __future__ import annotations

import unicodedata
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from slotwise.models.errors import InputError

MAX_DECIMALS = 6
"""A dimension or term is scaled by at most 10**6: more decimals are refused by name."""

MAX_VALUE = Decimal("1E+15")
"""A single number above this cannot be scaled without leaving 64 bits."""

NO_LIMIT = 2**62
"""Stands for an absent limit in the compiled integer arrays; every sum stays below it."""

Number = Decimal | int | float | str


def exact(value: Number, field: str) -> Decimal:
    """Return `value` as a finite, non-negative decimal with at most six decimals.

    Floats are read as their shortest decimal text (0.1 is one tenth).

    Raises
    ------
    InputError
        When it is no number, NaN, infinite, negative, huge or too fine.
    """
    if isinstance(value, bool):
        raise InputError("must be a number", field=field, value=value)
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except (InvalidOperation, TypeError, ValueError) as error:
        raise InputError("must be a number", field=field, value=value) from error
    if not number.is_finite():
        raise InputError("must be finite; write null for no limit", field=field, value=value)
    if number < 0:
        raise InputError("must be 0 or more", field=field, value=value)
    if number > MAX_VALUE:
        raise InputError(f"must be at most {MAX_VALUE}", field=field, value=value)
    if decimals(number) > MAX_DECIMALS:
        raise InputError(
            f"must have at most {MAX_DECIMALS} decimals; round it", field=field, value=value
        )
    return Decimal(0) if number == 0 else number


def exact_or_none(value: Number | None, field: str) -> Decimal | None:
    """Return `exact(value)`, or ``None`` (no limit) for ``None``."""
    return None if value is None else exact(value, field)


def whole(value: int, field: str, *, least: int = 0) -> int:
    """Return `value` if it is a whole number of at least `least`, else raise `InputError`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("must be a whole number", field=field, value=value)
    if value < least:
        raise InputError(f"must be {least} or more", field=field, value=value)
    if value > MAX_VALUE:
        raise InputError(f"must be at most {MAX_VALUE}", field=field, value=value)
    return value


def decimals(number: Decimal) -> int:
    """Return how many decimals `number` needs (0 for a whole number)."""
    if number == 0:
        return 0
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    trailing = 0
    for digit in reversed(digits):
        if digit:
            break
        trailing += 1
    return max(0, -(exponent + trailing))


def as_decimal(number: Fraction) -> Decimal:
    """Return a fraction whose denominator divides a power of ten as an exact decimal."""
    value = Decimal(number.numerator) / Decimal(number.denominator)
    if Fraction(value) != number:
        raise InputError("has no finite decimal form", field="number", value=number)
    return value


def plain(number: Decimal | Fraction | int) -> int | float:
    """Return a number for JSON: an int where it is whole, else the nearest float."""
    fraction = Fraction(number)
    return int(fraction) if fraction.denominator == 1 else float(fraction)


def name(value: str, field: str) -> str:
    """Return an identifier: text that is not empty, without line breaks or control characters."""
    if value.splitlines() != [value]:
        raise InputError("must be a text of one line, not empty", field=field, value=value)
    if any(unicodedata.category(letter) == "Cc" for letter in value):
        raise InputError("must have no control characters", field=field, value=value)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError("must be Unicode text, without surrogates", field=field, value=value)
    return value
