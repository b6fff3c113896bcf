"""Partitions of the tasks of a kind into the counts of places, and the dearest at given prices.

Rows limit how many places hold at least c tasks of a kind. A partition keeps all rows of its
kind or does not count, so the dearest one costs at most what it costs without them: that is how
branch and price branches here (`branching`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.listed_master import NEG_INF


@dataclass(frozen=True, slots=True, order=True)
class CountRow:
    """From `least` to `most` places hold `count` tasks of a kind or more each; `count` >= 1."""

    kind: int
    count: int
    least: int = 0
    most: int = NO_LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class Partitions:
    """The partitions that keep all rows.

    Parameters
    ----------
    sizes, most
        [K] tasks of each kind, and the most of them in one place.
    rows
        What they keep.
    barred
        [K, N + 1] counts that no place has; ``None`` for none.
    """

    sizes: IntArray
    most: IntArray
    rows: tuple[CountRow, ...] = ()
    barred: BoolArray | None = None
    _of_kind: list[_OfKind] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Sort the rows by kind."""
        kinds = zip(self.sizes.tolist(), self.most.tolist(), strict=True)
        of_kind = [
            _OfKind(size, most, _segments([row for row in self.rows if row.kind == k], most))
            for k, (size, most) in enumerate(kinds)
        ]
        object.__setattr__(self, "_of_kind", of_kind)

    def with_row(self, row: CountRow) -> Partitions:
        """Return those that keep one more row."""
        return replace(self, rows=(*self.rows, row))

    @property
    def barred_count(self) -> int:
        """Number of barred counts."""
        return 0 if self.barred is None else int(self.barred.sum())

    def without(self, barred: BoolArray) -> Partitions:
        """Return those without places of these counts [K, N + 1] either."""
        return replace(self, barred=barred if self.barred is None else self.barred | barred)

    def barring(self, prices: IntArray, penalty: int) -> IntArray:
        """Return prices [K, N + 1] with a penalty on counts that no place has."""
        return prices if self.barred is None else np.asarray(prices + penalty * self.barred)

    def admits(self, contents: IntArray) -> BoolArray:
        """Return [Y] whether a place may hold the counts of each content [Y, K]."""
        if self.barred is None:
            return np.ones(len(contents), dtype=np.bool_)
        return np.asarray(~self.barred[np.arange(len(self.sizes)), contents].any(axis=1))

    def _allowed(self, prices: IntArray) -> IntArray:
        return prices if self.barred is None else np.where(self.barred, NEG_INF, prices)

    def dearest(self, prices: IntArray, k: int) -> tuple[int, IntArray] | None:
        """Return what the tasks of kind k cost at most by `prices` [K, N + 1], and the parts.

        These are [N_k + 1] how often each count occurs. ``None`` where no partition keeps the rows.
        """
        return self._of_kind[k].dearest(self._allowed(prices)[k])

    def total(self, prices: IntArray) -> int:
        """Return what all tasks cost at most; `NEG_INF` where a kind has no partition."""
        prices = self._allowed(prices)
        costs = [of_kind.most_cost(prices[k]) for k, of_kind in enumerate(self._of_kind)]
        return NEG_INF if min(costs) <= NEG_INF // 2 else sum(costs)

    def losses(self, prices: IntArray) -> IntArray:
        """Return [K, N + 1] how much less a kind costs at most where one place has that many.

        `-NEG_INF // 2` where none may have them; there must be a partition of every kind.
        """
        losses, prices = np.zeros_like(prices), self._allowed(prices)
        for k, of_kind in enumerate(self._of_kind):
            losses[k] = -NEG_INF // 2
            losses[k, : of_kind.largest + 1] = of_kind.losses(prices[k])
        return losses

    def keeps(self, k: int, times: IntArray) -> bool:
        """Return whether a partition of kind k with `times[n]` parts of n tasks keeps the rows."""
        held = (int(times[row.count :].sum()) for row in self.rows if row.kind == k)
        rows = (row for row in self.rows if row.kind == k)
        return all(row.least <= n <= row.most for row, n in zip(rows, held, strict=True))


@dataclass(frozen=True, slots=True)
class _Segment:
    """Parts of `first` to `last` tasks; then from `least` to `most` parts, or any number."""

    first: int
    last: int
    least: int = 0
    most: int = NO_LIMIT


def _segments(rows: Iterable[CountRow], largest: int) -> tuple[_Segment, ...]:
    """Return the counts from one row of a kind to the next, largest counts first."""
    limits: dict[int, tuple[int, int]] = {}
    for row in rows:
        least, most = limits.get(row.count, (0, NO_LIMIT))
        limits[row.count] = max(least, row.least), min(most, row.most)
    segments, last = [], largest
    for count in sorted(limits, reverse=True):
        segments.append(_Segment(count, last, *limits[count]))
        last = min(last, count - 1)
    return (*segments, _Segment(1, last))


@dataclass(frozen=True, slots=True)
class _OfKind:
    """Partitions of `size` tasks into parts of at most `largest` that keep the segments' limits."""

    size: int
    largest: int
    segments: tuple[_Segment, ...]

    def most_cost(self, prices: IntArray) -> int:
        """Return the cost of the dearest; `NEG_INF` or about that where there is none."""
        return int(self._tables(prices, self.segments)[-1][1][0, self.size])

    def losses(self, prices: IntArray) -> IntArray:
        """Return [N + 1] how much less the dearest with a part of n tasks costs; 0 for none."""
        most, losses = self.most_cost(prices), np.zeros(self.largest + 1, dtype=np.int64)
        for i, segment in enumerate(self.segments):
            others = (_one_less(s) if j >= i else s for j, s in enumerate(self.segments[:-1]))
            rest = self._tables(prices, (*others, self.segments[-1]))[-1][1][0]
            counts = np.arange(segment.first, segment.last + 1)
            left = rest[self.size - counts]
            possible = (left > NEG_INF // 2) & (prices[counts] > NEG_INF // 2)
            losses[counts] = np.where(possible, most - prices[counts] - left, -NEG_INF // 2)
        return losses

    def dearest(self, prices: IntArray) -> tuple[int, IntArray] | None:
        """Return the cost and the parts of the dearest; see `Partitions.dearest`."""
        from slotwise.solver.column_generation.connected.kernels import take_parts

        tables = self._tables(prices, self.segments)
        p, left = 0, self.size
        cost = int(tables[-1][1][p, left])
        if cost <= NEG_INF // 2:
            return None
        times = np.zeros(self.largest + 1, dtype=np.int64)
        for i in range(len(self.segments) - 1, -1, -1):
            segment = self.segments[i]
            p, left = take_parts(prices, segment.first, segment.last, *tables[i], p, left, times)
            if i == len(self.segments) - 1 and i:
                p = int(_kept(tables[i - 1][1], self.segments[i - 1])[:, left].argmax())
        return cost, times

    def _tables(
        self, prices: IntArray, segments: tuple[_Segment, ...]
    ) -> list[tuple[IntArray, IntArray]]:
        """Return for each segment the most that larger parts cost, and that with its own parts.

        Both [P + 1, size + 1] by the number of tasks in them. Row p is of p parts, the last one of
        P or more; for the last segment, which has no limit, there is one row of any number.
        """
        from slotwise.solver.column_generation.connected.kernels import add_parts

        tables: list[tuple[IntArray, IntArray]] = []
        limits = [max(s.least, 1 + _finite(s.most)) for s in segments[:-1]]
        before = np.full((max(limits, default=0) + 1, self.size + 1), NEG_INF, dtype=np.int64)
        before[0, 0] = 0
        for i, segment in enumerate(segments):
            if i:
                before = _kept(tables[-1][1], segments[i - 1])
            if i == len(segments) - 1:
                before = before.max(axis=0, keepdims=True)
            table = before.copy()
            add_parts(prices, segment.first, segment.last, table)
            tables.append((before, table))
        return tables


def _finite(most: int) -> int:
    return 0 if most == NO_LIMIT else most


def _one_less(segment: _Segment) -> _Segment:
    most = segment.most if segment.most == NO_LIMIT else segment.most - 1
    return _Segment(segment.first, segment.last, max(segment.least - 1, 0), most)


def _kept(table: IntArray, segment: _Segment) -> IntArray:
    """Return the table without the numbers of parts that the segment does not allow."""
    parts = np.arange(len(table))[:, None]
    allowed = (parts >= segment.least) & (parts <= segment.most)
    return np.asarray(np.where(allowed, table, NEG_INF))
