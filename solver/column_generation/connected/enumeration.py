"""All pieces that a good plan can use: contents that hang together and lose little at the prices.

A content whose kinds do not hang together is two contents that lose as much together, so where
places are not short only connected ones count (docs/design.md, 8.6). The tables bound what
the rest of a content can still be worth, so few partial contents are followed in vain.
"""

from __future__ import annotations

import math
import time

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.graph import PieceGraph
from slotwise.solver.column_generation.connected.tree_knapsack import Tables, make_tables
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.ctrl_c import check_stop
from slotwise.solver.core.memory import check_room

MOST_ROWS = 1_000_000
"""Partial contents at once; beyond it the list is given up."""


def list_pieces(
    graph: PieceGraph, scale: int, prices: IntArray, budget: int, deadline: float = math.inf
) -> IntArray:
    """Return [Y, K] all connected contents a place can hold that lose at most `budget`.

    The loss of y is ``prices.y - scale * flow inside``; `prices` [K] and `budget` are on the grid
    `scale`. Raises `TooLongError` when they are too many to follow, or the deadline passes.
    """
    found = [np.zeros((0, graph.count), dtype=np.int64)]
    for case in graph.cases():
        check_stop()
        if time.perf_counter() > deadline:
            raise TooLongError
        tables = make_tables(graph, scale, prices, case)
        walks = [_Walk(tables, budget)] if tables.is_active else _tops(tables, budget)
        for walk in walks:
            check_stop()
            rows = walk.run()
            rows = rows[graph.admits(rows)]
            rows = rows[rows @ prices - scale * graph.gains(rows) <= budget]
            found.append(rows[connected(graph.flow, rows)])
        del tables, walks  # before the next are made
    return np.concatenate(found)


def connected(flow: IntArray, rows: IntArray) -> BoolArray:
    """Return [Y] which of the contents [Y, K] hang together; the empty one does not."""
    present = rows > 0
    linked = (flow > 0).astype(np.int64)
    reached = np.zeros_like(present)
    some = present.any(axis=1)
    reached[some, present[some].argmax(axis=1)] = True
    while True:
        wider = present & (reached | (reached.astype(np.int64) @ linked > 0))
        if (wider == reached).all():
            return np.asarray(some & (reached == present).all(axis=1))
        reached = wider


def _tops(tables: Tables, budget: int) -> list[_Walk]:
    """Return a walk per kind that may be the topmost one of a piece."""
    return [_Walk(tables, budget, top) for top in tables.graph.order]


class _Walk:
    """Partial contents, one kind after the other from the top down, all followed at once."""

    def __init__(self, tables: Tables, budget: int, top: int | None = None) -> None:
        self._tables = tables
        self._graph = tables.graph
        self._budget = budget
        self._rows = tables.case[None, :]
        self._used = np.zeros(1, dtype=np.int64)
        self._worth = np.array([tables.base], dtype=np.int64)
        self._top = top
        roots = [k for k in self._graph.order if self._graph.parent[k] < 0]
        self._open = [top] if top is not None else roots
        self._attached = _attached_subtrees(tables)

    def run(self) -> IntArray:
        """Return [Y, K] the contents that lose at most the budget."""
        while self._open:
            self._step(self._open.pop())
        return self._rows

    def _step(self, k: int) -> None:
        """Try every number of tasks of kind k, whose parent has its tasks already."""
        graph, tables = self._graph, self._tables
        above = self._above(k)
        counts = np.arange(int(graph.most[k]) + 1, dtype=np.int64)
        if len(self._rows) * len(counts) > 20 * MOST_ROWS:
            raise TooLongError
        used = self._used[:, None] + counts * int(graph.weights[k])
        flow = 0 if graph.parent[k] < 0 else tables.scale * int(graph.flow[k, graph.parent[k]])
        worth = self._worth[:, None] + tables.worths(k) + counts * (flow * above)[:, None]
        allowed = used <= tables.units
        if k == self._top:
            allowed[:, 0] = False
        elif not (tables.is_active and self._attached[k]):
            allowed[above == 0, 1:] = False
        row, y = np.nonzero(allowed)
        check_room(2 * self._rows[:1].nbytes * len(row), f"a list of {len(row):,} pieces")
        self._rows = self._rows[row]
        self._rows[:, k] = counts[y]
        self._used, self._worth = used[row, y], worth[row, y]
        self._open.extend(graph.children[k])
        self._prune()

    def _above(self, k: int) -> IntArray:
        """Return for each row the tasks of the parent of k; 0 where k starts a tree."""
        if k == self._top or self._graph.parent[k] < 0:
            return np.zeros(len(self._rows), dtype=np.int64)
        return self._rows[:, self._graph.parent[k]]

    def _prune(self) -> None:
        """Drop rows that lose too much whatever the open subtrees add."""
        left = self._tables.units - self._used
        bound = self._worth.copy()
        for k in self._open:
            bound += self._tables.lifted[k][self._above(k), left]
        kept = bound >= -self._budget
        self._rows, self._used, self._worth = self._rows[kept], self._used[kept], self._worth[kept]
        if len(self._rows) > MOST_ROWS:
            raise TooLongError


def _attached_subtrees(tables: Tables) -> list[bool]:
    """Return for each kind whether its subtree has a flow with the case; any may by loose ones."""
    graph = tables.graph
    if graph.loose:
        return [True] * graph.count
    attached: list[bool] = (graph.flow @ tables.case > 0).tolist()
    for k in reversed(graph.order):
        attached[k] = attached[k] or any(attached[child] for child in graph.children[k])
    return attached
