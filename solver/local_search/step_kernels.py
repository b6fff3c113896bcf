"""Steps of the local search on plain problems, compiled by Numba: ruin, recreate, accept.

The same steps as `engine.LocalSearch` does one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.random import Generator

from slotwise.solver.local_search.kernels import (
    MOST,
    NETWORK,
    NONE,
    STEP,
    Model,
    State,
    best_place,
    close,
    open_row,
    put,
    take,
)

CHAIN, WORKERS = 0.3, 0.5
"""Draws below these free connected tasks, or two workers; above, two or three nodes."""
SHUFFLED, LARGEST = 0.3, 0.6
"""Draws below these order the tasks at random, or the largest first; above, along the flow."""


@njit(cache=True, nogil=True)
def _neighbour(m, task, rng):
    """Return a random task that exchanges flow with `task`; any where none does."""
    c = m.task_class[task]
    if m.flow_at[c] < m.flow_at[c + 1]:
        e = m.flow_at[c] + int(rng.random() * (m.flow_at[c + 1] - m.flow_at[c]))
        start, end = m.task_at[m.flow_to[e]], m.task_at[m.flow_to[e] + 1]
        if start < end:
            return m.task[start + int(rng.random() * (end - start))]
    return m.placed[int(rng.random() * len(m.placed))]


@njit(cache=True, nogil=True)
def _chain(m, task, count, out, rng):
    """Fill `out` with some tasks, each a neighbour of one before; return how many."""
    out[0], found = task, 1
    for _ in range(count):
        other = _neighbour(m, out[int(rng.random() * found)], rng)
        known = False
        for i in range(found):
            known |= out[i] == other
        if not known:
            out[found] = other
            found += 1
    return found


@njit(cache=True, nogil=True)
def _choose(m, s, most, out, rng):
    """Fill `out` with the tasks to take out, shuffled; return how many, drawn up to `most`."""
    most = 1 + int(rng.random() * most)
    task, dice = m.placed[int(rng.random() * len(m.placed))], rng.random()
    if dice < CHAIN:
        found = _chain(m, task, 2 + int(rng.random() * 7), out, rng)
    else:
        a, b, c = s.row[task], s.row[_neighbour(m, task, rng)], NONE
        rows = dice < WORKERS
        if not rows:
            if rng.random() < 0.5:
                c = s.node[s.row[_neighbour(m, task, rng)]]
            a, b = s.node[a], s.node[b]
        found = 0
        for other in m.placed:
            at = s.row[other] if rows else s.node[s.row[other]]
            if at in (a, b, c):
                out[found] = other
                found += 1
    for i in range(min(found, most)):
        j = i + int(rng.random() * (found - i))
        out[i], out[j] = out[j], out[i]
    return min(found, most)


@njit(cache=True, nogil=True)
def _order(m, out, found, rng):
    """Put the tasks into the order in which they are put back."""
    dice = rng.random()
    if dice < SHUFFLED:
        return
    pull = np.zeros(len(m.size))
    if dice < LARGEST:
        pull[:] = m.size
    for i in range(found):
        best = i
        for j in range(i + 1, found):
            if pull[m.task_class[out[j]]] > pull[m.task_class[out[best]]]:
                best = j
        out[i], out[best] = out[best], out[i]
        if dice >= LARGEST:
            c = m.task_class[out[i]]
            for e in range(m.flow_at[c], m.flow_at[c + 1]):
                pull[m.flow_to[e]] += m.flow[e]


@njit(cache=True, nogil=True)
def _put_back(m, s, out, found, after, rng, blink):
    """Put the tasks where each saves most; return how many found a place."""
    for i in range(found):
        c = m.task_class[out[i]]
        row, node = best_place(m, s, c, rng, blink)
        if node == NONE:
            return i
        after[i] = open_row(s, m.topology[c], node) if row == NONE else row
        put(m, s, out[i], after[i])
    return found


@njit(cache=True, nogil=True)
def advance(m: Model, s: State, steps: int, most: int, blink: float, rng: Generator) -> None:
    """Take tasks out and put them back `steps` times; see `engine` for what is kept."""
    out = np.empty(len(m.placed), dtype=np.int64)
    before, after = np.empty_like(out), np.empty_like(out)
    for _ in range(steps):
        saved = s.numbers[NETWORK]
        found = _choose(m, s, most, out, rng)
        _order(m, out, found, rng)
        for i in range(found):
            before[i] = take(m, s, out[i])
        done = _put_back(m, s, out, found, after, rng, blink)
        slot = s.numbers[STEP] % len(s.late)
        late, now = s.late[slot], s.numbers[NETWORK]
        if done < found or (now < saved and now < late):
            for i in range(done):
                take(m, s, out[i])
            for i in range(found):
                put(m, s, out[i], before[i])
        for i in range(found):
            close(s, before[i])
        for i in range(done):
            close(s, after[i])
        s.late[slot] = max(s.numbers[NETWORK], late)
        s.numbers[STEP] += 1
        if s.numbers[NETWORK] > s.numbers[MOST]:
            s.numbers[MOST] = s.numbers[NETWORK]
            s.best_row[:] = s.row
            s.best_node[:] = s.node
