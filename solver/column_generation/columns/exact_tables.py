"""All terms at once for small boxes: the best value of every vector of task counts, rack by rack.

The terms are folded into one whole number, each weighted above all that the later ones can reach;
these are sums of 64-bit integers, so nothing is lost. A rack is a table over the nodes in it
(`ExactTable`); pairs of tasks in one rack save the way between racks, so

    G_r(x) = best columns of the nodes of rack r that hold x, and the flow inside x
    H_r(x) = max over y <= x of H_{r-1}(x - y) + G_r(y)

and H of the last rack at all tasks is the optimum, found without any solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.columns.model import ColumnModel, ColumnSolution
from slotwise.solver.column_generation.configurations.exact_tables import (
    ExactTable,
    one_more_node,
    table_steps,
)
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.neg_inf import NEG_INF
from slotwise.solver.column_generation.params import ColumnsParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.node_types import Site, sites

MAX_BITS = 58
"""Folded values stay far above `NEG_INF`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Folded:
    """The terms as one value to be maximised: [Y] of each type's columns, and of flow in a rack."""

    columns: tuple[TypeColumns, ...]
    flow_in_rack: int


def solve_by_tables(model: ColumnModel, token: RunToken) -> ColumnSolution | None:
    """Return a solution that is best in all terms, in their order; ``None`` where there is none.

    Only for models that `tables_fit`.
    """
    folded = _folded(model)
    assert folded is not None, "tables_fit said so"
    total = model.kinds.sizes
    places = _places(model)
    tables = []
    for place in places:
        columns = [folded.columns[t] for t in place.types]
        tables.append(ExactTable(columns, place.sizes, total, token))
    lattice = np.stack(np.unravel_index(np.arange(_box(total)), tuple(total + 1)), axis=1)
    inside = folded.flow_in_rack * model.kinds.pairs(lattice) if folded.flow_in_rack else 0
    values = [_with_flow(table.values(lattice), inside).reshape(total + 1) for table in tables]
    shares = _best_shares(values, lattice, total, token)
    if shares is None:
        return None
    nodes: dict[int, tuple[int, int]] = {}
    for place, table, share in zip(places, tables, shares, strict=True):
        free = [iter(members) for members in place.nodes]
        for index, counts in table.configurations(share):
            t = place.types[index]
            row = np.flatnonzero((model.columns[t].counts == counts).all(axis=1))
            nodes[next(free[index])] = (t, int(row[0]))
    return ColumnSolution(nodes, frozenset())


def tables_fit(model: ColumnModel, params: ColumnsParams, token: RunToken) -> bool:
    """Return whether the tables take all that the model has, and are small enough to be made."""
    if model.moves is not None or model.problem.may_reject or _folded(model) is None:
        return False
    total, places = model.kinds.sizes, _places(model)
    if float(np.prod(total + 1.0)) > params.max_table_cells:
        return False
    box = _box(total)
    cells = box * (model.problem.node_count + 2 * len(places) + len(total))
    columns = [TypeColumns(c.counts, c.counts[:, 0]) for c in model.columns]
    steps = sum(table_steps([columns[t] for t in p.types], p.sizes, total) for p in places)
    steps += box * box * max(len(places) - 2, 0)
    if cells > params.max_table_cells or steps > params.max_table_steps:
        return False
    return token.has_room(8 * cells, f"exact tables of {cells:,} entries")


def _places(model: ColumnModel) -> tuple[Site, ...]:
    by_rack = any(term.inter_rack_cost for term in model.terms)
    return sites(model.problem, model.types, by_rack=by_rack)


def _box(total: IntArray) -> int:
    return int(np.prod(total + 1))


def _folded(model: ColumnModel) -> _Folded | None:
    """Return the terms as one; ``None`` where that does not fit the integers of the tables."""
    flow = int(model.kinds.pairs(model.kinds.sizes))
    weight = 1
    weights: list[int] = []
    for term in reversed(model.terms):
        weights.insert(0, weight)
        least = sum(n * int(v.min()) for n, v in _used(model, term.values))
        most = sum(n * int(v.max()) for n, v in _used(model, term.values))
        weight *= most - least + term.inter_rack_cost * flow + 1
    largest = sum(
        w * (n * int(np.abs(v).max()) + term.inter_rack_cost * flow)
        for w, term in zip(weights, model.terms, strict=True)
        for n, v in _used(model, term.values)
    )
    if max(weight, largest).bit_length() > MAX_BITS:
        return None
    pairs = list(zip(weights, model.terms, strict=True))
    columns = tuple(
        TypeColumns(c.counts, np.asarray(-sum(w * term.values[t] for w, term in pairs)))
        for t, c in enumerate(model.columns)
    )
    return _Folded(columns, sum(w * term.inter_rack_cost for w, term in pairs))


def _used(model: ColumnModel, values: Sequence[IntArray]) -> list[tuple[int, IntArray]]:
    """Return how many nodes each type has, with the values of its columns."""
    return [(len(kind.nodes), v) for kind, v in zip(model.types, values, strict=True)]


def _with_flow(values: IntArray, inside: IntArray | int) -> IntArray:
    return np.where(values > NEG_INF // 2, values + inside, NEG_INF)


def _best_shares(
    values: Sequence[IntArray], lattice: IntArray, total: IntArray, token: RunToken
) -> list[IntArray] | None:
    """Return [K] the tasks of each rack in a best solution; ``None`` where there is none."""
    layers = [values[0]]
    for rack in values[1:-1]:
        flat = rack.ravel()
        reached = flat > NEG_INF // 2
        shares_of_rack = TypeColumns(lattice[reached], flat[reached])
        layers.append(one_more_node(layers[-1], shares_of_rack, token))
    shares: list[IntArray] = []
    left = total
    for rack, before in zip(values[:0:-1], layers[::-1], strict=False):
        fits = lattice[(lattice <= left).all(axis=1)]
        together = rack[tuple(fits.T)] + before[tuple((left - fits).T)]
        best = int(together.argmax())
        if together[best] < NEG_INF // 2:
            return None
        shares.insert(0, fits[best])
        left = left - fits[best]
    if layers[0][tuple(left)] < NEG_INF // 2:
        return None
    return [left, *shares]
