"""Exact numbers: every number read becomes a non-negative `Decimal` or is refused."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Real

from slotwise.models.errors import InputError, suggestion

MAX_DECIMALS = 6
"""A dimension or term is scaled by at most 10**6: more decimals are refused by name."""
GAP_FLOOR = Fraction(1, 10**6)
"""Gaps are relative to the value, or to this where that is smaller, in the user's unit."""

MAX_VALUE = Decimal("1E+15")
"""A single number above this cannot be scaled without leaving 64 bits."""

MAX_DIGITS = 100
"""Digits of the longest number that is read."""

MAX_EXPONENT = 200
"""Largest exponent that is read, of either sign. With `MAX_DIGITS` it keeps every number that is
read small as an integer or a fraction, and within the range of a double."""

TOO_LONG = f"must be at most {MAX_DIGITS} digits long, with an exponent of at most {MAX_EXPONENT}"

NO_LIMIT = 2**62
"""An absent limit in the compiled integer arrays; every sum is below it."""

Number = Decimal | int | float | str

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_UNITS: dict[str, int | Fraction] = {
    "ms": Fraction(1, 1000),
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 86_400,
}
_LENGTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*(ms|[smhd])?")
_EXACT = Context(prec=2 * (MAX_DIGITS + MAX_EXPONENT))


@dataclass(frozen=True, slots=True)
class Outsized:
    """A number beyond `MAX_DIGITS` or `MAX_EXPONENT`, as its text, never used in computations.

    It is kept in the data of a file until its field refuses it by name; where nothing reads the
    field, it does no harm.
    """

    text: str

    def __str__(self) -> str:
        """Return the number as it was written."""
        return self.text


def read_number(text: str) -> int | Decimal | Outsized:
    """Return `text` as a number: the one place where text becomes a number.

    Parameters
    ----------
    text
        In the form of JSON and YAML numbers: a sign, digits, a point, an exponent.
    """
    if len(text) <= MAX_DIGITS and "e" not in text and "E" not in text:  # most of them
        return Decimal(text) if "." in text else int(text)
    mantissa, _, exponent = text.lower().partition("e")
    power = exponent.lstrip("+-0")
    if len(mantissa) > MAX_DIGITS and len(mantissa.lstrip("+-").replace(".", "")) > MAX_DIGITS:
        return Outsized(text)
    if len(power) > len(str(MAX_EXPONENT)) or int(power or 0) > MAX_EXPONENT:
        return Outsized(text)
    return Decimal(text) if exponent or "." in mantissa else int(text)


def number_of_text(text: str, field: str) -> int | Decimal:
    """Return a text written by people or programs as a number.

    Raises
    ------
    InputError
        When it is not a number in digits, or too long.
    """
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise InputError("must be finite", field=field, value=text)
    if _NUMBER.fullmatch(text) is None:
        raise InputError("must be a number", field=field, value=text)
    number = read_number(text)
    if isinstance(number, Outsized):
        raise InputError(TOO_LONG, field=field, value=number)
    return number


def exact(value: Number | Outsized, field: str) -> Decimal:
    """Return `value` as a finite, non-negative decimal with at most six decimals.

    Floats are read as their shortest decimal text (0.1 is one tenth).

    Raises
    ------
    InputError
        When it is not a number, NaN, infinite, negative, or has too many digits.
    """
    if isinstance(value, Outsized):
        raise InputError(TOO_LONG, field=field, value=value)
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float | str):
        raise InputError("must be a number", field=field, value=value)
    if isinstance(value, str):
        number = Decimal(number_of_text(value, field))
    else:
        number = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)
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


def whole(value: int | Decimal | Outsized, field: str, *, least: int = 0) -> int:
    """Return `value` if it is a whole number of at least `least`, else raise `InputError`."""
    if isinstance(value, Outsized):
        raise InputError(TOO_LONG, field=field, value=value)
    if isinstance(value, Decimal) and value.is_finite() and value > MAX_VALUE:
        raise InputError(f"must be at most {MAX_VALUE}", field=field, value=value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("must be a whole number", field=field, value=value)
    if value < least:
        raise InputError(f"must be {least} or more", field=field, value=value)
    if value > MAX_VALUE:
        raise InputError(f"must be at most {MAX_VALUE}", field=field, value=value)
    return value


def time_limit(value: object, field: str) -> float:
    """Return a wall-clock limit in seconds, finite and above 0, else raise `InputError`."""
    if not isinstance(value, bool) and isinstance(value, int | float | Decimal | Real):
        with suppress(OverflowError, ValueError):  # an integer or a decimal beyond doubles
            seconds = float(value)
            if 0 < seconds < math.inf:
                return seconds
    raise InputError("must be a finite number of seconds above 0", field=field, value=value)


def seconds(length: str | float, field: str) -> Fraction:
    """Return a length of time in seconds: ``90``, ``"90s"``, ``"5m"``, ``"1.5h"``, ``"7d"``.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> seconds("10m", "cooldown"), seconds("500ms", "trigger")
    (Fraction(600, 1), Fraction(1, 2))
    """
    written = _LENGTH.fullmatch(str(length).strip())
    if written is None or isinstance(length, bool):
        rule = "must be a length of time such as 30s, 10m, 1.5h, 7d or 500ms"
        raise InputError(rule, field=field, value=length)
    return Fraction(written[1]) * _UNITS[written[2] or "s"]


def decimals(number: Decimal) -> int:
    """Return the number of decimals that `number` needs (0 for a whole number)."""
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
    value = _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
    if Fraction(value) != number:
        raise InputError("has no finite decimal form", field="number", value=number)
    return value


def plain(number: Decimal | Fraction | float) -> int | float:
    """Return a number for JSON: an int where it is whole, else the nearest float."""
    fraction = Fraction(number)
    return int(fraction) if fraction.denominator == 1 else float(fraction)


def name(value: str, field: str) -> str:
    """Return an identifier: text that is not empty, without line breaks or control characters."""
    if value and value.isascii() and value.isprintable():  # most of them
        return value
    if value.splitlines() != [value]:
        raise InputError("must be a text of one line, not empty", field=field, value=value)
    if any(unicodedata.category(letter) == "Cc" for letter in value):
        raise InputError("must have no control characters", field=field, value=value)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError("must be Unicode text, without surrogates", field=field, value=value)
    return value


def one_of(value: str, allowed: tuple[str, ...], where: str) -> None:
    """Raise `InputError` for a value that is not in `allowed`."""
    if value not in allowed:
        raise InputError(f"must be one of {', '.join(allowed)}", field=where, value=value)


def known(name: str, names: Iterable[str], field: str) -> str:
    """Return `name` if it is one of `names`; otherwise raise `InputError` with the closest one."""
    listed = list(names)
    if name in listed:
        return name
    raise InputError(f"is unknown; {suggestion(str(name), listed)}", field=field, value=name)


def distinct(ids: Iterable[str], where: str) -> None:
    """Raise `InputError` for a repeated id."""
    for key, count in Counter(ids).items():
        if count > 1:
            raise InputError(f"must be unique, but occurs {count} times", field=where, value=key)


# Numbers as text: short for people, exact for files.

MANY = 999_999.5
"""Numbers from here on would need an exponent with six digits."""


def short_text(
    number: Fraction | Decimal | float | None, *, missing: str = "-", grouped: bool = False
) -> str:
    """Return a finite number for people: whole ones in full, others with six digits or more.

    From a million on, others have one digit behind the point: ``7.83585e+07`` is hard to read.

    Parameters
    ----------
    number
        The number to show; ``None`` = there is none, shown as `missing`.
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
