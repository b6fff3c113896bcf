"""A term of the linear model in its own steps, and as a row once it is proven."""

from __future__ import annotations

import math
from dataclasses import dataclass

from slotwise.solver.milp_model import Expr, total
from slotwise.solver.milp_terms import CompactModel
from slotwise.solver.mip import just_above, whole_bound


@dataclass(frozen=True, slots=True)
class Grid:
    """A term as ``constant + step * columns``; `columns` is whole at every placement."""

    constant: int
    step: int
    columns: Expr

    @classmethod
    def of(cls, term: Expr) -> Grid:
        """Return a term with its coefficients in lowest terms."""
        step = math.gcd(*(int(coefficient) for coefficient in term.values())) or 1
        columns = total(int(c) // step * column for column, c in term.items())
        return cls(int(term.constant), step, columns)

    def bound(self, of_columns: float | None) -> int | None:
        """Return the bound of the term that one of the columns proves; terms are at least 0."""
        whole = whole_bound(of_columns)
        return None if whole is None else max(0, self.constant + self.step * whole)


def fix(compact: CompactModel, grid: Grid, name: str, value: int) -> None:
    """State that a term is at most `value`."""
    most = (value - grid.constant) // grid.step
    compact.model.at_most(f"term_{name}", grid.columns, just_above(most), checked=False)
