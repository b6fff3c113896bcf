"""A part of the objective that a module does not know is named by a `KeyError`, never counted 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from slotwise.models.families.rstorm import instance_of, shapes
from slotwise.models.instance.instance import TERM_PARTS
from slotwise.models.problem.compile import _PartScales, compile_problem
from slotwise.models.problem.magnitudes import largest_terms
from slotwise.models.problem.problem import Problem, Term
from slotwise.solver import exhaustive
from slotwise.solver.baseline import simple_bounds
from slotwise.solver.local_search import solution

USES: dict[str, Callable[[Problem], object]] = {
    "magnitudes": largest_terms,
    "bounds": simple_bounds,
    "exhaustive": lambda problem: exhaustive.Books(problem).values(),
    "local search": lambda problem: solution.multipliers(problem.terms),
}


def problem_of_part(part: str) -> Problem:
    """Return a problem whose one term is `part`, as if compiling knew it."""
    problem = compile_problem(instance_of(shapes()[0]))
    return replace(problem, terms=(Term(part, ((part, 1),), Fraction(1)),))


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_unknown_part_is_named(use: Callable[[Problem], object]) -> None:
    with pytest.raises(KeyError, match="energy"):
        use(problem_of_part("energy"))


def test_an_unknown_part_has_no_scale() -> None:
    with pytest.raises(KeyError, match="energy"):
        _PartScales(flow=1, distance=1, linear=1, overload=1)["energy"]


@pytest.mark.parametrize("part", TERM_PARTS)
def test_every_part_is_known(part: str) -> None:
    assert _PartScales(flow=10, distance=100, linear=10, overload=10)[part] >= 1
    for name, use in USES.items():
        if name != "local search" or part in solution.PARTS:
            use(problem_of_part(part))


def test_the_tables_list_the_parts() -> None:
    assert sorted(exhaustive.PARTS) == sorted(TERM_PARTS)
    assert set(solution.PARTS) <= set(TERM_PARTS)
