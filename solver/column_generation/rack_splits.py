"""The ways to split all tasks over the sites, and what each is worth at most.

With one site there is one split. With two racks every vector x of kinds in the first rack is a
split, worth ``F_1(x) + F_2(P - x) + rack savings`` (docs/design.md, 8.7). ``F`` is bounded by
cuts; a cut bounds every split at once, in one scan.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.restricted_master import Column, Cut
from slotwise.solver.core.memory import check_room
from slotwise.solver.structure.task_types import Kinds

MOST_SPLITS = 5_000_000
MOST_ENTRIES = 100_000_000
"""Numbers in an intermediate array: most of a gigabyte."""
OPEN = 2**60


class TooManySplitsError(Exception):
    """Two racks can share the tasks in more than `MOST_SPLITS` ways."""


class Splits:
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
        Grid of the cuts.
    """

    def __init__(
        self, first: IntArray, total: IntArray, bonus: IntArray, site_count: int, scale: int
    ) -> None:
        self._first = first.astype(np.float64)
        self._total = total.astype(np.float64)
        self._bonus = bonus
        self._scale = scale
        length = len(first)
        self._bounds = [np.full(length, float(OPEN)) for _ in range(site_count)]
        self._cut_of = [np.full(length, -1, dtype=np.int32) for _ in range(site_count)]
        self._most = np.full(length, OPEN, dtype=np.int64)
        self._solved = np.zeros(length, dtype=np.bool_)
        self.cuts: list[Cut] = []

    def __len__(self) -> int:
        """Return how many splits are left."""
        return len(self._first)

    def add(self, cut: Cut, site: int) -> None:
        """Tighten the bounds of a site (its contents of every split) by a cut.

        Doubles hold these sums exactly: the master keeps them below 2^53.
        """
        self.cuts.append(cut)
        contents = self._first if site == 0 else self._total - self._first
        bound = contents @ cut.prices.astype(np.float64) + float(cut.ground)
        better = bound < self._bounds[site]
        self._bounds[site][better] = bound[better]
        self._cut_of[site][better] = len(self.cuts) - 1

    def values(self) -> IntArray:
        """Return the most that each split can be worth, a whole number."""
        together = np.floor(np.sum(self._bounds, axis=0) / self._scale).astype(np.int64)
        values: IntArray = np.minimum(together + self._bonus, self._most)
        return values

    def keep(self, kept: BoolArray) -> None:
        """Forget the other splits."""
        self._first = self._first[kept]
        self._bonus = self._bonus[kept]
        self._bounds = [bound[kept] for bound in self._bounds]
        self._cut_of = [cut_of[kept] for cut_of in self._cut_of]
        self._most = self._most[kept]
        self._solved = self._solved[kept]

    def contents(self, split: int, site: int) -> IntArray:
        """Return [K] tasks of a split in a site."""
        first = self._first[split]
        share: IntArray = (first if site == 0 else self._total - first).astype(np.int64)
        return share

    def slack(self, split: int, value: int) -> int:
        """Return the total loss, on the cuts' scale, that a plan worth `value` may have."""
        bounds = sum(int(bound[split]) for bound in self._bounds)
        return bounds - (value - int(self._bonus[split])) * self._scale

    def cut_of(self, split: int, site: int) -> Cut:
        """Return the cut that bounds a split in a site."""
        return self.cuts[int(self._cut_of[site][split])]

    def worth(self, split: int, loss: int) -> int:
        """Return the value of a plan of the split with this total loss."""
        bounds = sum(int(bound[split]) for bound in self._bounds)
        value, rest = divmod(bounds - loss, self._scale)
        assert rest == 0, "values are whole, so losses make up for the fraction of the bounds"
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


def two_racks(kinds: Kinds, racks: Sequence[tuple[Sequence[Column], Sequence[int]]]) -> IntArray:
    """Return [L, K] the contents of the first of two racks that both can hold.

    Loads of a rack lie between the sums of the least and the largest load of its nodes, in every
    dimension and in the number of tasks. Of two equal racks one order is kept.

    Raises
    ------
    TooManySplitsError
        When there are more than `MOST_SPLITS`.
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
        if len(rows) * len(steps) * weights.shape[1] > MOST_ENTRIES:
            raise TooManySplitsError
        size = 10 * len(rows) * len(steps) * weights.shape[1]
        check_room(size, f"the loads of {len(rows) * len(steps):,} splits over two racks")
        loads = load[:, None, :] + steps[None, :, None] * weights[k][None, None, :]
        fits = ((loads <= high) & (loads + later >= low)).all(axis=2)
        if int(fits.sum()) > MOST_SPLITS:
            raise TooManySplitsError
        check_room(32 * int(fits.sum()) * (k + 1), f"{int(fits.sum()):,} splits over two racks")
        row, step = np.nonzero(fits)
        rows = np.concatenate([rows[row], steps[step][:, None]], axis=1)
        load = loads[row, step]
    if _equal(*racks):
        rows = rows[_first_of_pair(rows, kinds.sizes)]
    return rows


def _range(
    weights: IntArray, columns: Sequence[Column], nodes: Sequence[int]
) -> tuple[IntArray, IntArray]:
    loads = [column.counts @ weights for column in columns]
    least = sum(n * load.min(axis=0) for n, load in zip(nodes, loads, strict=True))
    most = sum(n * load.max(axis=0) for n, load in zip(nodes, loads, strict=True))
    return np.asarray(least), np.asarray(most)


def _equal(
    one: tuple[Sequence[Column], Sequence[int]], other: tuple[Sequence[Column], Sequence[int]]
) -> bool:
    """Return whether the racks have the same columns (the same objects) for as many nodes."""
    return [id(c) for c in one[0]] == [id(c) for c in other[0]] and one[1] == other[1]


def _first_of_pair(rows: IntArray, total: IntArray) -> BoolArray:
    """Return which rows x come before total - x or are equal to it, comparing the first kinds."""
    difference = 2 * rows - total
    first = (difference != 0).argmax(axis=1)
    return np.asarray(difference[np.arange(len(rows)), first] <= 0)
