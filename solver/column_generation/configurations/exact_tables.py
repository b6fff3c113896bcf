"""Exact tables for small boxes: the best value of every vector of task counts at a site.

``F_j(x) = max_y F_{j-1}(x - y) + value(y)`` over the configurations y of the j-th node, for all
vectors x of kinds at once. The tables hold what each step chose from, so that solutions can be
traced back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import NEG_INF, TypeColumns
from slotwise.solver.column_generation.params import ConfigurationsParams
from slotwise.solver.column_generation.residual_search import (
    Configuration,
    MasterSolution,
    SearchState,
    SiteColumns,
)
from slotwise.solver.core.memory import RunToken


def table_steps(columns: Sequence[TypeColumns], nodes: Sequence[int], total: IntArray) -> int:
    """Return how many additions the table of a site takes."""
    box = int(np.prod([float(size + 1) for size in total]))
    return box * sum(n * len(c.counts) for n, c in zip(nodes, columns, strict=True))


def table_fits(
    columns: Sequence[TypeColumns],
    nodes: Sequence[int],
    total: IntArray,
    params: ConfigurationsParams,
    token: RunToken,
) -> bool:
    """Return whether the table of a site is small enough to be made."""
    cells = float(np.prod([float(size + 1) for size in total])) * (sum(nodes) + 1)
    small = (
        cells <= params.max_table_cells
        and table_steps(columns, nodes, total) <= params.max_table_steps
    )
    return small and token.has_room(8 * cells, f"an exact table of {cells:,.0f} entries")


class ExactTable:
    """Best value of every vector x <= total on the nodes of a site."""

    def __init__(
        self,
        columns: Sequence[TypeColumns],
        nodes: Sequence[int],
        total: IntArray,
        token: CancellationToken = UNLIMITED,
    ) -> None:
        self._columns = tuple(columns)
        self._type_of = [t for t, count in enumerate(nodes) for _ in range(count)]
        shape = tuple((total + 1).tolist())
        start = np.full(shape, NEG_INF, dtype=np.int64)
        start[(0,) * len(shape)] = 0
        self._layers = [start]
        for t in self._type_of:
            self._layers.append(one_more_node(self._layers[-1], self._columns[t], token))

    def values(self, x: IntArray) -> IntArray:
        """Return the best value of each row of x [L, K]; below `NEG_INF` / 2: there is none."""
        return np.asarray(self._layers[-1][tuple(x.T)])

    def configurations(self, x: IntArray) -> tuple[Configuration, ...]:
        """Return configurations of the nodes with the best value of x [K]; x must have one."""
        configurations = []
        left = x.copy()
        for layer in range(len(self._type_of), 0, -1):
            t = self._type_of[layer - 1]
            column = self._columns[t]
            fits = np.flatnonzero((column.counts <= left).all(axis=1))
            before = self._layers[layer - 1][tuple((left - column.counts[fits]).T)]
            goal = self._layers[layer][tuple(left)]
            y = int(fits[np.flatnonzero(before + column.values[fits] == goal)[0]])
            configurations.append((t, tuple(column.counts[y].tolist())))
            left = left - column.counts[y]
        return tuple(configurations)


def one_more_node(
    before: IntArray, column: TypeColumns, token: CancellationToken = UNLIMITED
) -> IntArray:
    """Return the best value of every vector with one of the configurations added to `before`."""
    after = np.full_like(before, NEG_INF)
    for counts, value in zip(column.counts.tolist(), column.values.tolist(), strict=True):
        if any(count >= size for count, size in zip(counts, before.shape, strict=True)):
            continue
        token.check()
        source = before[tuple(slice(0, n - c) for n, c in zip(before.shape, counts, strict=True))]
        target = after[tuple(slice(c, None) for c in counts)]
        np.maximum(target, source + value, out=target)
    return after


def tables_fit(
    sites: Sequence[SiteColumns], total: IntArray, params: ConfigurationsParams, token: RunToken
) -> bool:
    """Return whether the tables of all sites are small enough."""
    return all(table_fits(site.columns, site.nodes, total, params, token) for site in sites)


def search_tables(
    sites: Sequence[SiteColumns],
    first: IntArray,
    total: IntArray,
    bonus: IntArray,
    state: SearchState,
    on_best: Callable[[MasterSolution], None],
) -> None:
    """Fill `state` with the best solution of all splits [L, K]; if it has none, none exists."""
    tables = _tables(sites, total)
    shares = (first, total - first)[: len(sites)]
    values = bonus + sum(t.values(x) for t, x in zip(tables, shares, strict=True))
    state.finished = True
    if not len(values) or int(values.max()) < NEG_INF // 2:
        return
    split = int(values.argmax())
    configurations = tuple(t.configurations(x[split]) for t, x in zip(tables, shares, strict=True))
    state.best = MasterSolution(int(values[split]), configurations)
    state.bound = state.best.value
    on_best(state.best)


def _tables(sites: Sequence[SiteColumns], total: IntArray) -> list[ExactTable]:
    """Return a table per site; equal sites share one."""
    by_site: dict[tuple[tuple[int, ...], tuple[int, ...]], ExactTable] = {}
    tables = []
    for site in sites:
        key = (tuple(id(column) for column in site.columns), site.nodes)
        if key not in by_site:
            by_site[key] = ExactTable(site.columns, site.nodes, total)
        tables.append(by_site[key])
    return tables
