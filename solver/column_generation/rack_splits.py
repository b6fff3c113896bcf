"""The ways to split all tasks over the sites, and an upper bound on the value of each.

With one site there is one split. With two racks every vector x of kinds in the first rack is a
split, worth ``F_1(x) + F_2(P - x) + rack savings``, with F the best value of a site. ``F`` is
bounded by Lagrangian bounds; one bounds every split at once, in one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.listed_master import NEG_INF, ListedMaster, TypeColumns
from slotwise.solver.column_generation.params import ConfigurationsParams
from slotwise.solver.column_generation.restricted_master import FloatArray, on_grid
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.task_types import TaskTypes


class TooManySplitsError(Exception):
    """Two racks can share the tasks in too many ways (`ConfigurationsParams.max_rack_splits`)."""


class RackSplits:
    """All splits that may still be the best one, with their bounds.

    Parameters
    ----------
    first
        [L, K] tasks of each kind in the first site.
    total
        [K] all tasks; the second site, if any, has the rest.
    bonus
        [L] value of a split beyond the sites' own.
    site_count
        1 or 2.
    scale
        Grid of the bounds.
    """

    def __init__(
        self, first: IntArray, total: IntArray, bonus: IntArray, site_count: int, scale: int
    ) -> None:
        self._first = first.astype(np.float64)
        self._total = total.astype(np.float64)
        self._bonus = bonus
        self._scale = scale
        length = len(first)
        self._bounds = [np.full(length, float(-NEG_INF)) for _ in range(site_count)]
        self._dual_bound_of = [np.full(length, -1, dtype=np.int32) for _ in range(site_count)]
        self._most = np.full(length, -NEG_INF, dtype=np.int64)
        self._solved = np.zeros(length, dtype=np.bool_)
        self.dual_bounds: list[DualBound] = []

    def __len__(self) -> int:
        """Return how many splits are left."""
        return len(self._first)

    def add(self, dual_bound: DualBound, site: int) -> None:
        """Tighten the bounds of a site (for its share of every split) by a dual bound.

        Doubles hold these sums exactly: the master keeps them below 2^53.
        """
        self.dual_bounds.append(dual_bound)
        share = self._first if site == 0 else self._total - self._first
        bound = share @ dual_bound.duals.astype(np.float64) + float(dual_bound.constant)
        better = bound < self._bounds[site]
        self._bounds[site][better] = bound[better]
        self._dual_bound_of[site][better] = len(self.dual_bounds) - 1

    def values(self) -> IntArray:
        """Return the most that each split can be worth, a whole number."""
        together = np.floor(np.sum(self._bounds, axis=0) / self._scale).astype(np.int64)
        values: IntArray = np.minimum(together + self._bonus, self._most)
        return values

    def keep(self, mask: BoolArray) -> None:
        """Forget the other splits."""
        self._first = self._first[mask]
        self._bonus = self._bonus[mask]
        self._bounds = [bound[mask] for bound in self._bounds]
        self._dual_bound_of = [dual_bound_of[mask] for dual_bound_of in self._dual_bound_of]
        self._most = self._most[mask]
        self._solved = self._solved[mask]

    def share(self, split: int, site: int) -> IntArray:
        """Return [K] tasks of a split in a site."""
        first = self._first[split]
        share: IntArray = (first if site == 0 else self._total - first).astype(np.int64)
        return share

    def gap(self, split: int, value: int) -> int:
        """Return the scaled gap: the reduced cost that a solution worth `value` may have."""
        bounds = sum(int(bound[split]) for bound in self._bounds)
        return bounds - (value - int(self._bonus[split])) * self._scale

    def dual_bound_of(self, split: int, site: int) -> DualBound:
        """Return the dual bound that bounds a split at a site."""
        return self.dual_bounds[int(self._dual_bound_of[site][split])]

    def value(self, split: int, reduced_cost: int) -> int:
        """Return the value of a solution of the split with this total reduced cost."""
        bounds = sum(int(bound[split]) for bound in self._bounds)
        value, rest = divmod(bounds - reduced_cost, self._scale)
        assert rest == 0, "values are whole: reduced costs make up for the fraction of the bounds"
        return value + int(self._bonus[split])

    def is_solved(self, split: int) -> bool:
        """Return whether the relaxation of this very split was solved."""
        return bool(self._solved[split])

    def mark_solved(self, split: int) -> None:
        """Note that its bound is that of its own relaxation."""
        self._solved[split] = True

    def lower(self, split: int, value: int) -> None:
        """Note that the split is worth at most `value`."""
        self._most[split] = value


def all_in_one(total: IntArray) -> IntArray:
    """Return the only split of a single site."""
    return total[None, :]


def two_racks(
    kinds: TaskTypes,
    racks: Sequence[tuple[Sequence[TypeColumns], Sequence[int]]],
    params: ConfigurationsParams,
    token: RunToken,
) -> IntArray:
    """Return [L, K] the shares of the first of two racks such that both can hold theirs.

    Loads of a rack lie between the sums of the least and the largest load of its nodes, in every
    dimension and in the number of tasks. Of two equal racks one order is kept.

    Raises
    ------
    TooManySplitsError
        When there are more than `params` allow.
    """
    weights = np.concatenate([kinds.demand, np.ones((kinds.count, 1), dtype=np.int64)], axis=1)
    total = kinds.sizes @ weights
    (least_a, most_a), (least_b, most_b) = (_range(weights, *rack) for rack in racks)
    low, high = np.maximum(least_a, total - most_b), np.minimum(most_a, total - least_b)
    rows = np.zeros((1, 0), dtype=np.int64)
    load = np.zeros((1, weights.shape[1]), dtype=np.int64)
    later = total.copy()
    for k in range(kinds.count):
        later = later - kinds.sizes[k] * weights[k]
        steps = np.arange(int(kinds.sizes[k]) + 1, dtype=np.int64)
        if len(rows) * len(steps) * weights.shape[1] > params.max_rack_split_entries:
            raise TooManySplitsError
        size = 10 * len(rows) * len(steps) * weights.shape[1]
        token.check_room(size, f"the loads of {len(rows) * len(steps):,} splits over two racks")
        loads = load[:, None, :] + steps[None, :, None] * weights[k][None, None, :]
        fits = ((loads <= high) & (loads + later >= low)).all(axis=2)
        count = int(fits.sum())
        if count > params.max_rack_splits:
            raise TooManySplitsError
        token.check_room(32 * count * (k + 1), f"{count:,} splits over two racks")
        row, step = np.nonzero(fits)
        rows = np.concatenate([rows[row], steps[step][:, None]], axis=1)
        load = loads[row, step]
    if _equal(*racks):
        rows = rows[_first_of_pair(rows, kinds.sizes)]
    return rows


def _range(
    weights: IntArray, columns: Sequence[TypeColumns], nodes: Sequence[int]
) -> tuple[IntArray, IntArray]:
    loads = [column.counts @ weights for column in columns]
    least = sum(n * load.min(axis=0) for n, load in zip(nodes, loads, strict=True))
    most = sum(n * load.max(axis=0) for n, load in zip(nodes, loads, strict=True))
    return np.asarray(least), np.asarray(most)


def _equal(
    first: tuple[Sequence[TypeColumns], Sequence[int]],
    second: tuple[Sequence[TypeColumns], Sequence[int]],
) -> bool:
    """Return whether the racks have the same columns (the same objects) for as many nodes."""
    return [id(c) for c in first[0]] == [id(c) for c in second[0]] and first[1] == second[1]


def _first_of_pair(rows: IntArray, total: IntArray) -> BoolArray:
    """Return which rows x come before total - x or are equal to it, comparing the first kinds."""
    difference = 2 * rows - total
    first = (difference != 0).argmax(axis=1)
    return np.asarray(difference[np.arange(len(rows)), first] <= 0)


# The relaxation of one site: its restricted master, and bounds for all task counts of it.
#
#     max  sum_t,y value_t(y) mu_t,y   s.t.  sum y mu = x,  sum_y mu_t,y = nodes of type t
#
# The duals of `ListedMaster` are rounded to a grid and their bound recomputed in integers, so
# every `DualBound` is a proof even if the LP has not converged: with any duals pi, no integer
# solution for x is worth more than ``pi.x + sum_t nodes_t * sigma_t``, where the convexity dual
# of a node type is ``sigma_t = max_y value_t(y) - pi.y``. The reduced cost of a configuration is
# ``pi.y + sigma_t - value_t(y) >= 0`` (the master maximizes, so the sign is that of the loss in
# value), and the value of a solution is the bound minus its reduced costs.

MAX_BOUND = 2**52
"""Largest scaled bound of a site: doubles hold the sum of two of them exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class DualBound:
    """A Lagrangian bound ``(pi.x + constant) / scale`` on the value of any task counts x of a site.

    Parameters
    ----------
    scale
        Integer grid of the duals.
    duals
        [K] pi: dual of the row of each task type, times `scale`.
    constant
        Sum over node types of nodes times convexity dual.
    convexity_duals
        sigma: dual of the number of nodes of each type, times `scale`.
    """

    scale: int
    duals: IntArray
    constant: int
    convexity_duals: tuple[int, ...]

    def at(self, x: IntArray) -> int:
        """Return the bound at x, times `scale`."""
        return int(x @ self.duals) + self.constant

    def reduced_costs(self, type_index: int, columns: TypeColumns) -> IntArray:
        """Return [Y] ``pi.y + sigma - value(y)`` of each configuration y, times `scale`; >= 0."""
        paid = columns.counts @ self.duals + self.convexity_duals[type_index]
        return np.asarray(paid - columns.values * self.scale, dtype=np.int64)


class SiteRelaxation:
    """The relaxation of a site; keeps its columns from one right-hand side x to the next."""

    def __init__(
        self,
        columns: Sequence[TypeColumns],
        nodes: Sequence[int],
        total: IntArray,
        scale: int,
        token: CancellationToken,
    ) -> None:
        self._token = token
        self._total = total
        self._columns = tuple(columns)
        self._nodes = tuple(nodes)
        self._scale = scale
        self._master = ListedMaster(columns, nodes, total, maximize=True)

    def dual_bound(self, x: IntArray) -> DualBound:
        """Return the tightest bound at x that the relaxation gives."""
        self._master.lp.set_right_hand_sides(x.tolist())
        usable = [np.asarray((c.counts <= x).all(axis=1)) for c in self._columns]
        return self.exact_bound(self._master.duals(self._token, usable)[: len(x)])

    def exact_bound(self, duals: FloatArray) -> DualBound:
        """Return the bound of any duals [K], its convexity duals found by a scan in integers.

        Duals beyond those of any proper solution (`exact_scale`) are halved until all sums fit.
        """
        pi = on_grid(duals, self._scale, MAX_BOUND)
        while True:
            paid = sum(abs(p) * int(s) for p, s in zip(pi.tolist(), self._total, strict=True))
            if paid <= MAX_BOUND:
                bound = self._bound_of(pi)
                if paid + abs(bound.constant) <= MAX_BOUND:
                    return bound
            pi = np.sign(pi) * (np.abs(pi) // 2)

    def _bound_of(self, pi: IntArray) -> DualBound:
        sigma = tuple(int((c.values * self._scale - c.counts @ pi).max()) for c in self._columns)
        constant = sum(count * dual for count, dual in zip(self._nodes, sigma, strict=True))
        return DualBound(self._scale, pi, constant, sigma)
