"""Numbers as text."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from slotwise.models.values import exact_text, short_text


@pytest.mark.parametrize(
    ("number", "text", "grouped"),
    [
        (None, "-", "-"),
        (0, "0", "0"),
        (60.0, "60", "60"),
        (-1234567, "-1234567", "-1,234,567"),
        (Fraction(10**18 + 1), "1000000000000000001", "1,000,000,000,000,000,001"),
        (Decimal("0.10"), "0.1", "0.1"),
        (Fraction(1, 3), "0.333333", "0.333333"),
        (Fraction(12345678, 1000), "12345.7", "12,345.7"),
        (Fraction(156717001, 2), "78358500.5", "78,358,500.5"),
        (-999999.6, "-999999.6", "-999,999.6"),
    ],
)
def test_for_people(number, text, grouped) -> None:
    assert short_text(number) == text
    assert short_text(number, grouped=True) == grouped


def test_what_is_missing_has_a_sign_of_its_own() -> None:
    assert short_text(None, missing="none") == "none"
    assert short_text(0, missing="none") == "0"


@pytest.mark.parametrize(
    ("number", "text"), [("1E+3", "1000"), ("0.10", "0.1"), ("-0", "0"), ("1E-6", "0.000001")]
)
def test_exact(number: str, text: str) -> None:
    assert exact_text(Decimal(number)) == text
