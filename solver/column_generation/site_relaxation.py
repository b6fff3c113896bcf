"""The relaxation of one site: its restricted master, and bounds for all task counts of it.

    max  sum_t,y value_t(y) mu_t,y   s.t.  sum y mu = x,  sum_y mu_t,y = nodes of type t

The duals of `ListedMaster` are rounded to a grid and their bound recomputed in integers, so every
`DualBound` is a proof even if the LP has not converged: with any duals pi, no integer
solution for x is worth more than ``pi.x + sum_t nodes_t * sigma_t``, where the convexity dual of a
node type is ``sigma_t = max_y value_t(y) - pi.y``. The reduced cost of a configuration is
``pi.y + sigma_t - value_t(y) >= 0`` (the master maximizes, so the sign is that of the loss in
value), and the value of a solution is the bound minus its reduced costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import ListedMaster, TypeColumns
from slotwise.solver.column_generation.restricted_master import FloatArray, on_grid

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
