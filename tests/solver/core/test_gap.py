"""The gap of a result: one formula, the same as in reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from slotwise.benchmarks.judged.judging import ratios
from slotwise.models.problem.problem import Term
from slotwise.solver.core.judged_result import gap_of
from slotwise.solver.core.result import Outcome, Status


def outcome(values: tuple[int, ...] | None, bounds: tuple[int | None, ...]) -> Outcome:
    return Outcome(Status.FEASIBLE, None, values, bounds, proof="")


@pytest.mark.parametrize(
    ("values", "bounds", "gap"),
    [
        (None, (0, 0), None),
        ((4, 7), (4, 7), 0.0),
        ((4, 7), (3, 0), 0.25),
        ((0, 8), (0, 6), 0.25),
        ((0, 8), (0, None), None),
        ((4, 8), (3, None), 0.25),
    ],
)
def test_it_is_that_of_the_first_open_term(
    values: tuple[int, ...] | None, bounds: tuple[int | None, ...], gap: float | None
) -> None:
    terms = [Term(name, ((name, 1),), Fraction(1, 10)) for name in ("overload", "network")]
    assert gap_of(outcome(values, bounds), terms) == gap


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 10**3)])
@pytest.mark.parametrize(("value", "bound"), [(3, 2), (10**6, 1), (5, 5)])
def test_results_and_reports_agree(value: int, bound: int, unit: Fraction) -> None:
    """Reports give the gap of solvers where it is asked for."""
    found = gap_of(outcome((value,), (bound,)), [Term("network", (("network", 1),), unit)])
    assert found == ratios(np.array([value]), np.array([bound]), solver=True)[0]
