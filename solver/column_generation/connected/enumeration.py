"""Column enumeration: all connected configurations of small reduced cost.

A configuration whose kinds are not connected is two configurations of the same total reduced cost,
so where places are not short only connected ones count. The tables of `tree_knapsack` bound what
the rest of a configuration can still add, so few partial ones are extended for nothing.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.tree_knapsack import (
    KnapsackTables,
    Steps,
    make_tables,
)
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken

FEW_ROWS, MORE_ROWS = 1_000, 4
"""Partial configurations above which a unit gets a price, and up to how many times their limit."""

BLOCK = 50_000
"""Partial configurations that get prices between two looks at the clock."""

PRICES, FINER, FALL = 12, 6, 0.93
"""Prices of a unit that each row is tried at first; how many times finer they are around the best
of these; and the factor from one of the fine ones to the next."""

MAX_VALUE = 1 << 60
"""Largest price of all units of a place, in 64 bits."""


def enumerate_connected(
    graph: FlowGraph,
    scale: int,
    duals: IntArray,
    gap: int,
    token: RunToken,
    deadline: float = math.inf,
    params: ConnectedParams = CONNECTED_DEFAULTS,
    steps: Steps | None = None,
) -> IntArray:
    """Return [Y, K] all connected configurations of a place of reduced cost at most `gap`.

    The reduced cost of y is ``pi.y - scale * flow inside``, plus its `steps`; `duals` [K] and `gap`
    are on the grid `scale`. Raises `TooLongError` when they are too many to follow, or the deadline
    passes.
    """
    batches = [np.zeros((0, graph.count), dtype=np.int64)]
    for assignment in graph.assignments():
        _check_time(token, deadline)
        tables = make_tables(graph, scale, duals, assignment, token, steps=steps)
        batches.append(_within(tables, gap, deadline, params, token))
        del tables  # before the next are made
    return np.concatenate(batches)


def _within(
    tables: KnapsackTables, gap: int, deadline: float, params: ConnectedParams, token: RunToken
) -> IntArray:
    """Return [Y, K] the same of one assignment."""
    graph, unit_prices = tables.graph, _UnitPrices(tables)
    batches = [np.zeros((0, graph.count), dtype=np.int64)]
    for top in [None] if tables.is_active else graph.order:
        rows = _Enumeration(tables, gap, unit_prices, deadline, params, token, top).run()
        rows = rows[graph.admits(rows)]
        costs = rows @ tables.duals - tables.scale * graph.gains(rows)
        for k, step in tables.steps.items():
            costs += step[rows[:, k]]
        rows = rows[costs <= gap]
        batches.append(rows[is_connected(graph.flow, rows)])
    return np.concatenate(batches)


def _check_time(token: RunToken, deadline: float) -> None:
    token.check()
    if token.now() > deadline:
        raise TooLongError


def is_connected(flow: IntArray, rows: IntArray) -> BoolArray:
    """Return [Y] which of the configurations [Y, K] are connected; the empty one is not."""
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


class _Enumeration:
    """Partial configurations, one kind after the other from the top down, all followed at once."""

    def __init__(
        self,
        tables: KnapsackTables,
        gap: int,
        unit_prices: _UnitPrices,
        deadline: float,
        params: ConnectedParams,
        token: RunToken,
        top: int | None,
    ) -> None:
        self._tables = tables
        self._graph = tables.graph
        self._gap = gap
        self._unit_prices = unit_prices
        self._deadline = deadline
        self._max_rows = params.max_partial
        self._token = token
        self._rows = tables.assignment[None, :]
        self._used = np.zeros(1, dtype=np.int64)
        self._value = np.array([tables.base], dtype=np.int64)
        self._top = top
        roots = [k for k in self._graph.order if self._graph.parent[k] < 0]
        self._open = [top] if top is not None else roots
        self._attached = _attached_subtrees(tables)

    def run(self) -> IntArray:
        """Return [Y, K] the configurations whose reduced cost fits the gap."""
        while self._open:
            self._step(self._open.pop())
        return self._rows

    def _step(self, k: int) -> None:
        """Try every number of tasks of kind k, whose parent has its tasks already."""
        _check_time(self._token, self._deadline)
        graph, tables = self._graph, self._tables
        above = self._above(k)
        counts = np.arange(int(graph.most[k]) + 1, dtype=np.int64)
        if len(self._rows) * len(counts) > 20 * self._max_rows:
            raise TooLongError
        used = self._used[:, None] + counts * int(graph.weights[k])
        flow = 0 if graph.parent[k] < 0 else tables.scale * int(graph.flow[k, graph.parent[k]])
        value = self._value[:, None] + tables.values(k) + counts * (flow * above)[:, None]
        allowed = used <= tables.units
        if k == self._top:
            allowed[:, 0] = False
        elif not (tables.is_active and self._attached[k]):
            allowed[above == 0, 1:] = False
        row, y = np.nonzero(allowed)
        self._token.check_room(
            2 * self._rows[:1].nbytes * len(row), f"a list of {len(row):,} connected configurations"
        )
        self._rows = self._rows[row]
        self._rows[:, k] = counts[y]
        self._used, self._value = used[row, y], value[row, y]
        self._open.extend(graph.children[k])
        self._prune()

    def _above(self, k: int) -> IntArray:
        """Return for each row the tasks of the parent of k; 0 where k starts a tree."""
        if k == self._top or self._graph.parent[k] < 0:
            return np.zeros(len(self._rows), dtype=np.int64)
        return self._rows[:, self._graph.parent[k]]

    def _prune(self) -> None:
        """Drop rows whose reduced cost exceeds the gap whatever the open subtrees add."""
        left = self._tables.units - self._used
        bound = self._value.copy()
        for k in self._open:
            bound += self._tables.lifted[k][self._above(k), left]
        self._keep(bound >= -self._gap)
        if FEW_ROWS < len(self._rows) <= MORE_ROWS * self._max_rows and len(self._open) > 1:
            blocks = range(0, len(self._rows), BLOCK)
            self._keep(np.concatenate([self._may_fit(first) for first in blocks]))
        if len(self._rows) > self._max_rows:
            raise TooLongError

    def _may_fit(self, first: int) -> BoolArray:
        """Return whether each of a block of rows fits the gap where open subtrees share units."""
        _check_time(self._token, self._deadline)
        block = slice(first, first + BLOCK)
        above = {k: np.ascontiguousarray(self._above(k)[block]) for k in self._open}
        left = self._tables.units - self._used[block]
        return self._unit_prices.allow(above, left, -self._gap - self._value[block])

    def _keep(self, mask: BoolArray) -> None:
        self._rows, self._used, self._value = self._rows[mask], self._used[mask], self._value[mask]


class _UnitPrices:
    """A bound on what several subtrees add that share the units left in a place.

    Each of them alone may use all units. At any price of a unit, together they add at most what
    each is worth less the price of the units it takes, plus the price of all units left: a
    Lagrangian bound. It is computed at prices that rise by a constant factor.
    """

    def __init__(self, tables: KnapsackTables) -> None:
        self._tables = tables
        self._net: dict[int, IntArray] = {}  # [R, Y + 1] of a subtree, by the tasks above it

    @cached_property
    def _prices(self) -> IntArray:
        """[R] ascending, up to the most that units of one subtree add on average."""
        units = np.arange(1, self._tables.units + 1)
        tables = self._tables.lifted.values()
        most = max(int(((table[:, 1:] - table[:, :1]) // units).max(initial=0)) for table in tables)
        most = min(most, MAX_VALUE // (len(units) + 1))
        return np.unique((most * FALL ** np.arange(PRICES * FINER)).astype(np.int64))

    def allow(self, above: dict[int, IntArray], left: IntArray, least: IntArray) -> BoolArray:
        """Return [Y] whether the subtrees may add `least` or more.

        Parameters
        ----------
        above
            Kind at the top of each subtree -> [Y] tasks of its parent.
        left, least
            [Y] units left, and what is to be added.
        """
        count = len(self._prices)
        bound = np.full(len(left), -NEG_INF, dtype=np.int64)
        nearest = np.zeros(len(left), dtype=np.int64)
        for price in range(count - 1, -1, -FINER):
            at_price = self._bound(price, above, left)
            nearest[at_price < bound] = price
            np.minimum(bound, at_price, out=bound)
        rows = np.flatnonzero(bound >= least)
        for step in (*range(1 - FINER, 0), *range(1, FINER)):
            prices = np.clip(nearest[rows] + step, 0, count - 1)
            some = {k: tasks[rows] for k, tasks in above.items()}
            rows = rows[self._bound(prices, some, left[rows]) >= least[rows]]
        allowed = np.zeros(len(left), dtype=np.bool_)
        allowed[rows] = True
        return allowed

    def _bound(
        self, prices: int | IntArray, above: dict[int, IntArray], left: IntArray
    ) -> IntArray:
        """Return [Y] the bound of each row at a price, given by its index, or by those of all."""
        bound = self._prices[prices] * left
        for k, tasks in above.items():
            bound += self._net_values(k)[prices, tasks]
        return np.asarray(bound)

    def _net_values(self, k: int) -> IntArray:
        from slotwise.solver.column_generation.connected.kernels import price_units

        if k not in self._net:
            values = self._tables.lifted[k]
            self._net[k] = np.empty((len(self._prices), len(values)), dtype=np.int64)
            price_units(values, self._prices, self._net[k])
        return self._net[k]


def _attached_subtrees(tables: KnapsackTables) -> list[bool]:
    """Return for each kind whether its subtree may have a flow with the assignment."""
    graph = tables.graph
    if graph.relaxed:
        return [True] * graph.count
    attached: list[bool] = (graph.flow @ tables.assignment > 0).tolist()
    for k in reversed(graph.order):
        attached[k] = attached[k] or any(attached[child] for child in graph.children[k])
    return attached
