"""Duals of the tasks and of the parts, by column generation with exact pricing.

Any duals give a bound once pricing is exact (`PartDuals`), so the search may end at any moment.
The duals that are priced are drawn towards those of the best bound (Wentges smoothing), else they
swing from round to round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
)
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.partition.frontier import Frontier, Tables
from slotwise.solver.partition.model import Partition

FINEST_BITS, MAX_BITS = 20, 60
"""Bits of the finest grid of duals, and of the largest sum."""

TOLERANCE_BITS = 6
"""Reduced cost that no longer counts while duals are sought: 2^6 steps of their grid."""


@dataclass(frozen=True, slots=True, eq=False)
class PartDuals:
    """Duals on the integer grid `scale` at which no part has a negative reduced cost.

    The reduced cost of a part y is ``pi.y + sigma - scale * flow inside``. `tables` are those of
    pi.
    """

    scale: int
    pi: IntArray
    sigma: int
    tables: Tables

    def total(self, model: Partition) -> int:
        """Return the bound, times `scale`: no solution has more flow inside."""
        return int(self.pi @ model.kinds.sizes) + model.parts * self.sigma


def dual_scale(model: Partition) -> int:
    """Return the finest grid of duals on which no sum leaves `MAX_BITS`.

    Raises
    ------
    NotTakenError
        When there is none.
    """
    largest = 4 * (model.problem.task_count + 1) ** 2 * _penalty(model)  # duals may be raised once
    bits = MAX_BITS - largest.bit_length()
    if bits < 0:
        raise NotTakenError("its flows are too large for exact duals")
    return 1 << min(FINEST_BITS, bits)


def _penalty(model: Partition) -> int:
    """Return what a task that no part holds costs the master; no dual is larger."""
    return 2 * model.all_flow + 1


class Pricing:
    """Column generation; `best` and `bound` can be read whenever it stops.

    Parameters
    ----------
    best
        The duals of the least bound; ``None`` before the first round ends.
    bound
        Flow that no solution holds inside more of.
    """

    def __init__(self, model: Partition, frontier: Frontier, smoothing: float) -> None:
        self.best: PartDuals | None = None
        self.bound = model.all_flow
        self._model = model
        self._frontier = frontier
        self._smoothing = smoothing
        self._scale = dual_scale(model)
        self._master = _Master(model)

    def add(self, parts: Iterable[IntArray]) -> None:
        """Add parts [K] to the restricted master."""
        for part in parts:
            self._master.add(part)

    def columns(self) -> IntArray:
        """Return [Y, K] the parts of the restricted master."""
        return self._master.parts()

    def run(self) -> None:
        """Price until no part of positive value is left, or bound and master meet."""
        centre: FloatArray | None = None
        while True:
            self._frontier.token.check()
            value, duals, sigma = self._master.solve()
            added = 0
            for weight in (self._smoothing, 0.0):
                if centre is None and weight:
                    continue
                mixed = duals if centre is None else weight * centre + (1 - weight) * duals
                improved, priced = self._price(mixed)
                centre = mixed if improved else centre
                added = self._add_good(priced, self._on_grid(duals), round(sigma * self._scale))
                if added:
                    break
            if not added or self._is_closed(value):
                return

    def _price(self, duals: FloatArray) -> tuple[bool, list[IntArray]]:
        """Price at duals; return whether their bound is the best one, and good parts."""
        pi = self._on_grid(duals)
        tables = self._frontier.tables(self._scale, pi)
        here = self._proven(pi, max(0, int(tables[0][0, self._frontier.units])), tables)
        improved = self.best is None or here.total(self._model) < self.best.total(self._model)
        if improved:
            self.best = here
            self.bound = min(self.bound, here.total(self._model) // self._scale)
        return improved, self._frontier.best_parts(tables, self._scale, pi)

    def _proven(self, pi: IntArray, value: int, tables: Tables) -> PartDuals:
        """Return duals at which no reduced cost is negative; `value` is the largest of a part."""
        if not self._model.ample or not value:
            return PartDuals(self._scale, pi, value, tables)
        # Every part has a task or more: raising all duals lifts all reduced costs to 0.
        raised = pi + value
        return PartDuals(self._scale, raised, 0, self._frontier.tables(self._scale, raised))

    def _add_good(self, configurations: Iterable[IntArray], pi: IntArray, sigma: int) -> int:
        added = 0
        for part in configurations:
            flow = int(self._model.kinds.pairs(part))
            if self._scale * flow - int(pi @ part) - sigma > 1 << TOLERANCE_BITS:
                added += self._master.add(part)
        return added

    def _on_grid(self, duals: FloatArray) -> IntArray:
        return on_grid(duals, self._scale, self._scale * _penalty(self._model))

    def _is_closed(self, value: float) -> bool:
        """Whether bound and master are so close that more rounds cannot pay."""
        assert self.best is not None, "a round has ended"
        return self.best.total(self._model) - value * self._scale < self._scale / 128


class _Master:
    """The restricted master: parts that hold every task, at most as many as there are."""

    def __init__(self, model: Partition) -> None:
        self._model = model
        self._known: dict[bytes, IntArray] = {}
        sizes = model.kinds.sizes.tolist()
        most_parts = model.problem.task_count if model.ample else model.parts
        self._right_hand_side = np.array([*sizes, most_parts], dtype=np.float64)
        self._lp = RestrictedMaster(maximize=True)
        self._lp.add_rows(sizes)
        self._lp.add_rows([most_parts], limit=True)
        alone = np.eye(model.kinds.count, dtype=np.int64)
        self._lp.add_columns(np.full(len(alone), -float(_penalty(model))), alone)
        for part in alone:
            self.add(part)

    def add(self, part: IntArray) -> bool:
        """Add a part [K]; return whether it was new."""
        key = part.tobytes()
        if key in self._known or not part.any():
            return False
        self._known[key] = part
        flow = np.array([int(self._model.kinds.pairs(part))])
        self._lp.add_columns(flow, np.array([[*part.tolist(), 1]]))
        return True

    def solve(self) -> tuple[float, FloatArray, float]:
        """Solve; return its value, [K] the duals of the tasks, and that of the parts."""
        duals = np.nan_to_num(self._lp.duals())
        return float(duals @ self._right_hand_side), duals[:-1], max(0.0, float(duals[-1]))

    def parts(self) -> IntArray:
        """Return [Y, K] the parts added."""
        return np.array(list(self._known.values()))
