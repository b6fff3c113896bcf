"""An integer linear program under construction, with readable names; on top of PuLP."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pulp

from slotwise.solver.engine import NotTakenError
from slotwise.solver.model_size import MOST_COLUMNS
from slotwise.solver.stopping import check_stop

Expr: TypeAlias = Any
"""A `pulp.LpAffineExpression` or `pulp.LpVariable` (PuLP has no types); coefficients are whole."""

MOST_ACTIVITY = 10**9
"""Of a row: the solvers hold rows to 1e-9 of their numbers, which must stay far below one."""

LONGEST_ID = 24
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.]")


@dataclass(slots=True, eq=False)
class Model:
    """Columns and rows; all columns are at least 0 and bounded."""

    lp: Any = field(default_factory=lambda: pulp.LpProblem("slotwise", pulp.LpMinimize))
    columns: int = 0
    _names: dict[str, int] = field(default_factory=dict)

    def whole(self, name: str, most: int) -> Expr:
        """Add a whole number from 0 to `most`."""
        return self._column(name, most, pulp.LpInteger)

    def boolean(self, name: str) -> Expr:
        """Add a choice, 0 or 1."""
        return self._column(name, 1, pulp.LpInteger)

    def real(self, name: str, most: int) -> Expr:
        """Add a number from 0 to `most`."""
        return self._column(name, most, pulp.LpContinuous)

    def at_most(self, name: str, left: Expr, right: Expr | int, *, checked: bool = True) -> None:
        """State left <= right; a row of numbers too large for doubles is refused if `checked`."""
        row = _expression(left) - right
        if checked:
            check_size(row, name)
        self._row(name, row, pulp.LpConstraintLE)

    def equal(self, name: str, left: Expr, right: Expr | int) -> None:
        """State left = right."""
        row = _expression(left) - right
        check_size(row, name)
        self._row(name, row, pulp.LpConstraintEQ)

    def _column(self, name: str, most: int, kind: str) -> Expr:
        check_stop()
        self.columns += 1
        if self.columns > MOST_COLUMNS:
            raise NotTakenError(f"its linear model has more than {MOST_COLUMNS:,} columns")
        return self.lp.add_variable(self._free(name), 0, most, kind)

    def _row(self, name: str, expression: Expr, sense: int) -> None:
        """Add expression (sense) 0; a row without columns that holds is left out."""
        check_stop()
        constant = expression.constant
        holds = constant == 0 if sense == pulp.LpConstraintEQ else constant <= 0
        if len(expression) or not holds:
            if not len(expression):
                expression = expression + self._column("nothing", 0, pulp.LpContinuous)
            self.lp.addConstraint(pulp.LpConstraint(expression, sense), self._free(name))

    def _free(self, name: str) -> str:
        """Return the name with letters that every format takes, not given before."""
        clean = _ILLEGAL.sub("_", name)
        count = self._names.get(clean, 0) + 1
        self._names[clean] = count
        return clean if count == 1 else self._free(f"{clean}_{count}")


def total(parts: Any) -> Expr:
    """Return the sum of expressions and numbers."""
    return pulp.lpSum(parts)


def _expression(value: Expr | int) -> Expr:
    return pulp.LpAffineExpression(value)


def check_size(expression: Expr, name: str) -> None:
    """Refuse a sum that doubles do not carry at the tolerances of the solvers.

    Raises
    ------
    NotTakenError
        Naming the row.
    """
    most = sum(abs(coefficient) * column.upBound for column, coefficient in expression.items())
    if max(most, abs(expression.constant)) > MOST_ACTIVITY:
        raise NotTakenError(
            f"{name} has numbers up to {most:,}, too large for floating point; "
            "use a coarser unit or engine cp-sat"
        )


def short(name: str) -> str:
    """Return an id, shortened for use within a name."""
    return name[:LONGEST_ID]
