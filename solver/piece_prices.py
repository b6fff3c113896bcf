"""Prices of tasks such that no content of a place is worth more than its tasks cost.

Column generation: a linear program over the contents found so far gives prices, dynamic
programming finds contents worth more than they cost, until there are none. With such prices no plan
gains more than all tasks cost, on however many places: a bound, recomputed in integers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_tables import best_contents, best_worth, make_tables
from slotwise.solver.stopping import check_stop

TOLERANCE_BITS = 4
"""Worth of a content that no longer counts while prices are sought: 2^4 steps of their grid."""


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """Proven prices [K] on the integer grid `scale`, and [Y, K] the contents met on the way."""

    scale: int
    prices: IntArray
    contents: IntArray

    def total(self, counts: IntArray) -> int:
        """Return what tasks [K] cost, times `scale`: no plan of them gains more."""
        return int(self.prices @ counts)


def find_prices(graph: PieceGraph, scale: int, deadline: float) -> Prices:
    """Return the least prices found until the deadline; those of every round are proven.

    The first round is always ended, for nothing is proven without it.
    """
    program = _Program(graph, scale)
    least: IntArray | None = None
    while True:
        prices = np.maximum(np.rint(program.duals() * scale), 0).astype(np.int64)
        added = missing = 0
        for case in graph.cases():
            check_stop()
            if least is not None and time.perf_counter() > deadline:
                return Prices(scale, least, program.contents())
            tables = make_tables(graph, scale, prices, case)
            missing = max(missing, best_worth(tables))
            for content in best_contents(tables):
                check_stop()
                worth = int(graph.gain_bounds(scale, content)) - int(prices @ content)
                if worth > 1 << TOLERANCE_BITS:
                    added += program.add(content)
            del tables  # before the next are made
        # Every content holds at least one task, so this pays for the most it is worth.
        proven = prices + missing
        if least is None or int(proven @ graph.sizes) < int(least @ graph.sizes):
            least = proven
        if not added:
            return Prices(scale, least, program.contents())


class _Program:
    """The linear program: how often each content is used so that all tasks are placed."""

    def __init__(self, graph: PieceGraph, scale: int) -> None:
        self._graph = graph
        self._scale = scale
        self._known: dict[bytes, IntArray] = {}
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for size in graph.sizes.tolist():
            self._lp.addRow(float(size), float(size), 0, [], [])
        for alone in np.eye(graph.count, dtype=np.int64):
            self.add(alone)

    def add(self, content: IntArray) -> bool:
        """Add a content [K]; return whether it was new."""
        key = content.tobytes()
        if key in self._known:
            return False
        self._known[key] = content
        rows = np.flatnonzero(content).tolist()
        entries = [float(content[k]) for k in rows]
        gain = float(self._graph.gain_bounds(self._scale, content)) / self._scale
        self._lp.addCol(gain, 0.0, highspy.kHighsInf, len(rows), rows, entries)
        return True

    def duals(self) -> IntArray:
        """Solve; return [K] the prices as doubles."""
        self._lp.run()
        return np.array(self._lp.getSolution().row_dual)[: self._graph.count]

    def contents(self) -> IntArray:
        """Return [Y, K] the contents added."""
        return np.array(list(self._known.values()))
