"""The restricted master over columns that are all listed: pricing scans them.

The rows, in this order: the counts of the K task types; limits, each on one more number that every
column has; per node type the number of its nodes (convexity).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.restricted_master import FloatArray, RestrictedMaster

COLUMNS_PER_ROUND = 20
TOLERANCE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class TypeColumns:
    """The configurations of one node type.

    Parameters
    ----------
    counts
        [Y, K] tasks of each type.
    values
        [Y] value or cost in the term at hand.
    limited
        Per limit: [Y] what it limits.
    """

    counts: IntArray
    values: IntArray
    limited: tuple[IntArray, ...] = ()

    @property
    def empty(self) -> int | None:
        """Return the row of the empty node; ``None`` where no node may stay empty."""
        rows = np.flatnonzero(~self.counts.any(axis=1))
        return int(rows[0]) if len(rows) else None


class ListedMaster:
    """The restricted master of `columns`; keeps those it has from one right-hand side to the next.

    Parameters
    ----------
    columns, nodes
        Per node type: all configurations, and how many nodes must have one.
    sizes
        [K] right-hand side of the counts.
    limits
        Right-hand sides of the limits.
    other_values
        Largest value of a column that is added from outside.
    maximize
        Whether values are maximized, not minimized.
    """

    def __init__(
        self,
        columns: Sequence[TypeColumns],
        nodes: Sequence[int],
        sizes: IntArray,
        limits: Sequence[int] = (),
        *,
        other_values: int = 0,
        maximize: bool = False,
    ) -> None:
        self._columns = tuple(columns)
        self._types = len(sizes)
        self._convexity = len(sizes) + len(limits)
        self._known = [np.zeros(len(c.counts), dtype=np.bool_) for c in columns]
        self.lp = RestrictedMaster(maximize=maximize)
        self.lp.add_rows(sizes.tolist())
        self.lp.add_rows(limits, limit=True)
        self.lp.add_rows(nodes)
        largest = sum(int(np.abs(c.values).max()) for c in columns) + other_values
        self.lp.add_artificials(2.0 * float(largest) + 1.0)

    def duals(
        self,
        token: CancellationToken,
        usable: Sequence[BoolArray] | None = None,
        deadline: float = math.inf,
    ) -> FloatArray:
        """Generate columns until none would improve the program or the deadline passes.

        Parameters
        ----------
        token
            Ends it before.
        usable
            Per node type: [Y] the configurations to choose from; ``None`` = all.
        """

        def price(duals: FloatArray) -> bool:
            if token.now() > deadline:
                return False
            rounds = [
                self._price(t, duals, listed if usable is None else listed | ~usable[t])
                for t, listed in enumerate(self._known)
            ]
            return any(rounds)

        return self.lp.generate(price, token)

    def _price(self, t: int, duals: FloatArray, excluded: BoolArray) -> bool:
        """Add the columns of the least reduced costs, if negative; return whether there were."""
        column = self._columns[t]
        reduced_costs: FloatArray = column.values - column.counts @ duals[: self._types]
        for dual, entries in zip(duals[self._types : self._convexity], column.limited, strict=True):
            reduced_costs -= dual * entries
        reduced_costs -= duals[self._convexity + t]
        reduced_costs *= self.lp.sign
        reduced_costs[excluded] = np.inf
        count = min(COLUMNS_PER_ROUND, len(reduced_costs))
        best = np.argpartition(reduced_costs, count - 1)[:count]
        best = best[reduced_costs[best] < -TOLERANCE]
        if len(best):
            self._add(t, best)
        return bool(len(best))

    def _add(self, t: int, chosen: IntArray) -> None:
        column = self._columns[t]
        entries = np.zeros((len(chosen), self._convexity + t + 1), dtype=np.int64)
        entries[:, : self._types] = column.counts[chosen]
        for row, limited in enumerate(column.limited, start=self._types):
            entries[:, row] = limited[chosen]
        entries[:, -1] = 1
        self.lp.add_columns(column.values[chosen], entries)
        self._known[t][chosen] = True


# Minus infinity of the tables of 64-bit integers.

NEG_INF = -(2**61)
"""Value of an impossible entry. Sums of two stay in 64 bits; proper values stay above a half."""
