"""I, C, M and T of the article on a small model and on its own."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import (
    Interpolation,
    Measurement,
    PerformanceModel,
    best_rate,
    full_bundle,
    measured_at,
    threads_for,
)

MODEL = PerformanceModel(
    "small",
    (
        Measurement(1, Fraction(2), Fraction(10), Fraction(20)),
        Measurement(5, Fraction(10), Fraction(50), Fraction(24)),
        Measurement(9, Fraction(8), Fraction(90), Fraction(24)),
    ),
)


def test_between_measured_counts_values_are_linear() -> None:
    here = measured_at(MODEL, 3)
    assert (here.peak_rate, here.cpu, here.memory) == (6, 30, 22)
    assert measured_at(MODEL, 6).peak_rate == Fraction(19, 2)


def test_nearest_takes_the_smaller_count_halfway() -> None:
    rates = [measured_at(MODEL, n, Interpolation.NEAREST).peak_rate for n in (1, 2, 3, 4, 5, 8)]
    assert rates == [2, 2, 2, 10, 10, 8]


def test_beyond_the_last_count_its_values_hold() -> None:
    assert measured_at(MODEL, 40).peak_rate == 8
    assert measured_at(MODEL, 9).cpu == 90


def test_the_inverse_takes_measured_counts_only() -> None:
    assert [threads_for(MODEL, Fraction(rate)) for rate in (0, 2, 3, 10)] == [1, 1, 5, 5]
    with pytest.raises(ValueError, match="no number of threads supports 10"):
        threads_for(MODEL, Fraction(101, 10))


def test_the_articles_full_bundles() -> None:
    """Section 5.3: what one slot supports at most, and with how many threads."""
    found = {
        name: (int(best_rate(model)), full_bundle(model).threads)
        for name, model in article_models().items()
    }
    assert found == {
        "blob": (30, 50),
        "table": (40, 60),
        "xml": (310, 1),
        "pi": (110, 2),
        "file": (60_000, 1),
    }
