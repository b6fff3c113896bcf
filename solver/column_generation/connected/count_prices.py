"""Prices of counts: a bound on what all places hold that no linear duals give.

With a dual for each task, a fractional solution may use 1.4 places with 500 of 720 tasks each.
Prices P_k(n) of n tasks of a kind in one place do not let it: whatever they are, the tasks of kind
k cost at most F_k, the dearest partition of their number into counts of places, so that

    flow inside all places <= sum_k F_k   if   flow inside y <= sum_k P_k(y_k)   for every content y.

Linear prices are duals of tasks. The best prices are the duals of a linear program whose columns
are contents of places and, for each kind, partitions; a row for each kind and count says that the
contents hold so many tasks as often as the partition of the kind does (the discretisation of
Vanderbeck, Operations Research 48, 2000). Large counts share rows.
"""

from __future__ import annotations

import time

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.pricing import TOLERANCE_BITS, ProvenDuals
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import RestrictedMaster, on_grid
from slotwise.solver.core.memory import RunToken

MAX_PRICE = 1 << 58
FIRST_STEP, SHORTEST_STEP = 0.5, 0.002
"""Part of the way from proven prices to those of the master: at first, and at least."""

COLUMNS_A_ROUND = 60
EXACT_COUNTS, GROWTH = 128, 1.05
"""Counts up to here have rows of their own; beyond, a row holds counts up to this factor apart."""


def bound_by_counts(
    graph: FlowGraph, proven: ProvenDuals, deadline: float, params: ConnectedParams, token: RunToken
) -> int:
    """Return the least bound found until the deadline on the flow inside all places.

    It is at most that of the duals. Prices between proven ones and those of the master are asked
    for (in-out, Ben-Ameur and Neto, 2007): if no content violates them they are proven, otherwise
    the violated ones are columns. Where too many contents violate them the step is halved.
    """
    scale, most = proven.scale, graph.most
    master = CountMaster(graph, scale)
    master.add(proven.configurations[graph.admits(proven.configurations)])
    prices = proven.pi[:, None] * np.arange(int(most.max()) + 1, dtype=np.int64)
    least, step = dearest_partitions(prices, graph.sizes, most), FIRST_STEP
    while time.perf_counter() < deadline and step >= SHORTEST_STEP:
        token.check()
        target, optimum = master.prices(token)
        if least // scale <= optimum // scale:
            break  # no better bound is left
        asked = np.ceil((1 - step) * prices + step * target).astype(np.int64)
        try:
            violated = _violated(graph, scale, asked, deadline, params, token)
        except TooLongError:
            step /= 2
            continue
        if len(violated):
            if not master.add(violated[:COLUMNS_A_ROUND]):
                break
            continue
        lifted = asked + (np.arange(asked.shape[1]) << TOLERANCE_BITS)
        found = dearest_partitions(lifted, graph.sizes, most)
        if found >= least:
            break
        prices, least, step = lifted, found, min(1.0, 1.5 * step)
    return least // scale


def _violated(
    graph: FlowGraph,
    scale: int,
    prices: IntArray,
    deadline: float,
    params: ConnectedParams,
    token: RunToken,
) -> IntArray:
    """Return [Y, K] the contents that hold more flow than their price, the worst first."""
    duals = np.zeros(graph.count, dtype=np.int64)
    steps = {k: prices[k] for k in range(graph.count)}
    gap = -1 - (1 << TOLERANCE_BITS)
    rows = enumerate_connected(graph, scale, duals, gap, token, deadline, params, steps)
    costs = price_of(prices, rows) - scale * graph.gains(rows)
    return np.asarray(rows[np.argsort(costs, kind="stable")])


def price_of(prices: IntArray, contents: IntArray) -> IntArray:
    """Return the price of contents [.., K] by prices [K, N + 1] of counts."""
    return np.asarray(prices[np.arange(len(prices)), contents].sum(axis=-1))


def dearest_partition(prices: IntArray, size: int) -> tuple[int, IntArray]:
    """Return what `size` tasks cost at most in places of 1 to N, and how often each count occurs.

    `prices` [N + 1] are those of one kind; N is 1 or more, `size` 0 or more.
    """
    from slotwise.solver.column_generation.connected.compiled import add_up

    least = np.zeros(size + 1, dtype=np.int64)
    add_up(-prices, least)
    times = np.zeros(len(prices), dtype=np.int64)
    while size:
        counts = np.arange(1, min(size, len(prices) - 1) + 1)
        chosen = int(counts[(least[size - counts] - prices[counts]).argmin()])
        times[chosen] += 1
        size -= chosen
    return -int(least[-1]), times


def dearest_partitions(prices: IntArray, sizes: IntArray, most: IntArray) -> int:
    """Return what tasks [K] cost at most, with 1 or more, up to `most` [K], of a kind in a place."""
    return sum(
        dearest_partition(prices[k, : int(most[k]) + 1], int(size))[0]
        for k, size in enumerate(sizes.tolist())
    )


class CountMaster:
    """The restricted master over contents of places and partitions of kinds."""

    def __init__(self, graph: FlowGraph, scale: int) -> None:
        self._graph = graph
        self._scale = scale
        self._row, self._rows = _rows_of_counts(graph.most)
        self._known: set[bytes] = set()
        self._partitions: set[tuple[int, bytes]] = set()
        self._lp = RestrictedMaster(maximize=True)
        self._lp.add_rows(graph.sizes.tolist())
        self._lp.add_rows([0] * self._rows + [1] * graph.count)
        for k, size in enumerate(graph.sizes.tolist()):
            alone = np.zeros(int(graph.most[k]) + 1, dtype=np.int64)
            alone[1] = size
            self._add_partition(k, alone)
        self.add(np.eye(graph.count, dtype=np.int64))

    def add(self, contents: IntArray) -> bool:
        """Add contents [Y, K]; return whether one was new."""
        new = np.array([row for row in contents if row.tobytes() not in self._known])
        if not len(new):
            return False
        self._known.update(row.tobytes() for row in new)
        kinds = self._graph.count
        entries = np.zeros((len(new), kinds + self._rows), dtype=np.int64)
        entries[:, :kinds] = new
        content, kind = np.nonzero(new)
        entries[content, kinds + self._row[kind, new[content, kind]]] = 1
        self._lp.add_columns(self._graph.gains(new), entries)
        return True

    def prices(self, token: RunToken) -> tuple[IntArray, int]:
        """Return prices [K, N + 1] at the optimum over all partitions, and what all tasks cost."""
        kinds, sizes = self._graph.count, self._graph.sizes
        counts = np.arange(self._row.shape[1], dtype=np.int64)
        while True:
            token.check()
            found = on_grid(self._lp.duals(), self._scale, MAX_PRICE)
            prices = found[:kinds, None] * counts + found[kinds:][self._row]
            prices[:, 0] = 0
            bounds = found[kinds + self._rows :] + found[:kinds] * sizes
            total, new = 0, False
            for k, size in enumerate(sizes.tolist()):
                cost, times = dearest_partition(prices[k, : int(self._graph.most[k]) + 1], size)
                total += cost
                if cost > int(bounds[k]) + (self._scale >> TOLERANCE_BITS):
                    new |= self._add_partition(k, times)
            if not new:
                return prices, total

    def _add_partition(self, k: int, times: IntArray) -> bool:
        """Add the partition of kind k with each count so many times; return whether it was new."""
        if (k, times.tobytes()) in self._partitions:
            return False
        self._partitions.add((k, times.tobytes()))
        kinds = self._graph.count
        entries = np.zeros((1, 2 * kinds + self._rows), dtype=np.int64)
        for n in np.flatnonzero(times).tolist():
            entries[0, kinds + self._row[k, n]] -= times[n]
        entries[0, kinds + self._rows + k] = 1
        self._lp.add_columns(np.zeros(1), entries)
        return True


def _rows_of_counts(most: IntArray) -> tuple[IntArray, int]:
    """Return [K, N + 1] the row of each count of each kind, and the number of rows."""
    rows = np.zeros((len(most), int(most.max()) + 1), dtype=np.int64)
    number = 0
    for k, largest in enumerate(most.tolist()):
        first = 1
        while first <= largest:
            end = first if first <= EXACT_COUNTS else int(first * GROWTH)
            rows[k, first : end + 1] = number
            number, first = number + 1, end + 1
    return rows, number
