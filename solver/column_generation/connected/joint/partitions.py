"""Partitions of the tasks of a kind into the counts of places, and what they cost."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import IntArray


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
    """Return what tasks [K] cost at most, 1 to `most` [K] of a kind in each of its places."""
    return sum(
        dearest_partition(prices[k, : int(most[k]) + 1], int(size))[0]
        for k, size in enumerate(sizes.tolist())
    )
