"""The best plan read off exact tables, one per site."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slotwise.models.problem import IntArray
from slotwise.solver.plans import Found, SearchState, SiteColumns
from slotwise.solver.tables import NEVER, Table, table_fits


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
