"""The linear model of a problem, and its terms as the solvers minimise and limit them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.formulation import formulate
from slotwise.solver.compact.milp.backend import (
    MOST_TOLD_APART,
    just_above,
    largest_sum,
    whole_bound,
)
from slotwise.solver.compact.milp.builder import (
    Expr,
    MilpBuilder,
    coefficients,
    constant,
    total,
)
from slotwise.solver.compact.milp.products import products
from slotwise.solver.compact.params import MILP_DEFAULTS, MilpParams
from slotwise.solver.compact.variables import Counts


@dataclass(frozen=True, slots=True, eq=False)
class CompactModel:
    """A problem as an integer linear program.

    Parameters
    ----------
    model, counts
        Its rows and columns; the columns that describe a placement.
    terms
        Each term of the objective in its integer steps.
    """

    model: MilpBuilder
    counts: Counts[Expr]
    terms: tuple[Expr, ...]


def build(
    problem: Problem, token: CancellationToken, params: MilpParams = MILP_DEFAULTS
) -> CompactModel:
    """Return the linear model of a problem, without an objective.

    Raises
    ------
    CancelledError
        When `token` is cancelled meanwhile.
    NotTakenError
        When it is too large, or its numbers are.
    """
    model = MilpBuilder(token, params)
    stated = formulate(model, problem, products(model, problem))
    return CompactModel(model, stated.counts, stated.terms)


@dataclass(frozen=True, slots=True)
class Grid:
    """A term as ``constant + step * columns``; `columns` is whole at every placement.

    `largest` is the largest size, of either sign, that `columns` can have.
    """

    constant: int
    step: int
    columns: Expr
    largest: float

    @classmethod
    def of(cls, term: Expr) -> Grid:
        """Return a term with its coefficients in lowest terms."""
        weights = coefficients(term)
        step = math.gcd(*weights.values()) or 1
        columns = total(weight // step * column for column, weight in weights.items())
        return cls(constant(term), step, columns, largest_sum(columns))

    def bound(self, of_columns: float | None) -> int | None:
        """Return the bound of the term that one of the columns proves; terms are at least 0.

        No more than that is believed of sums beyond `MOST_TOLD_APART`. ``None`` = no bound.
        """
        if self.largest > MOST_TOLD_APART:
            return 0
        whole = whole_bound(of_columns)
        return None if whole is None else max(0, self.constant + self.step * whole)


def fix(compact: CompactModel, grid: Grid, name: str, value: int) -> None:
    """State that a term is at most `value`."""
    most = (value - grid.constant) // grid.step
    compact.model.at_most(f"term_{name}", grid.columns, just_above(most), checked=False)
