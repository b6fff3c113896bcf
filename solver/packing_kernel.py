"""The inner loop of `worker_packing`, plain Python that Numba can compile."""

from __future__ import annotations

from slotwise.models.problem import IntArray

IMPOSSIBLE = -(2**62)
"""Worth of a content that no workers can hold."""


def fill(
    sizes: IntArray,
    contents: IntArray,
    offsets: IntArray,
    worths: IntArray,
    starts: IntArray,
    before: IntArray,
    after: IntArray,
) -> None:
    """Fill ``after[y] = max(before[y], max_w worth(w) + before[y - w])`` for all y of a box.

    With one array for both, full of `IMPOSSIBLE`, that is any number of workers; with two, one
    worker more.

    Parameters
    ----------
    sizes
        [K] number of values of each coordinate; the last runs fastest in the tables.
    contents, offsets, worths
        [W, K] worker contents sorted by their first kind, their place in the table, their worth.
    starts
        [K + 1] first content of each first kind: w must hold the first kind of y.
    before, after
        [product of sizes]; the second is filled in place.
    """
    kinds = len(sizes)
    y = [0] * kinds
    after[0] = 0
    for cell in range(1, len(after)):
        k = kinds - 1
        while y[k] + 1 == sizes[k]:
            y[k] = 0
            k -= 1
        y[k] += 1
        first = 0
        while y[first] == 0:
            first += 1
        best = before[cell]
        for w in range(starts[first], starts[first + 1]):
            fits = True
            for j in range(first, kinds):
                if contents[w, j] > y[j]:
                    fits = False
                    break
            if fits:
                rest = before[cell - offsets[w]]
                if rest != IMPOSSIBLE and rest + worths[w] > best:
                    best = rest + worths[w]
        after[cell] = best
