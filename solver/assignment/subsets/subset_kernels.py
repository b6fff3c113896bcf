"""Inner loops of the subset dynamic programme, compiled by Numba. Sets of tasks are bit masks."""

from __future__ import annotations

import numpy as np
from numba import njit

from slotwise.models.problem.problem import IntArray

INFINITE = 2**62
"""No way to do it; a sum with it stays below 2^63, and no cost comes near half of it."""


@njit(cache=True, nogil=True)
def subset_sums(values: IntArray) -> IntArray:
    """Return [2^T]: sum of `values` over each set of tasks."""
    sums = np.zeros(1 << len(values), dtype=np.int64)
    for i in range(len(values)):
        for rest in range(1 << i):
            sums[(1 << i) | rest] = sums[rest] + values[i]
    return sums


@njit(cache=True, nogil=True)
def inner_flows(flow: IntArray) -> IntArray:
    """Return [2^T]: flow inside each set of tasks, for a symmetric `flow`."""
    inside = np.zeros(1 << len(flow), dtype=np.int64)
    for i in range(len(flow)):
        row = subset_sums(flow[i, :i])
        for rest in range(1 << i):
            inside[(1 << i) | rest] = inside[rest] + row[rest]
    return inside


@njit(cache=True, nogil=True)
def extend(
    before: IntArray,
    after: IntArray,
    sets: IntArray,
    costs: IntArray,
    full: int,
    lowest_first: bool,
) -> None:
    """Put each of `sets` on the next node: ``after[S] = min(after[S], before[S - T] + cost(T))``.

    With `lowest_first` a set must hold the lowest task that is still without a node (nodes alike
    from here on: the order of their sets is free).
    """
    for index in range(len(sets)):
        chosen = sets[index]
        cost = costs[index]
        free = full & ~chosen
        fixed = 0
        if lowest_first:
            if chosen == 0:
                continue
            fixed = (chosen & -chosen) - 1
            free &= ~fixed
        rest = free
        while True:
            value = before[rest | fixed] + cost
            if value < after[rest | fixed | chosen]:
                after[rest | fixed | chosen] = value
            if rest == 0:
                break
            rest = (rest - 1) & free
