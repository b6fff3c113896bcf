"""The master problem of one site: which configurations its nodes hold, relaxed to fractions.

    max  sum_t,y value_t(y) mu_t,y   s.t.  sum y mu = x,  sum_y mu_t,y = nodes of type t

Columns are priced by one scan over all configurations. The duals are rounded to a grid and their
bound recomputed in integers, so every `Cut` is a proof by itself, however far the LP converged:
with any prices pi, no plan of x is worth more than ``pi.x + sum_t nodes_t * sigma_t`` where
``sigma_t = max_y value_t(y) - pi.y``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.core.ctrl_c import check_stop

FloatArray = NDArray[np.float64]

COLUMNS_A_ROUND = 20
TOLERANCE = 1e-7
LARGEST = 2**52
"""No bound of a cut is larger: those of two sites add up to what doubles hold exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The configurations of one node type and their values [Y] for the term at hand."""

    counts: IntArray
    values: IntArray

    @property
    def empty(self) -> int | None:
        """Return the row of the empty node; ``None`` where no node may stay empty."""
        rows = np.flatnonzero(~self.counts.any(axis=1))
        return int(rows[0]) if len(rows) else None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """An exact bound ``(prices.x + ground) / scale`` on the value of any contents x of a site.

    Parameters
    ----------
    scale
        Integer grid of the prices.
    prices
        [K] worth of one task of each kind, times `scale`.
    ground
        Sum over types of nodes times `sigma`.
    sigma
        Per type: worth of a node, times `scale`.
    """

    scale: int
    prices: IntArray
    ground: int
    sigma: tuple[int, ...]

    def at(self, x: IntArray) -> int:
        """Return the bound at x, times `scale`."""
        return int(x @ self.prices) + self.ground

    def losses(self, type_index: int, column: Column) -> IntArray:
        """Return how far each configuration stays below its price, times `scale`; never < 0."""
        worth = column.counts @ self.prices + self.sigma[type_index]
        return np.asarray(worth - column.values * self.scale, dtype=np.int64)


class Master:
    """The relaxed master of a site; keeps its columns from one right-hand side to the next."""

    def __init__(
        self, columns: Sequence[Column], nodes: Sequence[int], total: IntArray, scale: int
    ) -> None:
        self._total = total
        self._columns = tuple(columns)
        self._nodes = tuple(nodes)
        self._scale = scale
        self._kinds = columns[0].counts.shape[1]
        self._known = [np.zeros(len(c.counts), dtype=np.bool_) for c in columns]
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for _ in range(self._kinds):
            self._lp.addRow(0.0, 0.0, 0, [], [])
        for count in nodes:
            self._lp.addRow(float(count), float(count), 0, [], [])
        penalty = 2.0 * float(sum(int(np.abs(c.values).max()) for c in columns)) + 1.0
        for row in range(self._kinds + len(nodes)):
            for sign in (1.0, -1.0):
                self._lp.addCol(-penalty, 0.0, highspy.kHighsInf, 1, [row], [sign])

    def cut(self, x: IntArray) -> Cut:
        """Return the tightest cut at x that the relaxation gives."""
        for k in range(self._kinds):
            self._lp.changeRowBounds(k, float(x[k]), float(x[k]))
        usable = [np.asarray((c.counts <= x).all(axis=1)) for c in self._columns]
        while True:
            check_stop()
            self._lp.run()
            duals = np.array(self._lp.getSolution().row_dual)
            if not self._price(duals, usable):
                return self.exact(duals[: self._kinds])

    def exact(self, duals: FloatArray) -> Cut:
        """Return the cut of any prices, its node worths found by a scan in integers.

        Prices beyond what any proper solution has (`exact_scale`) are halved until all fits.
        """
        scaled = np.nan_to_num(np.rint(duals * self._scale))
        prices = np.clip(scaled, -float(LARGEST), float(LARGEST)).astype(np.int64)
        while True:
            paid = sum(abs(p) * int(s) for p, s in zip(prices.tolist(), self._total, strict=True))
            if paid <= LARGEST:
                cut = self._at(prices)
                if paid + abs(cut.ground) <= LARGEST:
                    return cut
            prices = np.sign(prices) * (np.abs(prices) // 2)

    def _at(self, prices: IntArray) -> Cut:
        sigma = tuple(
            int((c.values * self._scale - c.counts @ prices).max()) for c in self._columns
        )
        ground = sum(count * worth for count, worth in zip(self._nodes, sigma, strict=True))
        return Cut(self._scale, prices, ground, sigma)

    def _price(self, duals: FloatArray, usable: Sequence[BoolArray]) -> bool:
        """Add the columns of the largest reduced values; return whether there were any."""
        added = False
        for t, column in enumerate(self._columns):
            prices, worth = duals[: self._kinds], duals[self._kinds + t]
            reduced = column.values - column.counts @ prices - worth
            reduced[~usable[t] | self._known[t]] = -np.inf
            count = min(COLUMNS_A_ROUND, len(reduced))
            for y in np.argpartition(-reduced, count - 1)[:count].tolist():
                if reduced[y] > TOLERANCE:
                    self._add(t, y)
                    added = True
        return added

    def _add(self, t: int, y: int) -> None:
        counts = self._columns[t].counts[y]
        rows = [*np.flatnonzero(counts).tolist(), self._kinds + t]
        entries = [*(float(counts[k]) for k in rows[:-1]), 1.0]
        value = float(self._columns[t].values[y])
        self._lp.addCol(value, 0.0, highspy.kHighsInf, len(rows), rows, entries)
        self._known[t][y] = True
