"""The linear model of a problem, with its terms scaled for minimising and limiting."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.compact.formulation import formulate
from slotwise.solver.compact.layout import group_names, make_groups
from slotwise.solver.compact.milp.backend import (
    MOST_TRUSTED_SUM,
    just_above,
    largest_sum,
    whole_bound,
)
from slotwise.solver.compact.milp.builder import (
    Column,
    Expr,
    MilpBuilder,
    coefficients,
    constant,
    total,
)
from slotwise.solver.compact.network import NetworkPlace, Product
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
    stated = formulate(model, problem, products(model, problem), params.max_pair_tasks)
    return CompactModel(model, stated.counts, stated.terms)


@dataclass(frozen=True, slots=True)
class Grid:
    """A term as ``constant + step * columns``; `columns` is whole at every placement.

    `largest` is the largest size, of either sign, that `columns` can have, `is_measure` whether it
    is a `ModelBuilder.measure`.
    """

    constant: int
    step: int
    columns: Expr
    largest: float
    is_measure: bool = False

    @classmethod
    def of(cls, term: Expr, measures: Collection[Column] = ()) -> Grid:
        """Return a term with its coefficients in lowest terms, save that of one of `measures`."""
        weights = coefficients(term)
        is_measure = any(one in measures for one in weights)
        step = 1 if is_measure else math.gcd(*weights.values()) or 1
        columns = total(weight // step * column for column, weight in weights.items())
        return cls(constant(term), step, columns, largest_sum(columns), is_measure)

    def bound(self, of_columns: float | None) -> int | None:
        """Return the bound of the term that follows from a bound of its columns, at least 0.

        Beyond sums of `MOST_TRUSTED_SUM` it is 0. ``None`` = no bound.
        """
        if self.largest > MOST_TRUSTED_SUM:
            return 0
        whole = whole_bound(of_columns)
        return None if whole is None else max(0, self.constant + self.step * whole)


def fix(compact: CompactModel, grid: Grid, name: str, value: int) -> None:
    """State that a term is at most `value`."""
    most = (value - grid.constant) // grid.step
    compact.model.at_most(f"term_{name}", grid.columns, just_above(most), checked=False)


# Products of counts in the linear model.
#
# They are linearised by the exact count of the center: with booleans ``h_i`` = "u is i" (i >= 1, at
# most one) and ``w_li`` = "count of leaf l if u is i, else 0",
#
#     u = sum_i i h_i        u * v_l = sum_i i w_li        sum_i w_li <= v_l
#
# and every hard capacity holds for each i separately: ``sum_l d_l w_li <= (capacity - i d_u) h_i``,
# and for u = 0 for what is left. This is far tighter than order-encoded products ("u is at least
# i"), which leave the capacity out. Only upper bounds on w are needed, for savings are maximised.


def products(model: MilpBuilder, problem: Problem) -> Product[Expr]:
    """Return how the linear model of a problem has products of counts."""
    hard = np.where(problem.hard, problem.demand, 0)
    needs = np.concatenate([hard, problem.heap[:, None]], axis=1)
    return Products(model, group_names(problem, make_groups(problem)), needs).of


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """Linearised products of counts.

    Parameters
    ----------
    model
        Where to state them.
    names
        Per group.
    needs
        [C, R]: demand of a task, 0 for soft resources, and its heap. Groups are classes here.
    """

    model: MilpBuilder
    names: list[str]
    needs: IntArray

    def of(self, place: NetworkPlace[Expr], center: int, leaves: Mapping[int, int]) -> Expr:
        """Return center * (weighted leaves) in the place, as a sum that is never more than that."""
        u, most_u = place.counts[center]
        leaf_counts = {leaf: place.counts[leaf] for leaf in leaves if leaf in place.counts}
        name = f"{self.names[center]}_{place.name}"
        is_count: dict[int, Expr] = {}
        shares: dict[int, dict[int, Expr]] = {}
        for i in range(1, most_u + 1):
            room = place.capacity - i * self.needs[center]
            if (room < 0).any():
                break
            is_count[i] = self.model.boolean(f"is{i}_{name}")
            shares[i] = self._shares(f"if{i}_{name}", leaf_counts, is_count[i], room)
        self.model.at_most(f"one_{name}", total(is_count.values()), 1)
        self.model.equal(f"count_{name}", u, total(i * h for i, h in is_count.items()))
        rest = {
            leaf: (total((v, *(-1 * shares[i][leaf] for i in is_count if leaf in shares[i]))), most)
            for leaf, (v, most) in leaf_counts.items()
        }
        for leaf, (left, _) in rest.items():
            self.model.at_most(f"share_{self.names[leaf]}_{name}", 0, left)
        none = total((1, *(-1 * h for h in is_count.values())))
        self._capacity(f"if0_{name}", rest, none, place.capacity)
        return total(
            i * leaves[leaf] * share for i in is_count for leaf, share in shares[i].items()
        )

    def _shares(
        self, name: str, leaf_counts: dict[int, tuple[Expr, int]], is_count: Expr, room: IntArray
    ) -> dict[int, Expr]:
        """Return the counts of the leaves where the center's is i, given the room it leaves."""
        shares = {}
        for leaf, (_, most) in leaf_counts.items():
            room_for = [
                free // need
                for free, need in zip(room.tolist(), self.needs[leaf].tolist(), strict=True)
                if need
            ]
            fits = min([most, *room_for])
            if fits:
                shares[leaf] = self.model.number(f"w_{self.names[leaf]}_{name}", fits)
                self.model.at_most(
                    f"bound_{self.names[leaf]}_{name}", shares[leaf], fits * is_count
                )
        self._capacity(
            name,
            {leaf: (share, leaf_counts[leaf][1]) for leaf, share in shares.items()},
            is_count,
            room,
        )
        return shares

    def _capacity(
        self, name: str, leaf_counts: Mapping[int, tuple[Expr, int]], is_count: Expr, room: IntArray
    ) -> None:
        """Load of the leaves <= room, both 0 unless the center's count is that."""
        for r, free in enumerate(room.tolist()):
            needs = {leaf: int(self.needs[leaf, r]) for leaf in leaf_counts if self.needs[leaf, r]}
            most = sum(need * leaf_counts[leaf][1] for leaf, need in needs.items())
            if len(needs) > 1 and most > free:
                load = total(need * leaf_counts[leaf][0] for leaf, need in needs.items())
                self.model.at_most(f"room{r}_{name}", load, int(free) * is_count)
