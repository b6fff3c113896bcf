"""The compact model as a model of CP-SAT."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ortools.sat.python import cp_model, cp_model_helper

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InternalError
from slotwise.solver.compact.network import NetworkPlace, Product

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

    def measure(self, name: str, upper: int) -> Count:
        """Add a whole number from 0 to `upper`."""
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
        When it is not one.
    """
    if not isinstance(expression, cp_model.IntVar):
        raise InternalError(f"{expression} is not a variable of CP-SAT")
    return expression


# Products of counts in CP-SAT's model.
#
# A product is order-encoded: with ``u = sum_i b_i`` (b_i = "u is at least i"), ``u * v = sum_i
# z_i`` where ``z_i <= v`` and ``z_i = 0`` unless b_i. Only upper bounds on z are needed, for
# savings are maximised. Flows that share a class share its product: ``u * (w_1 v_1 + w_2 v_2 +
# ...)``. Their weights are divided by their gcd. (To split large weights into digits, each with a
# product of its own, is exact too, and keeps coefficients small; searches took up to 10,000 times
# as long.)


def products(builder: CpBuilder) -> Product[Count]:
    """Return how the compact model has products of counts."""

    def of(place: NetworkPlace[Count], center: int, leaves: Mapping[int, int]) -> Count:
        builder.token.check()
        return product(builder.model, place.counts, center, leaves)

    return of


def product(
    model: cp_model.CpModel,
    place: Mapping[int, tuple[Count, int]],
    center: int,
    leaves: Mapping[int, int],
) -> Count:
    """Return center * (weighted leaves) in a place, as a sum that is never more than that.

    Parameters
    ----------
    model
        Where to state it.
    place
        Group -> (count there, its upper bound).
    center, leaves
        A group, and group -> weight; those that are not in the place count 0.
    """
    if center not in place:
        return 0
    present = [(weight, *place[leaf]) for leaf, weight in leaves.items() if leaf in place]
    if not present:
        return 0
    u, most_u = place[center]
    steps = [model.new_bool_var("") for _ in range(most_u)]
    model.add(sum(steps) == u)
    for lower, higher in pairwise(steps):
        model.add_implication(higher, lower)
    common = math.gcd(*(weight for weight, _, _ in present))
    v = sum(weight // common * count for weight, count, _ in present)
    most_v = sum(weight // common * most for weight, _, most in present)
    total: Count = 0
    for step in steps:
        z = model.new_int_var(0, most_v, "")
        model.add(z <= v)
        model.add(z <= most_v * step)
        total += z
    return common * total
