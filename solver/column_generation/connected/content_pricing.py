"""Pricing of node contents with every rule: candidates by tables, then each one checked.

The value of a content y is ``a * g(y) + b * W(y) - pi.y`` with W the bound of the flow inside its
workers. For each cut (rho, tau) of W a tree knapsack at duals ``pi - b * rho`` bounds it, by one
resource. What these tables do not rule out is listed and valued with all cuts and all resources.

Count cuts (Chvatal and Gomory, on the row of one kind) limit how many nodes hold many tasks of a
kind: of n tasks, nodes with c or more are at most ``n // c``, and ``sum floor(y_k / c) <= n // c``.
Their duals are prices by the number of tasks of a kind, which the tables take as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.partitions import Partitions
from slotwise.solver.column_generation.connected.tree_knapsack import (
    Steps,
    best_configurations,
    best_value,
    make_tables,
)
from slotwise.solver.column_generation.connected.worker_bounds import WorkerBounds
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken

ALL_IN_WORKERS = -1
"""The cut that workers hold no more flow inside than their node."""

CUTS_COMPARED = 12
"""Number of the newest cuts that are tried as the base of a table."""


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
    count_cuts
        Kind k and number c of each. Duals [K + J] are of the tasks, then of these cuts; prices
        [K, N + 1] of counts (`count_prices`) take their place.
    splits
        Whether the flow inside workers is bounded by the best splits of contents, too.
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
    count_cuts: list[tuple[int, int]] = field(default_factory=list)
    splits: bool = False
    graph: int = 0
    cut: int = 0

    @property
    def partitions(self) -> Partitions:
        """All partitions of the tasks of each kind into places."""
        return Partitions(self.graphs[0].sizes, self.graphs[0].most)

    @property
    def most(self) -> int:
        """Times the scale, no content and no placement saves more."""
        sizes = self.graphs[0].sizes
        flow = max(1, int(self.graphs[0].gains(sizes)))
        return self.scale * (self.node_saving + self.worker_saving) * flow

    def values(self, contents: IntArray) -> IntArray:
        """Return [Y] what contents [Y, K] save at most, times the scale."""
        inside = self.scale * self.graphs[0].gains(contents)
        values = self.node_saving * inside
        if self.workers is not None:
            values = values + self.worker_saving * np.minimum(self.workers.of(contents), inside)
        return np.asarray(values)

    def entries(self, contents: IntArray) -> IntArray:
        """Return [Y, K + J] the entries of contents [Y, K] in the rows of tasks and of cuts.

        Those of all tasks together are the right-hand sides.
        """
        cut = [contents[:, [k]] // c for k, c in self.count_cuts]
        return np.concatenate([contents, *cut], axis=1)

    def total(self, duals: IntArray) -> int:
        """Return what duals of all rows add up to; the bound, times the scale, if proven."""
        if duals.ndim == 2:
            return self.partitions.total(duals)
        sides = self.entries(self.graphs[0].sizes[None, :])[0].tolist()
        return sum(side * dual for side, dual in zip(sides, duals.tolist(), strict=True))

    def reduced_costs(self, duals: IntArray, contents: IntArray) -> IntArray:
        """Return [Y] lower bounds of the reduced costs of contents [Y, K]."""
        if duals.ndim == 2:
            return np.asarray(price_of(duals, contents) - self.values(contents))
        return np.asarray(self.entries(contents) @ duals - self.values(contents))

    def steps(self, duals: IntArray) -> Steps:
        """Return the prices of the count cuts, or the prices of counts."""
        if duals.ndim == 2:
            return dict(enumerate(duals))
        sizes, steps = self.graphs[0].sizes, dict[int, IntArray]()
        for (k, c), dual in zip(self.count_cuts, duals[len(sizes) :].tolist(), strict=True):
            if dual:
                price = dual * (np.arange(int(sizes[k]) + 1, dtype=np.int64) // c)
                steps[k] = steps.get(k, 0) + price
        return steps

    def table(self, duals: IntArray, cut: int | None = None) -> tuple[int, IntArray, int]:
        """Return the scale and duals [K] of the table of a cut, and what it adds to all values."""
        chosen, a, b = self.cut if cut is None else cut, self.node_saving, self.worker_saving
        kinds = self.graphs[0].count
        duals = np.zeros(kinds, dtype=np.int64) if duals.ndim == 2 else duals[:kinds]
        if self.workers is None:
            return a * self.scale, duals, 0
        if chosen == ALL_IN_WORKERS:
            return (a + b) * self.scale, duals, 0
        constant = b * self.workers.slots * int(self.workers.tau[chosen])
        return a * self.scale, duals - b * self.workers.rho[chosen], constant

    def prices(self, duals: IntArray) -> IntArray:
        """Return duals as prices [K, N + 1] of counts."""
        if duals.ndim == 2:
            return duals
        graph = self.graphs[0]
        counts = np.arange(int(graph.most.max()) + 1, dtype=np.int64)
        prices = duals[: graph.count, None] * counts
        for k, step in self.steps(duals).items():
            most = min(len(counts), len(step))
            prices[k, :most] += step[:most]
        return np.asarray(prices)

    def below(
        self, duals: IntArray, reduced_cost: int, max_partial: int, deadline: float
    ) -> IntArray:
        """Return [Y, K] all connected contents of at most this reduced cost, most violated first.

        Raises `TooLongError` where the tables leave too many, or the deadline passes.
        """
        params = replace(self.params, max_partial=max_partial)
        try:
            rows = self._listed(duals, reduced_cost, params, deadline)
        except TooLongError:
            if not self._choose_table(duals, deadline):
                raise
            rows = self._listed(duals, reduced_cost, params, deadline)
        rows, costs = self._within(duals, rows, reduced_cost)
        return np.asarray(rows[np.argsort(costs, kind="stable")])

    def traced(self, duals: IntArray, reduced_cost: int) -> IntArray:
        """Return [Y, K] contents of at most this reduced cost that the tables name, made to fit."""
        graph = self.graphs[self.graph]
        scale, shifted, _ = self.table(duals)
        steps = self.steps(duals)
        batches = [np.zeros((0, graph.count), dtype=np.int64)]
        for assignment in graph.assignments():
            self.token.check()
            tables = make_tables(graph, scale, shifted, assignment, self.token, steps=steps)
            batches += [row[None, :] for row in best_configurations(tables, self.token)]
        rows = shrunk(graph, np.concatenate(batches))
        return np.unique(self._within(duals, rows, reduced_cost)[0], axis=0)

    def _within(
        self, duals: IntArray, rows: IntArray, reduced_cost: int
    ) -> tuple[IntArray, IntArray]:
        """Return those contents of at most this reduced cost, by best splits, too, and theirs."""
        costs = self.reduced_costs(duals, rows)
        rows, costs = rows[costs <= reduced_cost], costs[costs <= reduced_cost]
        if not self.splits:
            return rows, costs
        self.split(duals, rows, reduced_cost)
        costs = self.reduced_costs(duals, rows)
        return rows[costs <= reduced_cost], costs[costs <= reduced_cost]

    def split(self, duals: IntArray, rows: IntArray, reduced_cost: int) -> None:
        """Bound contents [Y, K] by their best splits, as far as this is asked for."""
        if self.splits and self.workers is not None and self.worker_saving and len(rows):
            inside = self._inside(self.workers, rows)
            spare = reduced_cost - self.reduced_costs(duals, rows)
            least = inside - spare // self.worker_saving
            self.workers.split(rows, least, self.graphs[0].most, self.params)

    def split_each(self, contents: list[IntArray], lost: int, deadline: float) -> bool:
        """Bound each of some contents [K] by its best split; return whether a value fell.

        A value that falls by more than `lost` need not be exact, nor one of which something is
        known already.
        """
        if self.workers is None or not self.worker_saving:
            return False
        rows = np.unique(np.array(contents), axis=0)
        before = self.values(rows)
        least = self._inside(self.workers, rows) - lost // self.worker_saving
        for row, flow in zip(rows[:, None, :], least[:, None], strict=True):
            if self.token.now() > deadline:
                break
            self.workers.split(row, flow, self.graphs[0].most, self.params)
        return bool((self.values(rows) < before).any())

    def _inside(self, workers: WorkerBounds, contents: IntArray) -> IntArray:
        """Return [Y] the most flow inside workers of contents [Y, K], times the scale."""
        return np.minimum(workers.of(contents), self.scale * self.graphs[0].gains(contents))

    def _listed(
        self, duals: IntArray, gap: int, params: ConnectedParams, deadline: float
    ) -> IntArray:
        graph = self.graphs[self.graph]
        scale, shifted, constant = self.table(duals)
        steps = self.steps(duals)
        return enumerate_connected(
            graph, scale, shifted, gap + constant, self.token, deadline, params, steps
        )

    def _choose_table(self, duals: IntArray, deadline: float) -> bool:
        """Take the rule and the cut whose table bounds values best; return whether that is new."""
        count = 1 if self.workers is None else len(self.workers.tau)
        cuts = sorted({ALL_IN_WORKERS, 0, *range(max(0, count - CUTS_COMPARED), count)})
        before = self.graph, self.cut
        options = [
            (self.bound(duals, g, c), g, c)
            for g in range(len(self.graphs))
            for c in cuts
            if self.token.now() < deadline
        ]
        if options:
            _, self.graph, self.cut = min(options)
        return (self.graph, self.cut) != before

    def bound(self, duals: IntArray, graph: int, cut: int) -> int:
        """Return the upper bound on a content's worth by the table of a rule and a cut."""
        scale, shifted, constant = self.table(duals, cut)
        chosen, most, steps = self.graphs[graph], 0, self.steps(duals)
        for assignment in chosen.assignments():
            self.token.check()
            tables = make_tables(chosen, scale, shifted, assignment, self.token, steps=steps)
            most = max(most, best_value(tables))
        return most + constant


def price_of(prices: IntArray, contents: IntArray) -> IntArray:
    """Return the price of contents [.., K] by prices [K, N + 1] of counts."""
    return np.asarray(prices[np.arange(len(prices)), contents].sum(axis=-1))


# Contents that break a rule made smaller until they keep all: columns to start with.

STEPS = 32
"""A content is shrunk in steps of this part of it."""


def shrunk(graph: FlowGraph, contents: IntArray) -> IntArray:
    """Return contents [Y, K] that keep all rules, each the largest of its fractions that does."""
    admitted = contents[graph.admits(contents)]
    parts = np.arange(STEPS - 1, 0, -1)[:, None]
    smaller = [_fullest(graph, row * parts // STEPS) for row in contents[~graph.admits(contents)]]
    return np.concatenate([admitted, *smaller])


def _fullest(graph: FlowGraph, options: IntArray) -> IntArray:
    """Return [Y, K] the first option that keeps all rules, filled up with each kind in turn."""
    good = np.flatnonzero(graph.admits(options) & options.any(axis=1))
    if not len(good):
        return options[:0]
    rows = [options[good[0]]]
    for k in range(graph.count):
        more = np.repeat(rows[0][None, :], int(graph.most[k]) + 1, axis=0)
        more[:, k] = np.arange(len(more))
        rows.append(more[np.flatnonzero(graph.admits(more))[-1]])
    return np.array(rows)
