"""Dual ascent for assignments with general flows (level-1 RLT), compiled by Numba.

The cost is kept as ``bound + sum of single[i, n_i] + sum over i != j of star[i, n_i, j, n_j]``
(``n_i`` = node of task i), all entries at least 0, so that `bound` is a lower bound. A pair has
two entries, one in the star of each of its tasks, and its cost may wander between them. Capacities
enter with multipliers: p of node l in the star of (i, k) adds ``p * demand[j]`` to every
``star[i, k, j, l]`` and takes ``p * room`` from ``single[i, k]``; the remainder never exceeds the
true cost of an assignment that keeps the capacities. Whole numbers only: every bound is exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from slotwise.models.problem.problem import BoolArray, IntArray

HIGHEST = 2**52
"""Multiplier times demand stays below this, far from the end of 64 bits."""


@njit(cache=True, nogil=True)
def _best_multiplier(thresholds, needs, count, total, room, old):
    """Return the multiplier of a node's resource that raises the bound most, or leaves it as it is.

    The first `count` entries of `thresholds` are the multipliers from which a task goes elsewhere,
    those of `needs` what it needs; `total` is the need of all. The best one turns away just enough
    of them. Rounded towards the old one, for the bound is concave in it: it never falls.
    -1 = what cannot go elsewhere is too much.
    """
    best = 0
    while total > room and count:
        least = 0
        for c in range(1, count):
            if thresholds[c] < thresholds[least]:
                least = c
        best = thresholds[least]
        total -= needs[least]
        count -= 1
        thresholds[least], needs[least] = thresholds[count], needs[count]
    if total > room:
        return -1
    return best + 1 if old > best else best


@njit(cache=True, nogil=True)
def _set_multiplier(n, d, rows, open_rows, ok, multipliers, need, room, thresholds, needs):
    """Set the multiplier of node n's resource d and return what the sum of minima loses by it."""
    tasks, size = rows.shape
    old = multipliers[n, d]
    count, total, greatest = 0, 0, 1
    for j in range(tasks):
        if not (open_rows[j] and ok[j, n] and rows[j, n] < NEVER and need[j, d]):
            continue
        greatest = max(greatest, need[j, d])
        below = rows[j, n] - old * need[j, d]
        beyond = NEVER
        for m in range(size):
            if m != n and ok[j, m]:
                beyond = min(beyond, rows[j, m])
        if beyond >= NEVER:
            total += need[j, d]
        elif below < beyond:
            total += need[j, d]
            thresholds[count] = (beyond - below) // need[j, d]
            needs[count] = need[j, d]
            count += 1
    if total <= room[n, d]:
        new = 0
    else:
        new = _best_multiplier(thresholds, needs, count, total, room[n, d], old)
        if new < 0:
            return NEVER
        new = min(new, HIGHEST // greatest) if new > old else new
    if new == old:
        return 0
    multipliers[n, d] = new
    for j in range(tasks):
        if open_rows[j] and ok[j, n] and rows[j, n] < NEVER:
            rows[j, n] += (new - old) * need[j, d]
    return (new - old) * room[n, d]


@njit(cache=True, nogil=True)
def _ascend(rows, open_rows, ok, multipliers, need, room, thresholds, needs, units):
    """Set the multipliers and take the minima off the rows; return the gain of the bound.

    `rows` [T, N] counts where `open_rows` and `ok`; -`NEVER` = a task has no place. With `units`
    every task needs 1 of one resource: there the best multipliers are found at once.
    """
    if units:
        return transport(rows, open_rows, ok, multipliers, room)
    tasks, size = rows.shape
    gain = 0
    for d in range(need.shape[1]):
        for n in range(size):
            loss = _set_multiplier(
                n, d, rows, open_rows, ok, multipliers, need, room, thresholds, needs
            )
            if loss >= NEVER:
                return -NEVER
            gain -= loss
    for j in range(tasks):
        if not open_rows[j]:
            continue
        least = NEVER
        for n in range(size):
            if ok[j, n]:
                least = min(least, rows[j, n])
        if least >= NEVER:
            return -NEVER
        gain += least
        for n in range(size):
            if ok[j, n] and rows[j, n] < NEVER:
                rows[j, n] -= least
    return gain


@njit(cache=True, nogil=True)
def _spread(single, star, ok, free):
    """Share out the rest of `single` over the stars, where others can gather it."""
    tasks, size = single.shape
    left = -1
    for j in range(tasks):
        left += free[j]
    if left <= 0:
        return
    for i in range(tasks):
        for k in range(size):
            if not (free[i] and ok[i, k]):
                continue
            share = single[i, k] // left
            single[i, k] -= share * left
            for j in range(tasks):
                if free[j] and j != i:
                    for n in range(size):
                        if ok[j, n] and star[i, k, j, n] < NEVER:
                            star[i, k, j, n] += share


@njit(cache=True, nogil=True)
def _ascend_star(
    i,
    k,
    bound,
    limit,
    single,
    star,
    ok,
    free,
    multipliers,
    need,
    room,
    thresholds,
    needs,
    others,
    units,
):
    """Gather what the pairs of task i on node k cost at least; the rest stays in its star."""
    tasks, size = single.shape
    left = 0
    for j in range(tasks):
        others[j] = free[j] and j != i
        left += others[j]
    if left == 0:
        return True
    rows = star[i, k]
    slack = limit - bound - single[i, k]
    for j in range(tasks):
        if not others[j]:
            continue
        for n in range(size):
            if not ok[j, n] or rows[j, n] >= NEVER:
                continue
            pair = rows[j, n] + star[j, n, i, k]
            if pair + single[j, n] >= slack:
                rows[j, n] = NEVER
                star[j, n, i, k] = NEVER
            else:
                rows[j, n] = pair
                star[j, n, i, k] = 0
    for d in range(need.shape[1]):
        room[k, d] -= need[i, d]
    gain = _ascend(rows, others, ok, multipliers[i, k], need, room, thresholds, needs, units)
    for d in range(need.shape[1]):
        room[k, d] += need[i, d]
    if gain <= -NEVER:
        return False
    single[i, k] += gain
    return True


@njit(cache=True, nogil=True)
def _place_in_sweep(sweep, step, tasks, size):
    """Return the place (i, k) that comes at `step`: four sweeps in four orders, then again.

    In one order alone the ascent stops earlier, for each star takes all that it can.
    """
    if sweep % 4 > 1:
        step = tasks * size - 1 - step
    if sweep % 2:
        return step % tasks, step // tasks
    return step // size, step % size


@njit(cache=True, nogil=True)
def ascend(
    rounds: int,
    bound: int,
    limit: int,
    single: IntArray,
    star: IntArray,
    ok: BoolArray,
    free: BoolArray,
    star_multipliers: IntArray,
    multipliers: IntArray,
    need: IntArray,
    room: IntArray,
    least_gain: float,
    units: bool,
) -> int:
    """Raise the bound for some rounds; return it, or `limit` where nothing below that is left.

    Stops early when a round gains less than `least_gain` times the remaining gap. `ok` loses the
    places of a task that only costs of `limit` or more would use.
    """
    tasks, size = single.shape
    thresholds, needs = np.empty(tasks, np.int64), np.empty(tasks, np.int64)
    others = np.empty(tasks, np.bool_)
    for sweep in range(rounds):
        before = bound
        _spread(single, star, ok, free)
        for step in range(tasks * size):
            i, k = _place_in_sweep(sweep, step, tasks, size)
            if free[i] and ok[i, k] and (
                bound + single[i, k] >= limit
                or not _ascend_star(
                    i, k, bound, limit, single, star, ok, free, star_multipliers, need, room,
                    thresholds, needs, others, units,
                )
            ):  # fmt: skip
                ok[i, k] = False
        gain = _ascend(single, free, ok, multipliers, need, room, thresholds, needs, units)
        if gain <= -NEVER:
            return limit
        bound += gain
        if bound >= limit:
            return limit
        if bound - before < least_gain * (limit - bound):
            break
    return bound


# Bounds of one row of pairs where every task takes one unit of a node: a transportation problem.
#
# Where no two tasks fit on one node (quadratic assignment), or all tasks have one size, the tasks
# and the units of the nodes form a transportation problem, whose optimal duals are found at once
# by shortest augmenting paths, in whole numbers; multipliers set one by one stop far below it.
# Compiled by Numba.

NEVER = 2**60
"""Entry of a pair that cannot be, or not in anything better than the incumbent."""


@njit(cache=True, nogil=True)
def _augment(r, rows, open_rows, ok, room, u, v, node_of, load, dist, done, source):
    """Give task r a unit of a node by a shortest augmenting path; false = there is none."""
    tasks, size = rows.shape
    for n in range(size):
        done[n] = False
        dist[n] = NEVER
        if room[n, 0] > 0 and ok[r, n] and rows[r, n] < NEVER:
            dist[n] = rows[r, n] - v[n]
            source[n] = r
    while True:
        end = -1
        for n in range(size):
            if not done[n] and dist[n] < NEVER and (end < 0 or dist[n] < dist[end]):
                end = n
        if end < 0:
            return False
        if load[end] < room[end, 0]:
            break
        done[end] = True
        for j in range(tasks):
            if not open_rows[j] or node_of[j] != end:
                continue
            for n in range(size):
                if not done[n] and room[n, 0] > 0 and ok[j, n] and rows[j, n] < NEVER:
                    candidate = dist[end] + rows[j, n] - u[j] - v[n]
                    if candidate < dist[n]:
                        dist[n] = candidate
                        source[n] = j
    for j in range(tasks):
        if open_rows[j] and node_of[j] >= 0 and done[node_of[j]]:
            u[j] += dist[end] - dist[node_of[j]]
    for n in range(size):
        if done[n]:
            v[n] -= dist[end] - dist[n]
    u[r] = dist[end]
    load[end] += 1
    n = end
    while True:
        j = source[n]
        before = node_of[j]
        node_of[j] = n
        if j == r:
            return True
        n = before


@njit(cache=True, nogil=True)
def transport(rows, open_rows, ok, multipliers, room):
    """Take optimal duals off the rows; return the gain of the bound, -`NEVER` = no way.

    Tasks j that are open go to nodes n where ``ok[j, n]`` and ``rows[j, n] < NEVER``, at most
    ``room[n, 0]`` to each. The multiplier of a node is what it took off the bound and added to its
    entries; it is given back first where nodes may stay empty.
    """
    tasks, size = rows.shape
    units, count = 0, 0
    for n in range(size):
        units += room[n, 0]
    for j in range(tasks):
        count += open_rows[j]
    if count > units:
        return -NEVER
    gain = 0
    if count < units:
        for n in range(size):
            back = multipliers[n, 0]
            if room[n, 0] == 0 or back == 0:
                continue
            gain += back * room[n, 0]
            multipliers[n, 0] = 0
            for j in range(tasks):
                if open_rows[j] and ok[j, n] and rows[j, n] < NEVER:
                    rows[j, n] -= back
    u, v = np.zeros(tasks, np.int64), np.zeros(size, np.int64)
    node_of, load = np.full(tasks, -1), np.zeros(size, np.int64)
    dist, done, source = (
        np.empty(size, np.int64),
        np.empty(size, np.bool_),
        np.empty(size, np.int64),
    )
    for j in range(tasks):
        if open_rows[j] and not _augment(
            j, rows, open_rows, ok, room, u, v, node_of, load, dist, done, source
        ):
            return -NEVER
    for n in range(size):
        if room[n, 0] > 0:
            gain += v[n] * room[n, 0]
            multipliers[n, 0] -= v[n]
    for j in range(tasks):
        if open_rows[j]:
            gain += u[j]
            for n in range(size):
                if room[n, 0] > 0 and ok[j, n] and rows[j, n] < NEVER:
                    rows[j, n] -= u[j] + v[n]
    return gain
