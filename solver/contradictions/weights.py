"""Weights by size under which bins are full sooner: candidates for a proof that bins are too few.

Whether a candidate proves anything is decided by a knapsack (`most_weight`), so
that none of them needs a proof of its own: bins of several capacities are no special case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MOST_SIZES, MOST_CAPACITIES, MOST_PARTS = 24, 6, 6
"""Sizes, capacities and parts of a capacity that are tried, the largest sizes."""


def candidates(sizes: Sequence[int], capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the weights of each size under one function after the other, each once.

    The count of those that reach a threshold, the sizes, and the sizes in units of it, rounded
    down; L2 of
    Martello and Toth (a size that leaves less than p counts as a whole bin); and the rounding of
    Fekete and Schepers (in parts of a capacity, rounded down unless it is a whole number of them).
    """
    seen: set[tuple[int, ...]] = set()
    for weights in _all(sizes, capacities):
        if any(weights) and weights not in seen:
            seen.add(weights)
            yield weights


def _all(sizes: Sequence[int], capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    distinct = sorted({size for size in sizes if size > 0}, reverse=True)[:MOST_SIZES]
    some = list(dict.fromkeys(capacities))[:MOST_CAPACITIES]
    parts = [c // k + 1 for c in some for k in range(1, MOST_PARTS + 1)]
    thresholds = dict.fromkeys((*distinct, *(p for p in parts if distinct and p <= distinct[0])))
    for least in thresholds:
        yield tuple(int(size >= least) for size in sizes)
    yield tuple(sizes)
    for least in thresholds:
        yield tuple(size // least for size in sizes)
    for capacity in some:
        for p in (p for p in distinct if 2 * p <= capacity):
            yield tuple(
                0 if size < p else capacity if size > capacity - p else size for size in sizes
            )
        for k in range(1, MOST_PARTS if capacity else 0):
            yield tuple(_rounded(size * (k + 1), capacity, k) for size in sizes)


def _rounded(scaled: int, capacity: int, k: int) -> int:
    whole, rest = divmod(scaled, capacity)
    return whole * (k + 1) if rest else whole * k
