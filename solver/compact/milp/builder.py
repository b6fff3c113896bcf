"""The compact model as an integer linear program with readable names, built with PuLP."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import pulp

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InternalError
from slotwise.solver.compact.params import MILP_DEFAULTS, MilpParams
from slotwise.solver.compact.variables import Linear
from slotwise.solver.core.not_taken import NotTakenError


class Expr(Linear, Protocol):
    """A `pulp.LpAffineExpression` or `pulp.LpVariable`: PuLP has no types.

    Coefficients are whole; `coefficients` and `constant` look inside.
    """


class Column(Expr, Protocol):
    """A `pulp.LpVariable`; its index is its number in a model that was handed to HiGHS."""

    name: str
    upBound: int  # noqa: N815, PuLP's name
    index: int


class Sum(Expr, Protocol):
    """A `pulp.LpAffineExpression`: columns with their coefficients, and a constant."""

    constant: int

    def items(self) -> Iterable[tuple[Column, int]]:
        """Return each column with its coefficient."""
        ...


MOST_ACTIVITY = 10**9
"""Largest number in a row: solvers keep rows within 1e-9 of it, which must be far below one."""

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.]")


@dataclass(slots=True, eq=False)
class MilpBuilder:
    """A `ModelBuilder` of columns and rows for PuLP, as `lp`.

    Rows without columns that hold are left out, and rows of numbers too large for doubles refused.
    `token` stops the building: each new column and row checks it.
    """

    token: CancellationToken = field(default_factory=CancellationToken)
    params: MilpParams = MILP_DEFAULTS
    lp: Any = field(default_factory=lambda: pulp.LpProblem("slotwise", pulp.LpMinimize))
    columns: int = 0
    measures: set[Column] = field(default_factory=set)
    _names: dict[str, int] = field(default_factory=dict)

    @property
    def opens_first(self) -> bool:
        """No: fewer columns are better here."""
        return False

    def whole(self, name: str, upper: int) -> Expr:
        """Add a whole number from 0 to `upper`."""
        return self._column(name, upper, pulp.LpInteger)

    def boolean(self, name: str) -> Expr:
        """Add a choice, 0 or 1."""
        return self._column(name, 1, pulp.LpInteger)

    def number(self, name: str, upper: int) -> Expr:
        """Add a number from 0 to `upper`, whole or not."""
        return self._column(name, upper, pulp.LpContinuous)

    def measure(self, name: str, upper: int) -> Expr:
        """Add `upper` times a number from 0 to 1: coefficients of a row are of like size then.

        HiGHS 1.13 proved wrong optima where a column of large values had the coefficient 1 beside
        counts with large coefficients.
        """
        column = self.number(name, 1)
        self.measures.add(column_of(column))
        return upper * column

    def total(self, parts: Iterable[Expr | int]) -> Expr:
        """Return the sum of expressions and whole numbers."""
        return total(parts)

    def most(self, expression: Expr) -> int:
        """Return the largest value of an expression that the bounds of its columns allow."""
        ends = (weight * column.upBound for column, weight in coefficients(expression).items())
        return constant(expression) + sum(end for end in ends if end > 0)

    def at_most(
        self, name: str, left: Expr | int, right: Expr | float, *, checked: bool = True
    ) -> None:
        """State left <= right; a row of numbers too large for doubles is refused if `checked`."""
        self._row(name, left, right, pulp.LpConstraintLE, checked=checked)

    def at_least(self, name: str, left: Expr | int, right: Expr | int) -> None:
        """State left >= right."""
        self._row(name, right, left, pulp.LpConstraintLE)

    def equal(self, name: str, left: Expr | int, right: Expr | int) -> None:
        """State left = right."""
        self._row(name, left, right, pulp.LpConstraintEQ)

    def implies(self, name: str, first: Expr, second: Expr) -> None:
        """State of two booleans: if the first, then the second."""
        self.at_most(name, first, second)

    def _column(self, name: str, upper: int, kind: str) -> Expr:
        self.token.check()
        self.columns += 1
        if self.columns > self.params.max_columns:
            raise NotTakenError(
                f"its linear model has more than {self.params.max_columns:,} columns"
            )
        column: Expr = self.lp.add_variable(self._free(name), 0, upper, kind)
        return column

    def _row(
        self,
        name: str,
        left: Expr | int,
        right: Expr | float,
        sense: int,
        *,
        checked: bool = True,
    ) -> None:
        """Add left (sense) right; a row without columns that holds is left out."""
        row = pulp.LpAffineExpression(left) - right
        if checked:
            check_size(row, name)
        self.token.check()
        holds = row.constant == 0 if sense == pulp.LpConstraintEQ else row.constant <= 0
        if len(row) or not holds:
            if not len(row):
                row = row + self._column("nothing", 0, pulp.LpContinuous)
            self.lp.addConstraint(pulp.LpConstraint(row, sense), self._free(name))

    def _free(self, name: str) -> str:
        """Return the name with letters that every format takes, not given before."""
        clean = _ILLEGAL.sub("_", name)
        count = self._names.get(clean, 0) + 1
        self._names[clean] = count
        return clean if count == 1 else self._free(f"{clean}_{count}")


def total(parts: Iterable[Expr | int]) -> Expr:
    """Return the sum of expressions and whole numbers."""
    expression: Expr = pulp.lpSum(parts)
    return expression


def coefficients(expression: Expr) -> dict[Column, int]:
    """Return column -> coefficient."""
    return {column: int(weight) for column, weight in _inside(expression).items()}


def constant(expression: Expr) -> int:
    """Return the value of an expression where all its columns are 0."""
    return int(_inside(expression).constant)


def _inside(expression: Expr) -> Sum:
    """Return an expression as a sum of PuLP; a column is wrapped."""
    if isinstance(expression, pulp.LpAffineExpression):
        return cast(Sum, expression)
    wrapped: Sum = pulp.LpAffineExpression(expression)
    return wrapped


def column_of(expression: Expr) -> Column:
    """Return an expression that is a column as one.

    Raises
    ------
    InternalError
        When it is not one.
    """
    if not isinstance(expression, pulp.LpVariable):
        raise InternalError(f"{expression} is not a column")
    column: Column = expression
    return column


def check_size(expression: Expr, name: str) -> None:
    """Refuse a sum that doubles cannot represent within the solvers' tolerances.

    Raises
    ------
    NotTakenError
        Naming the row.
    """
    inside = _inside(expression)
    most = int(sum(abs(weight) * column.upBound for column, weight in inside.items()))
    if max(most, abs(inside.constant)) > MOST_ACTIVITY:
        raise NotTakenError(
            f"{name} has numbers up to {most:,}, too large for floating point; "
            "use a coarser unit or engine cp-sat"
        )
