"""The loop of `table` and `connected.two_level_search`, plain Python that Numba can compile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import NEG_INF

Index = NDArray[np.int32]


def fill(
    rows: IntArray,
    cells: IntArray,
    index: Index,
    configurations: IntArray,
    offsets: IntArray,
    values: IntArray,
    starts: IntArray,
    before: IntArray,
    after: IntArray,
) -> None:
    """Fill ``after[y] = max(before[y], max_w value(w) + before[y - w])`` for all rows y.

    With one array for both, full of `NEG_INF`, that is any number of workers; with two, one
    worker more.

    Parameters
    ----------
    rows, cells
        [R, K] node configurations, and [R] their cells in the box, ascending; with each
        configuration all smaller ones are there, the empty one first.
    index
        [box] row of the configuration of each cell, anything where there is none.
    configurations, offsets, values
        [W, K] worker configurations sorted by their first kind, their cell in the box, their value.
    starts
        [K + 1] first configuration of each first kind: w must hold the first kind of y.
    before, after
        [R]; the second is filled in place.
    """
    kinds = rows.shape[1]
    after[0] = 0
    for row in range(1, len(rows)):
        first = 0
        while rows[row, first] == 0:
            first += 1
        best = before[row]
        for w in range(starts[first], starts[first + 1]):
            fits = True
            for j in range(first, kinds):
                if configurations[w, j] > rows[row, j]:
                    fits = False
                    break
            if fits:
                rest = before[index[cells[row] - offsets[w]]]
                if rest != NEG_INF and rest + values[w] > best:
                    best = rest + values[w]
        after[row] = best
