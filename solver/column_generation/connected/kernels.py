"""The inner loops of tables over kinds, loads and counts, compiled by Numba.

They are cached on disk; the very first use takes seconds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import NEG_INF


@njit(cache=True)
def lift(own: IntArray, flow: int, first: int, fresh: bool, lifted: IntArray) -> None:
    """Fill ``lifted[x - first, h] = max_y own[y, h] + flow * x * y``, y = 0 included.

    Parameters
    ----------
    own
        [Y + 1, H + 1] best value of a subtree with y tasks of its root and at most h units.
    flow
        Value of a pair of a task of the root and a task of its parent.
    first
        Tasks of the parent in the first row of `lifted`.
    fresh
        Whether the root may have tasks where the parent has none.
    lifted
        [X + 1, H + 1] the same by the number x of tasks of the parent; filled in place.
    """
    for row in range(lifted.shape[0]):
        x = first + row
        for h in range(lifted.shape[1]):
            best = own[0, h]
            if x > 0 or fresh:
                for y in range(1, own.shape[0]):
                    value = own[y, h] + flow * x * y
                    if value > best:
                        best = value
            lifted[row, h] = best


@njit(cache=True)
def combine(first: IntArray, second: IntArray, result: IntArray) -> None:
    """Fill ``both[x, h] = max_i first[x, h - i] + second[x, i]`` (max-plus convolution).

    All [X + 1, H + 1]; `second` is at least 0 and grows with h, so only its steps are tried.
    """
    most = first.shape[1]
    for x in range(first.shape[0]):
        for h in range(most):
            result[x, h] = first[x, h] + second[x, 0]
        for i in range(1, most):
            if second[x, i] == second[x, i - 1]:
                continue
            for h in range(i, most):
                if first[x, h - i] > NEG_INF:
                    value = first[x, h - i] + second[x, i]
                    if value > result[x, h]:
                        result[x, h] = value


@njit(cache=True, nogil=True)
def combine_exactly(first: IntArray, second: IntArray, result: IntArray) -> None:
    """Fill ``both[x, h] = max_i first[x, h - i] + second[x, i]`` where h units are used exactly.

    All [X + 1, H + 1]; `NEG_INF` where nothing uses h units.
    """
    most = first.shape[1]
    for x in range(first.shape[0]):
        for h in range(most):
            result[x, h] = NEG_INF
        for i in range(most):
            if second[x, i] <= NEG_INF // 2:
                continue
            for h in range(i, most):
                if first[x, h - i] > NEG_INF // 2:
                    value = first[x, h - i] + second[x, i]
                    if value > result[x, h]:
                        result[x, h] = value


@njit(cache=True, nogil=True)
def add_up(costs: IntArray, least: IntArray) -> None:
    """Fill ``least[w] = min_h costs[h] + least[w - h]``, h from 1 up, with ``least[0] = 0``.

    `costs` [H + 1] by the units of one place, `least` [W + 1] by the units of all.
    """
    least[0] = 0
    for w in range(1, len(least)):
        best = -NEG_INF
        for h in range(1, min(w, len(costs) - 1) + 1):
            if costs[h] + least[w - h] < best:
                best = costs[h] + least[w - h]
        least[w] = best


@njit(cache=True, nogil=True)
def add_parts(prices: IntArray, first: int, last: int, best: IntArray) -> None:
    """Raise ``best[p, w]``, w tasks in p parts, to what more parts of `first` to `last` tasks give.

    `best` [P + 1, W + 1] is changed in place; `NEG_INF` where nothing is possible. Row P is of P
    parts or more.

    Parameters
    ----------
    prices
        [N + 1] of a part by the number of its tasks.
    """
    top = best.shape[0] - 1
    for w in range(1, best.shape[1]):
        for p in range(top + 1):
            most = best[p, w]
            for n in range(first, min(last, w) + 1):
                if p > 0 and best[p - 1, w - n] > NEG_INF // 2:
                    most = max(most, best[p - 1, w - n] + prices[n])
                if p == top and best[p, w - n] > NEG_INF // 2:
                    most = max(most, best[p, w - n] + prices[n])
            best[p, w] = most


@njit(cache=True, nogil=True)
def take_parts(
    prices: IntArray,
    first: int,
    last: int,
    before: IntArray,
    best: IntArray,
    p: int,
    left: int,
    times: IntArray,
) -> tuple[int, int]:
    """Take from `left` tasks in p parts those of `first` to `last` tasks that gave the best.

    Returns the parts and the tasks that remain, where `best` is what it was `before` `add_parts`.

    Parameters
    ----------
    prices
        As in `add_parts`.
    before, best
        [P + 1, W + 1] before and after it.
    times
        [N + 1] how often each count occurs; raised in place.
    """
    top = best.shape[0] - 1
    while best[p, left] != before[p, left]:
        value, source = best[p, left], -1
        for n in range(first, min(last, left) + 1):
            for q in range(max(p - 1, 0), p + 1 if p == top else p):
                if best[q, left - n] > NEG_INF // 2 and best[q, left - n] + prices[n] == value:
                    source = q
            if source >= 0:
                times[n] += 1
                p, left = source, left - n
                break
    return p, left


@njit(cache=True, nogil=True)
def attach(
    own: IntArray,
    own_weight: int,
    child: IntArray,
    weight: int,
    flow: int,
    room: int,
    joined: IntArray,
) -> None:
    """Fill ``joined[x, h] = min_yij own[x, i] + child[y, j] - flow * x * y``, h = i + weight y + j.

    Units are used exactly, and those of the x tasks themselves are not counted in h. Where nothing
    uses h units the entry stays as it was.

    Parameters
    ----------
    own, own_weight
        [X + 1, I] least cost of a kind's subtree so far, by its tasks and the units of those below;
        units of a task.
    child, weight
        [Y + 1, J] the same of a kind below it.
    flow
        What a pair of tasks of both saves.
    room
        Units of a place.
    joined
        [X + 1, H]; filled in place.
    """
    far = -NEG_INF
    width = joined.shape[1]
    best = np.empty(width, dtype=np.int64)
    for x in range(own.shape[0]):
        limit = min(width - 1, room - x * own_weight)
        best[:] = far
        for y in range(child.shape[0]):
            for j in range(min(child.shape[1], limit - weight * y + 1)):
                if child[y, j] < far:
                    best[weight * y + j] = min(best[weight * y + j], child[y, j] - flow * x * y)
        finite = np.flatnonzero(best < far)
        for i in range(min(own.shape[1], limit + 1)):
            if own[x, i] < far:
                for more in finite:
                    if i + more > limit:
                        break
                    joined[x, i + more] = min(joined[x, i + more], own[x, i] + best[more])


@njit(cache=True, nogil=True)
def price_units(values: IntArray, prices: IntArray, net: IntArray) -> None:
    """Fill ``net[r, x] = max_u values[x, u] - prices[r] * u``.

    The higher the price, the fewer units are best: what is best at one price limits the search at
    all others (divide and conquer).

    Parameters
    ----------
    values
        [X, U + 1] by units u.
    prices
        [R] ascending.
    """
    ranges = np.empty((len(prices) + 2, 4), dtype=np.int64)
    for x in range(len(values)):
        ranges[0] = 0, len(prices), 0, values.shape[1] - 1
        left = 1
        while left:
            left -= 1
            first, end, fewest, most = ranges[left]
            if first >= end:
                continue
            middle = (first + end) // 2
            units, best = fewest, values[x, fewest] - prices[middle] * fewest
            for u in range(fewest + 1, most + 1):
                if values[x, u] - prices[middle] * u > best:
                    units, best = u, values[x, u] - prices[middle] * u
            net[middle, x] = best
            ranges[left] = first, middle, units, most
            ranges[left + 1] = middle + 1, end, fewest, units
            left += 2
