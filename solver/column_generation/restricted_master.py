"""The restricted master of one site: the LP over configurations, solved by column generation.

    max  sum_t,y value_t(y) mu_t,y   s.t.  sum y mu = x,  sum_y mu_t,y = nodes of type t

Pricing scans all configurations. The duals are rounded to a grid and their bound recomputed in
integers, so every `DualBound` is a proof by itself, however far the LP converged: with any duals
pi, no integer solution for x is worth more than ``pi.x + sum_t nodes_t * sigma_t``, where the
convexity dual of a node type is ``sigma_t = max_y value_t(y) - pi.y``. The reduced cost of a
configuration is ``pi.y + sigma_t - value_t(y) >= 0`` (the master maximizes, so the sign is that of
the loss in value), and the value of a solution is the bound minus its reduced costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray

FloatArray = NDArray[np.float64]

COLUMNS_A_ROUND = 20
TOLERANCE = 1e-7
MAX_BOUND = 2**52
"""Largest scaled bound of a site: doubles hold the sum of two of them exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class TypeColumns:
    """The configurations [Y, K] of one node type and their values [Y] for the term at hand."""

    counts: IntArray
    values: IntArray

    @property
    def empty(self) -> int | None:
        """Return the row of the empty node; ``None`` where no node may stay empty."""
        rows = np.flatnonzero(~self.counts.any(axis=1))
        return int(rows[0]) if len(rows) else None


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


class RestrictedMaster:
    """The restricted master of a site; keeps its columns from one right-hand side x to the next."""

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
        # Artificial variables (big M) keep the LP feasible whatever x and the columns.
        penalty = 2.0 * float(sum(int(np.abs(c.values).max()) for c in columns)) + 1.0
        for row in range(self._kinds + len(nodes)):
            for sign in (1.0, -1.0):
                self._lp.addCol(-penalty, 0.0, highspy.kHighsInf, 1, [row], [sign])

    def dual_bound(self, x: IntArray) -> DualBound:
        """Return the tightest bound at x that the relaxation gives."""
        for k in range(self._kinds):
            self._lp.changeRowBounds(k, float(x[k]), float(x[k]))
        usable = [np.asarray((c.counts <= x).all(axis=1)) for c in self._columns]
        while True:
            self._token.check()
            self._lp.run()
            duals = np.array(self._lp.getSolution().row_dual)
            if not self._price(duals, usable):
                return self.exact_bound(duals[: self._kinds])

    def exact_bound(self, duals: FloatArray) -> DualBound:
        """Return the bound of any duals [K], its convexity duals found by a scan in integers.

        Duals beyond those of any proper solution (`exact_scale`) are halved until all sums fit.
        """
        scaled = np.nan_to_num(np.rint(duals * self._scale))
        pi = np.clip(scaled, -float(MAX_BOUND), float(MAX_BOUND)).astype(np.int64)
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

    def _price(self, duals: FloatArray, usable: Sequence[BoolArray]) -> bool:
        """Pricing: add the best columns by reduced cost; return whether there were any."""
        added = False
        for t, column in enumerate(self._columns):
            pi, sigma = duals[: self._kinds], duals[self._kinds + t]
            reduced = column.values - column.counts @ pi - sigma
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
