"""Inner loop of the local search over assignments, compiled by Numba.

`gain[i, k]` is what task i costs on node k with all other tasks where they are; a move of one
task changes it in time O(T N). Overload of a capacity is allowed at a penalty that rises while the
search is outside and falls while it is inside.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.random import Generator

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.assignment.model import FloatArray

COST, BEST, STEP, BETTER_AT = range(4)
"""Whole numbers of a search's state: cost now, least valid cost, step, step of the last best."""
PENALTY, OUTSIDE = range(2)
"""Floats of its state: penalty of one mean demand too much, steps outside on end (inside: < 0)."""
NONE = 2**62
KICK_LEAST = 3
RESTART, RETURN = 0.2, 0.5
"""Draws below these begin a kick far away, or at the best assignment."""
STALL = 100
"""Steps per task without a new best before a kick."""
PATIENCE = 10.0
RISE = 1.3


@njit(cache=True, nogil=True)
def costs_in_place(
    nodes: IntArray, linear: IntArray, flow: IntArray, distance: IntArray
) -> IntArray:
    """Return `gain` of the assignment `nodes`."""
    gain = linear.copy()
    for i in range(len(nodes)):
        for j in range(len(nodes)):
            for k in range(linear.shape[1]):
                gain[i, k] += (
                    flow[i, j] * distance[k, nodes[j]] + flow[j, i] * distance[nodes[j], k]
                )
    return gain


@njit(cache=True, nogil=True)
def _move(i, k, nodes, load, gain, numbers, demand, flow, distance):
    """Put task i on node k."""
    old = nodes[i]
    numbers[COST] += gain[i, k] - gain[i, old]
    for d in range(load.shape[1]):
        load[old, d] -= demand[i, d]
        load[k, d] += demand[i, d]
    for j in range(len(nodes)):
        forth, back = flow[j, i], flow[i, j]
        if j != i and (forth or back):
            for m in range(load.shape[0]):
                gain[j, m] += forth * (distance[m, k] - distance[m, old])
                gain[j, m] += back * (distance[k, m] - distance[old, m])
    nodes[i] = k


@njit(cache=True, nogil=True)
def _over(load, capacity, scale, node, demand, gone, come):
    """Return the overload of a node without task `gone` and with `come`, in mean demands."""
    total = 0.0
    for d in range(load.shape[1]):
        over = load[node, d] - capacity[node, d]
        if gone >= 0:
            over -= demand[gone, d]
        if come >= 0:
            over += demand[come, d]
        if over > 0:
            total += over * scale[d]
    return total


@njit(cache=True, nogil=True)
def _swap_cost(i, j, nodes, gain, flow, distance):
    """Return the change of cost when tasks i and j change places."""
    a, b = nodes[i], nodes[j]
    forth, back = flow[i, j], flow[j, i]
    change = gain[i, b] - gain[i, a] + gain[j, a] - gain[j, b]
    if forth or back:
        change += (forth + back) * (
            distance[a, b] + distance[b, a] - distance[a, a] - distance[b, b]
        )
    return change


@njit(cache=True, nogil=True)
def _best_move(
    nodes, load, gain, over, numbers, floats, until, rng, demand, capacity, scale, allowed, flow,
    distance,
):  # fmt: skip
    """Return the best move that is not tabu: task, other task (-1 = none), node."""
    penalty, step = floats[PENALTY], numbers[STEP]
    tasks, size = gain.shape
    least = np.inf
    best_i, best_j, best_k, ties = -1, -1, -1, 0.0
    outside = over.sum()
    for i in range(tasks):
        a = nodes[i]
        left = _over(load, capacity, scale, a, demand, i, -1) - over[a]
        for k in range(size):
            if k == a or not allowed[i, k]:
                continue
            more = left + _over(load, capacity, scale, k, demand, -1, i) - over[k]
            change = gain[i, k] - gain[i, a]
            score = change + penalty * more
            if score > least:
                continue
            if until[i, k] > step and not (
                outside + more < 1e-9 and numbers[COST] + change < numbers[BEST]
            ):
                continue
            ties = ties + 1.0 if score == least else 1.0
            if score < least or rng.random() * ties < 1.0:
                least, best_i, best_j, best_k = score, i, -1, k
        for j in range(i + 1, tasks):
            b = nodes[j]
            if a == b or not allowed[i, b] or not allowed[j, a]:
                continue
            change = _swap_cost(i, j, nodes, gain, flow, distance)
            if change > least and outside == 0.0:
                continue
            more = _over(load, capacity, scale, a, demand, i, j) - over[a]
            more += _over(load, capacity, scale, b, demand, j, i) - over[b]
            score = change + penalty * more
            if score > least:
                continue
            if (until[i, b] > step or until[j, a] > step) and not (
                outside + more < 1e-9 and numbers[COST] + change < numbers[BEST]
            ):
                continue
            ties = ties + 1.0 if score == least else 1.0
            if score < least or rng.random() * ties < 1.0:
                least, best_i, best_j, best_k = score, i, j, b
    return best_i, best_j, best_k


@njit(cache=True, nogil=True)
def _kick(nodes, load, gain, numbers, best, rng, demand, allowed, flow, distance):
    """Go to the best assignment or stay, then put some tasks on random nodes."""
    tasks, size = gain.shape
    draw = rng.random()
    moves = KICK_LEAST + int(rng.random() * tasks / 2)
    first, width = 0, size
    if draw < RESTART:  # all tasks, to a few nodes of their own
        moves = 4 * tasks
        first, width = int(rng.random() * size), 1 + int(rng.random() * size)
    elif draw < RETURN and numbers[BEST] < NONE:
        for i in range(tasks):
            if nodes[i] != best[i]:
                _move(i, best[i], nodes, load, gain, numbers, demand, flow, distance)
    for _ in range(moves):
        i, k = int(rng.random() * tasks), (first + int(rng.random() * width)) % size
        if allowed[i, k] and k != nodes[i]:
            _move(i, k, nodes, load, gain, numbers, demand, flow, distance)


@njit(cache=True, nogil=True)
def _set_penalty(floats, is_outside):
    """Raise the penalty of overload after some steps outside, lower it after some inside."""
    if is_outside:
        floats[OUTSIDE] = max(0.0, floats[OUTSIDE]) + 1.0
    else:
        floats[OUTSIDE] = min(0.0, floats[OUTSIDE]) - 1.0
    if floats[OUTSIDE] >= PATIENCE:
        floats[PENALTY] *= RISE
        floats[OUTSIDE] = 0.0
    elif floats[OUTSIDE] <= -PATIENCE:
        floats[PENALTY] = max(1e-3, floats[PENALTY] / RISE)
        floats[OUTSIDE] = 0.0


@njit(cache=True, nogil=True)
def tabu_search(
    steps: int,
    nodes: IntArray,
    load: IntArray,
    gain: IntArray,
    best: IntArray,
    numbers: IntArray,
    floats: FloatArray,
    until: IntArray,
    rng: Generator,
    demand: IntArray,
    capacity: IntArray,
    scale: FloatArray,
    allowed: BoolArray,
    flow: IntArray,
    distance: IntArray,
) -> None:
    """Do `steps` steps; all arrays of the state are changed in place.

    A step is the best move that is not tabu: one task to another node, or two tasks changing
    places. Where it came from is tabu for a while. After long without a new best: a kick.
    """
    tasks, size = gain.shape
    over = np.empty(size)
    for _ in range(steps):
        numbers[STEP] += 1
        for k in range(size):
            over[k] = _over(load, capacity, scale, k, demand, -1, -1)
        i, j, k = _best_move(
            nodes, load, gain, over, numbers, floats, until, rng, demand, capacity, scale,
            allowed, flow, distance,
        )  # fmt: skip
        if i >= 0:
            a = nodes[i]
            until[i, a] = numbers[STEP] + 2 + int(rng.random() * tasks)
            _move(i, k, nodes, load, gain, numbers, demand, flow, distance)
            if j >= 0:
                until[j, k] = numbers[STEP] + 2 + int(rng.random() * tasks)
                _move(j, a, nodes, load, gain, numbers, demand, flow, distance)
        is_outside = False
        for n in range(size):
            is_outside |= _over(load, capacity, scale, n, demand, -1, -1) > 0.0
        _set_penalty(floats, is_outside)
        if not is_outside and numbers[COST] < numbers[BEST]:
            numbers[BEST] = numbers[COST]
            numbers[BETTER_AT] = numbers[STEP]
            best[:] = nodes
        elif numbers[STEP] - numbers[BETTER_AT] >= STALL * tasks:
            _kick(nodes, load, gain, numbers, best, rng, demand, allowed, flow, distance)
            numbers[BETTER_AT] = numbers[STEP]
