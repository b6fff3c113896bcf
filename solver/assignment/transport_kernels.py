"""Bounds of one row of pairs where every task takes one unit of a node: a transportation problem.

Where no two tasks fit on one node (quadratic assignment), or all tasks have one size, the tasks
and the units of the nodes form a transportation problem, whose optimal duals are found at once by
shortest augmenting paths, in whole numbers; multipliers set one by one stop far below it.
Compiled by Numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

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
                    there = dist[end] + rows[j, n] - u[j] - v[n]
                    if there < dist[n]:
                        dist[n] = there
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
