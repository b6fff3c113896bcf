"""Exact tables for small boxes: the best value of every contents of a site (docs/design.md, 8.7).

``F_j(x) = max_y F_{j-1}(x - y) + value(y)`` over the configurations y of the j-th node, for all
vectors x of kinds at once. The tables hold what each step chose from, so plans can be read off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.residual_search import Content
from slotwise.solver.column_generation.restricted_master import Column
from slotwise.solver.column_generation.search_state import Found, SearchState, SiteColumns
from slotwise.solver.core.memory import has_room

NEVER = -(2**60)
"""Value of contents that the nodes cannot hold."""

MOST_STEPS = 20_000_000
"""Additions that a table may take: less than a second."""

MOST_CELLS = 60_000_000


def table_steps(columns: Sequence[Column], nodes: Sequence[int], total: IntArray) -> int:
    """Return how many additions the table of a site takes."""
    box = int(np.prod([float(size + 1) for size in total]))
    return box * sum(n * len(c.counts) for n, c in zip(nodes, columns, strict=True))


def table_fits(columns: Sequence[Column], nodes: Sequence[int], total: IntArray) -> bool:
    """Return whether the table of a site is small enough to be made."""
    cells = float(np.prod([float(size + 1) for size in total])) * (sum(nodes) + 1)
    small = cells <= MOST_CELLS and table_steps(columns, nodes, total) <= MOST_STEPS
    return small and has_room(8 * cells, f"an exact table of {cells:,.0f} entries")


class Table:
    """Best value of every vector x <= total on the nodes of a site."""

    def __init__(self, columns: Sequence[Column], nodes: Sequence[int], total: IntArray) -> None:
        self._columns = tuple(columns)
        self._type_of = [t for t, count in enumerate(nodes) for _ in range(count)]
        shape = tuple((total + 1).tolist())
        start = np.full(shape, NEVER, dtype=np.int64)
        start[(0,) * len(shape)] = 0
        self._layers = [start]
        for t in self._type_of:
            self._layers.append(_one_more_node(self._layers[-1], self._columns[t]))

    def values(self, x: IntArray) -> IntArray:
        """Return the best value of each row of x [L, K]; below `NEVER` / 2 where there is none."""
        return np.asarray(self._layers[-1][tuple(x.T)])

    def contents(self, x: IntArray) -> tuple[Content, ...]:
        """Return contents of the nodes with the best value of x [K]; x must have one."""
        found = []
        left = x.copy()
        for layer in range(len(self._type_of), 0, -1):
            t = self._type_of[layer - 1]
            column = self._columns[t]
            fits = np.flatnonzero((column.counts <= left).all(axis=1))
            before = self._layers[layer - 1][tuple((left - column.counts[fits]).T)]
            goal = self._layers[layer][tuple(left)]
            y = int(fits[np.flatnonzero(before + column.values[fits] == goal)[0]])
            found.append((t, tuple(column.counts[y].tolist())))
            left = left - column.counts[y]
        return tuple(found)


def _one_more_node(before: IntArray, column: Column) -> IntArray:
    after = np.full_like(before, NEVER)
    for counts, value in zip(column.counts.tolist(), column.values.tolist(), strict=True):
        if any(count >= size for count, size in zip(counts, before.shape, strict=True)):
            continue
        source = before[tuple(slice(0, n - c) for n, c in zip(before.shape, counts, strict=True))]
        target = after[tuple(slice(c, None) for c in counts)]
        np.maximum(target, source + value, out=target)
    return after


def tables_fit(sites: Sequence[SiteColumns], total: IntArray) -> bool:
    """Return whether the tables of all sites are small enough."""
    return all(table_fits(site.columns, site.nodes, total) for site in sites)


def search_tables(
    sites: Sequence[SiteColumns],
    first: IntArray,
    total: IntArray,
    bonus: IntArray,
    state: SearchState,
    on_best: Callable[[Found], None],
) -> None:
    """Fill `state` with the best plan of all splits [L, K]; no plan: none exists."""
    tables = _tables(sites, total)
    shares = (first, total - first)[: len(sites)]
    values = bonus + sum(t.values(x) for t, x in zip(tables, shares, strict=True))
    state.finished = True
    if not len(values) or int(values.max()) < NEVER // 2:
        return
    split = int(values.argmax())
    contents = tuple(t.contents(x[split]) for t, x in zip(tables, shares, strict=True))
    state.best = Found(int(values[split]), contents)
    state.bound = state.best.value
    on_best(state.best)


def _tables(sites: Sequence[SiteColumns], total: IntArray) -> list[Table]:
    """Return a table per site; equal sites share one."""
    made: dict[tuple[tuple[int, ...], tuple[int, ...]], Table] = {}
    tables = []
    for site in sites:
        key = (tuple(id(column) for column in site.columns), site.nodes)
        if key not in made:
            made[key] = Table(site.columns, site.nodes, total)
        tables.append(made[key])
    return tables
