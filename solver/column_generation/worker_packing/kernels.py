"""The inner loop of `worker_packing`, plain Python that Numba can compile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slotwise.models.problem.problem import IntArray

Index = NDArray[np.int32]

IMPOSSIBLE = -(2**62)
"""Worth of a content that no workers can hold."""


def fill(
    rows: IntArray,
    cells: IntArray,
    index: Index,
    contents: IntArray,
    offsets: IntArray,
    worths: IntArray,
    starts: IntArray,
    before: IntArray,
    after: IntArray,
) -> None:
    """Fill ``after[y] = max(before[y], max_w worth(w) + before[y - w])`` for all rows y.

    With one array for both, full of `IMPOSSIBLE`, that is any number of workers; with two, one
    worker more.

    Parameters
    ----------
    rows, cells
        [R, K] node contents, and [R] their places in the box, ascending; with each content all
        smaller ones are there, the empty one first.
    index
        [box] row of the content of each place, anything where there is none.
    contents, offsets, worths
        [W, K] worker contents sorted by their first kind, their place in the box, their worth.
    starts
        [K + 1] first content of each first kind: w must hold the first kind of y.
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
                if contents[w, j] > rows[row, j]:
                    fits = False
                    break
            if fits:
                rest = before[index[cells[row] - offsets[w]]]
                if rest != IMPOSSIBLE and rest + worths[w] > best:
                    best = rest + worths[w]
        after[row] = best
