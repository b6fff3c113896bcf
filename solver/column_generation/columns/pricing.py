"""The LP relaxation of a `ColumnModel`, solved by column generation; its bound in integers.

The relaxation takes all racks for one and the columns in fractions. Its duals are rounded to a grid
and the bound recomputed with them, so it holds whatever the floating point did: for duals pi of
the tasks and multipliers mu >= 0 of the limits, no integer solution costs less than

    constant + pi * sizes + mu * (limit's constant - most) + sum over types of nodes * sigma
    + sum over topologies of min(0, rejection cost + mu * limit's rejection cost - pi * its sizes)

where the convexity dual ``sigma`` of a type is the least ``value + mu * limit's value - pi *
counts`` of its columns. The reduced cost of a column is ``value + mu * limit's value - pi * counts
- sigma >= 0``: a solution costs at least the bound and the reduced costs of its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.columns.model import ColumnExpression, ColumnModel
from slotwise.solver.column_generation.listed_master import ListedMaster, TypeColumns
from slotwise.solver.column_generation.restricted_master import FloatArray, on_grid

SCALE_BITS = 20
MAX_BITS, MAX_DUAL = 61, 2**60

Limit = tuple[ColumnExpression, int]
"""An expression and its upper limit."""


@dataclass(frozen=True, slots=True, eq=False)
class DualSolution:
    """A dual bound and the reduced costs [Y] per node type, both times `scale`."""

    scale: int
    bound: int
    reduced_costs: tuple[IntArray, ...]

    @property
    def whole_bound(self) -> int:
        """The bound as a whole number: no solution costs less."""
        return -(-self.bound // self.scale)


def solve_relaxation(
    model: ColumnModel,
    term: ColumnExpression,
    limits: Sequence[Limit],
    deadline: float,
    token: CancellationToken,
) -> DualSolution:
    """Return the bound and reduced costs of the best duals found before the deadline."""
    return _Relaxation(model, term, limits).solve(deadline, token)


def may_be_feasible(
    model: ColumnModel, limits: Sequence[Limit], deadline: float, token: CancellationToken
) -> bool:
    """Return whether fractions of columns can keep all rows; if not, there is no solution.

    Exact: at no cost at all, a bound above 0 is paid for rows that cannot be kept.
    """
    nothing = ColumnExpression(
        constant=0,
        values=tuple(np.zeros(len(c.counts), dtype=np.int64) for c in model.columns),
        rejection_costs=np.zeros(len(model.problem.rules), dtype=np.int64),
        inter_rack_cost=0,
    )
    return solve_relaxation(model, nothing, limits, deadline, token).bound <= 0


class _Relaxation:
    """The restricted master of a term with its limits and rejections, and its bound."""

    def __init__(self, model: ColumnModel, term: ColumnExpression, limits: Sequence[Limit]) -> None:
        self._model, self._term, self._limits = model, term, tuple(limits)
        self._kinds = model.kinds.count
        self._master = ListedMaster(
            [
                TypeColumns(c.counts, term.values[t], tuple(one.values[t] for one, _ in limits))
                for t, c in enumerate(model.columns)
            ],
            [len(kind.nodes) for kind in model.types],
            model.kinds.sizes,
            [most - limit.constant for limit, most in limits],
            other_values=int(np.abs(term.rejection_costs).max(initial=0)),
        )
        self._add_rejections()

    def _add_rejections(self) -> None:
        if not self._model.problem.may_reject:
            return
        kinds, costs = self._model.kinds, self._term.rejection_costs
        entries = np.zeros((len(costs), self._kinds + len(self._limits)), dtype=np.int64)
        entries[kinds.topology, np.arange(self._kinds)] = kinds.sizes
        for row, (limit, _) in enumerate(self._limits, start=self._kinds):
            entries[:, row] = limit.rejection_costs
        self._master.lp.add_columns(costs, entries, most=1.0)

    def solve(self, deadline: float, token: CancellationToken) -> DualSolution:
        """Add columns until none would lower the cost."""
        return self._exact(self._master.duals(token, deadline=deadline))

    def _exact(self, duals: FloatArray) -> DualSolution:
        """Round the duals to the finest grid whose sums stay in 64 bits."""
        for bits in range(SCALE_BITS, -1, -1):
            scale = 1 << bits
            scaled = on_grid(duals, scale, MAX_DUAL)
            pi, mu = scaled[: self._kinds], -scaled[self._kinds : self._kinds + len(self._limits)]
            solution = self._bound_of(scale, pi, np.maximum(mu, 0))
            if solution is not None:
                return solution
        nothing = np.zeros(self._kinds, dtype=np.int64)
        solution = self._bound_of(1, nothing, np.zeros(len(self._limits), dtype=np.int64))
        assert solution is not None, "no term reaches 2^53"
        return solution

    def _bound_of(self, scale: int, pi: IntArray, mu: IntArray) -> DualSolution | None:
        """Return bound and reduced costs at these duals; ``None`` if they are too large."""
        model, term = self._model, self._term
        multipliers = list(zip(mu.tolist(), self._limits, strict=True))
        bound = scale * term.constant + sum(
            p * s for p, s in zip(pi.tolist(), model.kinds.sizes.tolist(), strict=True)
        )
        bound += sum(
            multiplier * (limit.constant - most) for multiplier, (limit, most) in multipliers
        )
        reduced_costs = []
        for t, (kind, column) in enumerate(zip(model.types, model.columns, strict=True)):
            largest = scale * int(np.abs(term.values[t]).max())
            largest += int(np.abs(pi).astype(object) @ column.counts.max(axis=0).astype(object))
            largest += sum(
                multiplier * int(np.abs(limit.values[t]).max())
                for multiplier, (limit, _) in multipliers
            )
            if largest.bit_length() > MAX_BITS:
                return None
            reduced = scale * term.values[t] - column.counts @ pi
            for multiplier, (limit, _) in multipliers:
                reduced = reduced + multiplier * limit.values[t]
            reduced_costs.append(reduced - reduced.min())
            bound += len(kind.nodes) * int(reduced.min())
        if model.problem.may_reject:
            bound += sum(min(0, saved) for saved in self._rejection_costs(scale, pi, multipliers))
        return DualSolution(scale, bound, tuple(reduced_costs))

    def _rejection_costs(
        self, scale: int, pi: IntArray, multipliers: Sequence[tuple[int, Limit]]
    ) -> list[int]:
        """Return what rejecting each topology adds at these duals."""
        topology, sizes = self._model.kinds.topology.tolist(), self._model.kinds.sizes.tolist()
        added = []
        for t, cost in enumerate(self._term.rejection_costs.tolist()):
            paid = sum(
                p * s for p, s, o in zip(pi.tolist(), sizes, topology, strict=True) if o == t
            )
            weighted = sum(
                multiplier * int(limit.rejection_costs[t]) for multiplier, (limit, _) in multipliers
            )
            added.append(scale * cost + weighted - paid)
        return added
