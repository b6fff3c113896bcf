"""The inner loops of `tree_knapsack` and `level`, compiled by Numba.

They are cached on disk; the very first use takes seconds.
"""

from __future__ import annotations

from numba import njit

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import NEG_INF


@njit(cache=True)
def lift(own: IntArray, flow: int, fresh: bool, lifted: IntArray) -> None:
    """Fill ``lifted[x, h] = max_y own[y, h] + flow * x * y``, y = 0 included.

    Parameters
    ----------
    own
        [Y + 1, H + 1] best value of a subtree with y tasks of its root and at most h units.
    flow
        Value of a pair of a task of the root and a task of its parent.
    fresh
        Whether the root may have tasks where the parent has none.
    lifted
        [X + 1, H + 1] the same by the number x of tasks of the parent; filled in place.
    """
    for x in range(lifted.shape[0]):
        for h in range(lifted.shape[1]):
            best = own[0, h]
            if x > 0 or fresh:
                for y in range(1, own.shape[0]):
                    value = own[y, h] + flow * x * y
                    if value > best:
                        best = value
            lifted[x, h] = best


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
