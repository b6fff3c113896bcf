"""The restricted master: the linear program over the columns found so far, and its LP solver.

    min (or max) sum_y c_y x_y   s.t.  sum_y A_y x_y = b (<= b in rows that limit),  x >= 0

All column generation solves its linear programs here, that of slots (`solver.slots`) too; no other
module of it knows the LP solver, HiGHS. Duals come in floating point and prove nothing by
themselves: `on_grid` rounds them, and whoever asked for them recomputes their Lagrangian bound in
integers; slots take them as exact fractions and do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import version

import highspy
import numpy as np
from numpy.typing import NDArray

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray

FloatArray = NDArray[np.float64]


def lp_solver() -> str:
    """Return the name and version of the LP solver."""
    return f"highspy {version('highspy')}"


class RestrictedMaster:
    """A linear program that grows by columns; the solver starts again from its last basis.

    Parameters
    ----------
    maximize
        Whether the costs of the columns are values to be maximized.
    """

    def __init__(self, *, maximize: bool = False) -> None:
        self.sign = -1 if maximize else 1
        """The reduced cost of a column is ``sign * (c - pi A)``; below 0 the column improves."""
        self._limits: list[bool] = []
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        if maximize:
            self._lp.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add_rows(self, right_hand_sides: Iterable[int], *, limit: bool = False) -> None:
        """Add rows without entries: equations, or upper limits."""
        for value in right_hand_sides:
            lower = -highspy.kHighsInf if limit else float(value)
            self._lp.addRow(lower, float(value), 0, [], [])
            self._limits.append(limit)

    def set_right_hand_sides(self, values: Iterable[int]) -> None:
        """Change those of the first rows, which are equations."""
        for row, value in enumerate(values):
            self._lp.changeRowBounds(row, float(value), float(value))

    def add_artificials(self, penalty: float) -> None:
        """Add variables (big M) that absorb a shortage or a surplus in any row.

        With them the program is feasible whatever its columns and right-hand sides.
        """
        identity = np.eye(len(self._limits), dtype=np.int64)
        signs = [
            (row, sign)
            for row, limit in zip(identity, self._limits, strict=True)
            for sign in ((-1,) if limit else (1, -1))
        ]
        entries = np.array([sign * row for row, sign in signs])
        self.add_columns(np.full(len(entries), self.sign * penalty), entries)

    def add_columns(
        self,
        costs: FloatArray | IntArray,
        entries: FloatArray | IntArray,
        most: float = highspy.kHighsInf,
    ) -> None:
        """Add columns [Y] with entries [Y, rows], each used at most `most` times.

        Rows beyond those of `entries` have no entry.
        """
        count = len(entries)
        columns, rows = np.nonzero(entries)
        starts = np.searchsorted(columns, np.arange(count))
        self._lp.addCols(
            count,
            np.asarray(costs, dtype=np.float64),
            np.zeros(count),
            np.full(count, most),
            len(rows),
            starts.astype(np.int32),
            rows.astype(np.int32),
            entries[columns, rows].astype(np.float64),
        )

    def duals(self) -> FloatArray:
        """Solve; return the dual of each row."""
        self._lp.run()
        return np.array(self._lp.getSolution().row_dual)

    def solution(self) -> FloatArray:
        """Return how often each column is used in the optimum last found."""
        return np.array(self._lp.getSolution().col_value)

    def value_with(self, entries: FloatArray | IntArray, least: float, most: float) -> float:
        """Return the optimum with one more row of entries [columns] between two limits.

        It is the worst value where nothing keeps the row.
        """
        columns = np.flatnonzero(entries)
        row = len(self._limits)
        self._lp.addRow(
            least, most, len(columns), columns.astype(np.int32), entries[columns].astype(np.float64)
        )
        self._lp.run()
        solved = self._lp.getModelStatus() == highspy.HighsModelStatus.kOptimal
        value = self._lp.getObjectiveValue() if solved else self.sign * highspy.kHighsInf
        self._lp.deleteRows(1, np.array([row], dtype=np.int32))
        return float(value)

    def generate(self, price: Callable[[FloatArray], bool], token: CancellationToken) -> FloatArray:
        """Solve and price in turn until no column is added; return the last duals.

        `price` takes duals, adds columns of negative reduced cost, and returns whether to go on:
        false where there is none, or no time.
        """
        while True:
            token.check()
            duals = self.duals()
            if not price(duals):
                return duals


def on_grid(duals: FloatArray, scale: int, most: int) -> IntArray:
    """Return the duals times `scale`, rounded, and at most `most` in size; 0 for NaN.

    Whatever the solver says, these are integers whose bound can be recomputed.
    """
    rounded = np.nan_to_num(np.rint(duals * scale))
    return np.asarray(np.clip(rounded, -float(most), float(most)), dtype=np.int64)
