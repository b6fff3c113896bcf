"""Duals of the tasks such that no configuration of a place has a negative reduced cost.

Column generation: the restricted master, a linear program over the configurations found so far,
gives duals; dynamic programming prices, that is, finds configurations of negative reduced cost,
until there are none. At such duals no solution has more flow inside than the duals of all tasks
add up to, on however many places: a Lagrangian bound, recomputed in integers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.tree_knapsack import (
    best_configurations,
    best_value,
    make_tables,
)
from slotwise.solver.core.memory import RunToken

TOLERANCE_BITS = 4
"""Reduced cost that no longer counts while duals are sought: 2^4 steps of their grid."""


@dataclass(frozen=True, slots=True, eq=False)
class ProvenDuals:
    """Duals pi [K], proven on the integer grid `scale`, and [Y, K] the columns found on the way."""

    scale: int
    pi: IntArray
    configurations: IntArray

    def total(self, counts: IntArray) -> int:
        """Return ``pi.x`` of tasks [K], times `scale`: no solution of them has more flow inside."""
        return int(self.pi @ counts)


def find_duals(graph: FlowGraph, scale: int, deadline: float, token: RunToken) -> ProvenDuals:
    """Return the least duals found until the deadline; those of every round are proven.

    The first round is always ended, for nothing is proven without it.
    """
    master = ConnectedMaster(graph, scale)
    least: IntArray | None = None
    while True:
        duals = np.maximum(np.rint(master.duals() * scale), 0).astype(np.int64)
        added = violation = 0
        for assignment in graph.assignments():
            token.check()
            if least is not None and time.perf_counter() > deadline:
                return ProvenDuals(scale, least, master.configurations())
            tables = make_tables(graph, scale, duals, assignment, token)
            violation = max(violation, best_value(tables))
            for configuration in best_configurations(tables, token):
                token.check()
                value = int(graph.gain_bounds(scale, configuration)) - int(duals @ configuration)
                if value > 1 << TOLERANCE_BITS:
                    added += master.add(configuration)
            del tables  # before the next are made
        # Every configuration has a task or more: raising all duals lifts all reduced costs to 0.
        proven = duals + violation
        if least is None or int(proven @ graph.sizes) < int(least @ graph.sizes):
            least = proven
        if not added:
            return ProvenDuals(scale, least, master.configurations())


class ConnectedMaster:
    """The restricted master: how often each configuration is used so that all tasks are placed."""

    def __init__(self, graph: FlowGraph, scale: int) -> None:
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

    def add(self, configuration: IntArray) -> bool:
        """Add a configuration [K]; return whether it was new."""
        key = configuration.tobytes()
        if key in self._known:
            return False
        self._known[key] = configuration
        rows = np.flatnonzero(configuration).tolist()
        entries = [float(configuration[k]) for k in rows]
        gain = float(self._graph.gain_bounds(self._scale, configuration)) / self._scale
        self._lp.addCol(gain, 0.0, highspy.kHighsInf, len(rows), rows, entries)
        return True

    def duals(self) -> IntArray:
        """Solve; return [K] the duals as doubles."""
        self._lp.run()
        return np.array(self._lp.getSolution().row_dual)[: self._graph.count]

    def configurations(self) -> IntArray:
        """Return [Y, K] the configurations added."""
        return np.array(list(self._known.values()))
