"""Inner loops of the subset dynamic programme and of contents, compiled by Numba.

Sets of tasks are bit masks.
"""

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


@njit(cache=True, nogil=True)
def list_contents(
    demand: IntArray,
    capacity: IntArray,
    linear: IntArray,
    saved: IntArray,
    chosen: IntArray,
    costs: IntArray,
    sets: IntArray,
    set_costs: IntArray,
) -> int:
    """Write the sets of tasks that fit a node and their costs; return how many there are.

    Depth first, a task more at each level. What exceeds the length of `sets` is only counted.

    Parameters
    ----------
    demand, capacity
        [T, D] and [D].
    linear
        [T] cost of each task on this node.
    saved
        [T, T] what two tasks save by sharing it.
    chosen, costs
        [T + 1] space to work in.
    """
    tasks, dims = demand.shape
    room = capacity.copy()
    depth, cost, content, task, count = 0, 0, 0, 0, 1
    if len(sets):
        sets[0], set_costs[0] = 0, 0
    while True:
        while task < tasks:
            fits = True
            for d in range(dims):
                fits = fits and demand[task, d] <= room[d]
            if fits:
                break
            task += 1
        if task < tasks:
            chosen[depth], costs[depth] = task, cost
            cost += linear[task]
            for other in range(depth):
                cost -= saved[task, chosen[other]]
            room -= demand[task]
            content |= 1 << task
            depth += 1
            if count < len(sets):
                sets[count], set_costs[count] = content, cost
            count += 1
        elif depth == 0:
            return count
        else:
            depth -= 1
            task = chosen[depth]
            room += demand[task]
            content ^= 1 << task
            cost = costs[depth]
        task += 1


@njit(cache=True, nogil=True)
def join(
    placed: IntArray,
    losses: IntArray,
    sets: IntArray,
    set_losses: IntArray,
    most: int,
    joined: IntArray,
    joined_losses: IntArray,
) -> int:
    """Add each of `sets` to each of `placed` that it is disjoint with; return how many there are.

    Only sums of losses of at most `most` count; `set_losses` ascend. What exceeds the length of
    `joined` is only counted.
    """
    count = 0
    for s in range(len(placed)):
        for y in range(len(sets)):
            loss = losses[s] + set_losses[y]
            if loss > most:
                break
            if placed[s] & sets[y] == 0:
                if count < len(joined):
                    joined[count], joined_losses[count] = placed[s] | sets[y], loss
                count += 1
    return count
