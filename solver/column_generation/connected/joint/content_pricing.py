"""Pricing of node contents with every rule: candidates by tables, then each one checked.

The value of a content y is ``a * g(y) + b * W(y) - pi.y`` with W the bound of the flow inside its
workers. For each cut (rho, tau) of W a tree knapsack at duals ``pi - b * rho`` bounds it, by one
resource. What these tables do not rule out is listed and valued with all cuts and all resources.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.joint.worker_bounds import WorkerBounds
from slotwise.solver.column_generation.connected.tree_knapsack import best_value, make_tables
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken

CUTS_COMPARED = 12
"""So many of the newest cuts are tried as the base of a table."""


@dataclass(slots=True, eq=False)
class ContentPricing:
    """Lists contents of a node by their reduced cost at joint duals.

    Parameters
    ----------
    graphs
        The kinds on a node, by each rule that has tables.
    scale
        Grid of the duals.
    node_saving, worker_saving
        What a unit of flow inside a node and, on top, inside a worker saves.
    workers
        Bounds of the flow inside workers; ``None`` where these make no difference.
    graph, cut
        Rule and cut of the table in use, as indices.
    """

    graphs: tuple[FlowGraph, ...]
    scale: int
    node_saving: int
    worker_saving: int
    workers: WorkerBounds | None
    params: ConnectedParams
    token: RunToken
    graph: int = 0
    cut: int = 0

    def values(self, contents: IntArray) -> IntArray:
        """Return [Y] what contents [Y, K] save at most, times the scale."""
        values = self.node_saving * self.scale * self.graphs[0].gains(contents)
        if self.workers is not None:
            values = values + self.worker_saving * self.workers.of(contents)
        return np.asarray(values)

    def reduced_costs(self, duals: IntArray, contents: IntArray) -> IntArray:
        """Return [Y] lower bounds of the reduced costs of contents [Y, K]."""
        return np.asarray(contents @ duals - self.values(contents))

    def table_duals(self, duals: IntArray, cut: int | None = None) -> tuple[IntArray, int]:
        """Return the duals of the table of a cut, and the constant it adds to all values."""
        if self.workers is None:
            return duals, 0
        chosen = self.cut if cut is None else cut
        constant = self.worker_saving * self.workers.slots * int(self.workers.tau[chosen])
        return duals - self.worker_saving * self.workers.rho[chosen], constant

    def below(
        self, duals: IntArray, reduced_cost: int, max_partial: int, deadline: float
    ) -> IntArray:
        """Return [Y, K] all connected contents of at most this reduced cost, most violated first.

        Raises `TooLongError` where the tables leave too many, or the deadline passes.
        """
        params = replace(self.params, max_partial=max_partial)
        shifted, constant = self.table_duals(duals)
        try:
            rows = self._listed(shifted, reduced_cost + constant, params, deadline)
        except TooLongError:
            if not self._choose_table(duals, deadline):
                raise
            shifted, constant = self.table_duals(duals)
            rows = self._listed(shifted, reduced_cost + constant, params, deadline)
        costs = self.reduced_costs(duals, rows)
        kept = np.flatnonzero(costs <= reduced_cost)
        return np.asarray(rows[kept[np.argsort(costs[kept], kind="stable")]])

    def _listed(
        self, duals: IntArray, gap: int, params: ConnectedParams, deadline: float
    ) -> IntArray:
        scale = self.node_saving * self.scale
        graph = self.graphs[self.graph]
        return enumerate_connected(graph, scale, duals, gap, self.token, deadline, params)

    def _choose_table(self, duals: IntArray, deadline: float) -> bool:
        """Take the rule and the cut whose table bounds values best; return whether that is new."""
        count = 1 if self.workers is None else len(self.workers.tau)
        cuts = sorted({0, *range(max(0, count - CUTS_COMPARED), count)})
        before = self.graph, self.cut
        options = [(self.bound(duals, g, c), g, c) for g in range(len(self.graphs)) for c in cuts
                   if time.perf_counter() < deadline]
        if options:
            _, self.graph, self.cut = min(options)
        return (self.graph, self.cut) != before

    def bound(self, duals: IntArray, graph: int, cut: int) -> int:
        """Return what the table of a rule and a cut says that no content is worth more than."""
        shifted, constant = self.table_duals(duals, cut)
        chosen, most = self.graphs[graph], 0
        for assignment in chosen.assignments():
            self.token.check()
            scale = self.node_saving * self.scale
            most = max(most, best_value(make_tables(chosen, scale, shifted, assignment, self.token)))
        return most + constant
