"""The compact model in CP-SAT's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ortools.sat.python import cp_model, cp_model_helper

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InternalError

Count = cp_model.LinearExpr | int
"""A linear expression of CP-SAT."""


@dataclass(frozen=True, slots=True, eq=False)
class CpBuilder:
    """A `ModelBuilder` on a model of CP-SAT; names are dropped, no file has them.

    Parameters
    ----------
    model
        What is built.
    token
        What stops the building: each new variable checks it.
    """

    model: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    token: CancellationToken = field(default_factory=CancellationToken)
    _uppers: dict[int, int] = field(default_factory=dict)

    @property
    def opens_first(self) -> bool:
        """Yes: branching on whether a worker is open comes before what it holds."""
        return True

    def whole(self, name: str, upper: int) -> Count:
        """Add a whole number from 0 to `upper`."""
        self.token.check()
        added = self.model.new_int_var(0, upper, "")
        self._uppers[added.index] = upper
        return added

    def boolean(self, name: str) -> Count:
        """Add a choice, 0 or 1."""
        return self.whole(name, 1)

    def number(self, name: str, upper: int) -> Count:
        """Add a whole number from 0 to `upper`: CP-SAT has no others."""
        return self.whole(name, upper)

    def total(self, parts: Iterable[Count]) -> Count:
        """Return the sum of expressions and whole numbers."""
        return sum(parts)

    def most(self, expression: Count) -> int:
        """Return the largest value that the bounds of variables made here allow."""
        if isinstance(expression, int):
            return expression
        flat = cp_model_helper.FlatIntExpr(expression)
        weights = zip(flat.vars, flat.coeffs, strict=True)
        ends = (weight * self._uppers[column.index] for column, weight in weights if weight > 0)
        return int(flat.offset) + sum(ends)

    def at_most(self, name: str, left: Count, right: Count) -> None:
        """State left <= right."""
        self.model.add(left <= right)

    def at_least(self, name: str, left: Count, right: Count) -> None:
        """State left >= right."""
        self.model.add(left >= right)

    def equal(self, name: str, left: Count, right: Count) -> None:
        """State left = right."""
        self.model.add(left == right)

    def implies(self, name: str, first: Count, second: Count) -> None:
        """State of two booleans: if the first, then the second."""
        self.model.add_implication(variable(first), variable(second))


def variable(expression: Count) -> cp_model.IntVar:
    """Return an expression that is a variable as one.

    Raises
    ------
    InternalError
        When it is none.
    """
    if not isinstance(expression, cp_model.IntVar):
        raise InternalError(f"{expression} is no variable of CP-SAT")
    return expression
