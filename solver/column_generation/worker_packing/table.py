"""The best split of a node's tasks into workers, for all configurations of a node at once.

``V(y) = max_w g(w) + V(y - w)`` over the configurations w of one worker with g(w) the flow inside,
where w must hold the first kind of y. Among equal gains the fewest workers count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import PackingParams
from slotwise.solver.column_generation.worker_packing.kernels import Index, fill
from slotwise.solver.column_generation.worker_packing.worker_costs import (
    worker_configurations,
)
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.task_types import TaskTypes, flow_inside

MAX_VALUE = 2**62
"""Values of packings stay below it: any sum of a value and a worker fits 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Best packings of one topology's tasks on a node.

    Parameters
    ----------
    columns
        [k] the kinds of the topology.
    rows, cells
        [R, k] all configurations of a node, and [R] their cells ``y @ strides`` in the box
        around them, ascending.
    strides, index
        [k]; [box] the row of each cell.
    configurations
        [W, k] what one worker can hold, by first kind.
    values
        [W] value of a worker: its gain times `unit`, less 1.
    unit
        More than any number of workers.
    tables
        [R] value of the best packing of each configuration into any number of workers (one
        table), or into at most 0, 1, 2, ... of them; `NEG_INF` where there is none.
    params
        Limits of the tables.
    """

    columns: IntArray
    rows: IntArray
    cells: IntArray
    strides: IntArray
    index: Index
    configurations: IntArray
    values: IntArray
    unit: int
    tables: tuple[IntArray, ...]
    params: PackingParams

    def gains(self, counts: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Return, for configurations [Y, K], flow inside workers, workers, and whether it packs."""
        value = self.tables[-1][self.index[counts[:, self.columns] @ self.strides]]
        possible = value != NEG_INF
        gain = -((-value) // self.unit)
        return gain, gain * self.unit - value, possible

    def workers(self, counts: IntArray) -> list[IntArray]:
        """Return the configurations [k] of the workers of one node configuration [K]."""
        left = counts[self.columns].copy()
        layer = len(self.tables) - 1
        workers = []
        while left.any():
            first = int(np.flatnonzero(left)[0])
            fits = (self.configurations <= left).all(axis=1) & (self.configurations[:, first] > 0)
            rows = np.flatnonzero(fits)
            cell = int(left @ self.strides)
            below = max(layer - 1, 0)
            smaller = self.index[cell - self.configurations[rows] @ self.strides]
            rest = self.tables[below][smaller]
            good = rest + self.values[rows] == self.tables[layer][self.index[cell]]
            good &= rest != NEG_INF
            layer = below
            if good.any():  # else one worker fewer does as well
                configuration = self.configurations[rows[np.flatnonzero(good)[0]]]
                workers.append(configuration)
                left = left - configuration
        return workers

    def within(self, slots: int, time_s: float, token: RunToken) -> Packing:
        """Return the best packings into at most `slots` workers, if that takes at most `time_s`.

        Raises
        ------
        NotTakenError
            When the tables would be too large.
        """
        steps = len(self.rows) * slots * len(self.configurations)
        if (
            len(self.rows) * (slots + 1) > self.params.max_layer_entries
            or steps > time_s * self.params.steps_per_second
        ):
            raise NotTakenError(f"{len(self.rows):,} node configurations in up to {slots} workers")
        token.check_room(8 * len(self.rows) * (slots + 1), f"{slots + 1} tables of workers")
        none = self._impossible()
        none[0] = 0
        tables = [none]
        for _ in range(slots):
            tables.append(self._filled(tables[-1], self._impossible()))
        return replace(self, tables=tuple(tables))

    def unlimited(self) -> Packing:
        """Return the best packings into any number of workers."""
        table = self._impossible()
        return replace(self, tables=(self._filled(table, table),))

    def _impossible(self) -> IntArray:
        return np.full(len(self.rows), NEG_INF, dtype=np.int64)

    def _filled(self, before: IntArray, after: IntArray) -> IntArray:
        run = fill
        if len(self.configurations) * len(after) > self.params.min_compiled_steps:
            from slotwise.solver.column_generation.worker_packing.compiled import fill_compiled

            run = fill_compiled
        firsts = (self.configurations > 0).argmax(axis=1)
        starts = np.searchsorted(firsts, np.arange(len(self.columns) + 1)).astype(np.int64)
        offsets = self.configurations @ self.strides
        tables = (self.rows, self.cells, self.index)
        run(*tables, self.configurations, offsets, self.values, starts, before, after)
        return after


def pack(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    counts: Sequence[IntArray],
    time_s: float,
    params: PackingParams,
    token: RunToken,
) -> Packing:
    """Return the packings of a topology into any number of workers.

    Parameters
    ----------
    counts
        Per node type: [Y, K] all configurations of such a node, with each all smaller ones.
    time_s
        The table may take that long, seconds.
    params
        Limits of the tables.
    token
        Checked, and asked for room.

    Raises
    ------
    NotTakenError
        When the table would be too large, or take longer.
    """
    columns = np.flatnonzero(kinds.topology == topology)
    most = np.max([rows[:, columns].max(axis=0) for rows in counts], axis=0)
    box = float(np.prod(most + 1.0))
    if box > params.max_cells:
        raise NotTakenError(
            f"a node has up to {box:.0e} configurations, too many to pack into workers"
        )
    token.check_room(
        4 * box + 24 * sum(rows.size for rows in counts), f"a table of {box:,.0f} configurations"
    )
    strides = mixed_radix_strides(most + 1)
    cells = np.unique(np.concatenate([rows[:, columns] @ strides for rows in counts]))
    configurations = worker_configurations(problem, kinds, topology, most, params, token)
    if len(configurations) * len(cells) > time_s * params.steps_per_second:
        raise NotTakenError(
            f"{len(configurations):,} worker configurations in {len(cells):,} node ones"
        )
    unit = int(most.sum()) + 1
    if int(_pairs(kinds, columns, most)) * unit >= MAX_VALUE:
        raise NotTakenError("flows are too large to be packed exactly")
    configurations = configurations[np.argsort((configurations > 0).argmax(axis=1), kind="stable")]
    index = np.zeros(int(box), dtype=np.int32)
    index[cells] = np.arange(len(cells))
    return Packing(
        columns=columns,
        rows=cells[:, None] // strides % (most + 1),
        cells=cells,
        strides=strides,
        index=index,
        configurations=configurations,
        values=_pairs(kinds, columns, configurations) * unit - 1,
        unit=unit,
        tables=(),
        params=params,
    ).unlimited()


def _pairs(kinds: TaskTypes, columns: IntArray, counts: IntArray) -> IntArray:
    """Return, for each row [.., k] of counts of these kinds, the flow inside a worker."""
    flow = kinds.flow[np.ix_(columns, columns)]
    return flow_inside(flow, counts)


def mixed_radix_strides(sizes: IntArray) -> IntArray:
    """Return [K] the stride of each count in a table of these sizes, last fastest."""
    strides = np.ones(len(sizes), dtype=np.int64)
    for k in range(len(sizes) - 2, -1, -1):
        strides[k] = strides[k + 1] * sizes[k + 1]
    return strides
