"""Duals of the tasks such that no configuration of a place has a negative reduced cost.

Column generation: the restricted master, a linear program over the configurations found so far,
gives duals; dynamic programming prices, that is, finds configurations of negative reduced cost,
until there are none. At such duals no solution has more flow inside than the duals of all tasks
add up to, on however many places: a Lagrangian bound, recomputed in integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.tree_knapsack import (
    best_configurations,
    best_value,
    make_tables,
)
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
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

    The first round always runs to its end, because nothing is proven without it.
    """
    master = ConnectedMaster(graph, scale)
    master.lp.generate(lambda duals: master.price(duals, deadline, token), token)
    assert master.least is not None, "the first round was ended"
    return ProvenDuals(scale, master.least, master.configurations())


class ConnectedMaster:
    """The restricted master: how often each configuration is used so that all tasks are placed.

    `least` are the least proven duals [K] so far; ``None`` before the first.
    """

    def __init__(self, graph: FlowGraph, scale: int) -> None:
        self._graph = graph
        self._scale = scale
        self._known: dict[bytes, IntArray] = {}
        self._most = scale * int(graph.gains(graph.sizes))
        self.least: IntArray | None = None
        self.lp = RestrictedMaster(maximize=True)
        self.lp.add_rows(graph.sizes.tolist())
        for alone in np.eye(graph.count, dtype=np.int64):
            self.add(alone)

    def add(self, configuration: IntArray) -> bool:
        """Add a configuration [K]; return whether it was new."""
        key = configuration.tobytes()
        if key in self._known:
            return False
        self._known[key] = configuration
        gain = float(self._graph.gain_bounds(self._scale, configuration)) / self._scale
        self.lp.add_columns(np.array([gain]), configuration[None, :])
        return True

    def price(self, found: FloatArray, deadline: float, token: RunToken) -> bool:
        """Add configurations of negative reduced cost; return whether there were any.

        Proves duals on the way, unless the deadline passes before the round is ended.
        """
        # No dual of the optimum exceeds the flow of all tasks together.
        duals = np.maximum(on_grid(found, self._scale, self._most), 0)
        added = False
        violation = 0
        for assignment in self._graph.assignments():
            token.check()
            if self.least is not None and token.now() > deadline:
                return False
            tables = make_tables(self._graph, self._scale, duals, assignment, token)
            violation = max(violation, best_value(tables))
            for configuration in best_configurations(tables, token):
                token.check()
                gain = int(self._graph.gain_bounds(self._scale, configuration))
                if gain - int(duals @ configuration) > 1 << TOLERANCE_BITS:
                    added |= self.add(configuration)
            del tables  # before the next are made
        # Every configuration has a task or more: raising all duals lifts all reduced costs to 0.
        proven = duals + violation
        sizes = self._graph.sizes
        if self.least is None or int(proven @ sizes) < int(self.least @ sizes):
            self.least = proven
        return added

    def configurations(self) -> IntArray:
        """Return [Y, K] the configurations added."""
        return np.array(list(self._known.values()))
