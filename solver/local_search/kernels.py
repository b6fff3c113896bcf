"""Inner loop of the local search on plain problems, compiled by Numba; see `compiled` for the data.

The best worker for a task is found by a scan of the nodes in use, one empty node of each group, and
the workers on them; a node that cannot beat the best so far is passed over.

Loops read arrays by local names: each read of a field of `Model` or `State` counts references to
the array, which took 50 times as long as the scan itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

from slotwise.models.problem.problem import IntArray

NETWORK, MOST, STEP, USED, FREE = range(5)
"""Whole numbers of a search's state: saving now, most so far, step, nodes in use, free rows."""
NONE = -1


FloatArray = NDArray[np.float64]


class Model(NamedTuple):
    """What does not change; pairs ``_at``, ``...`` are lists of lists laid end to end.

    `cpu` is the dimension in which each worker counts `least_cpu` at least; `NONE` = none does.
    """

    saving: IntArray
    demand: IntArray
    heap: IntArray
    heap_limit: IntArray
    topology: IntArray
    component: IntArray
    most_of: IntArray
    cpu: int
    least_cpu: int
    capacity: IntArray
    slots: IntArray
    rack: IntArray
    flow_at: IntArray
    flow_to: IntArray
    flow: IntArray
    apart_at: IntArray
    apart: IntArray
    group_at: IntArray
    group: IntArray
    better_at: IntArray
    better: IntArray
    task_at: IntArray
    task: IntArray
    placed: IntArray
    task_class: IntArray
    size: FloatArray


class State(NamedTuple):
    """Where the tasks are: `row` of each task; of each row its node, topology and contents."""

    numbers: IntArray
    row: IntArray
    node: IntArray
    owner: IntArray
    held: IntArray
    row_heap: IntArray
    row_cpu: IntArray
    row_counts: IntArray
    row_near: IntArray
    following: IntArray
    first: IntArray
    opened: IntArray
    node_held: IntArray
    load: IntArray
    node_near: IntArray
    of_component: IntArray
    rack_near: IntArray
    used: IntArray
    used_at: IntArray
    free: IntArray
    best_row: IntArray
    best_node: IntArray
    late: IntArray


@njit(cache=True, nogil=True)
def _book(m, s, c, row, sign):
    """Book one task of class c more, or less, in a worker."""
    numbers, held, load, row_cpu = s.numbers, s.held, s.load, s.row_cpu
    n, cpu = s.node[row], m.cpu
    _book_flow(m, s, c, row, sign)
    before, first = row_cpu[row], held[row] == 0
    held[row] += sign
    if cpu != NONE:
        row_cpu[row] += sign * m.demand[c, cpu]
        load[n, cpu] -= 0 if first else max(before, m.least_cpu)
        load[n, cpu] += max(row_cpu[row], m.least_cpu) if held[row] else 0
    s.row_heap[row] += sign * m.heap[c]
    s.row_counts[row, c] += sign
    s.opened[n] += sign * (held[row] == (sign > 0))
    demand = m.demand
    for d in range(load.shape[1]):
        if d != cpu:
            load[n, d] += sign * demand[c, d]
    s.of_component[n, m.component[c]] += sign
    node_held = s.node_held
    node_held[n] += sign
    if sign > 0 and node_held[n] == 1:
        s.used[numbers[USED]], s.used_at[n] = n, numbers[USED]
        numbers[USED] += 1
    elif sign < 0 and node_held[n] == 0:
        numbers[USED] -= 1
        last, at = s.used[numbers[USED]], s.used_at[n]
        s.used[at], s.used_at[last] = last, at


@njit(cache=True, nogil=True)
def _book_flow(m, s, c, row, sign):
    """Book what the task saves in its worker, node and rack, and what it is to others there."""
    row_near, node_near, rack_near = s.row_near, s.node_near, s.rack_near
    flow_to, flow, saving, n = m.flow_to, m.flow, m.saving, s.node[row]
    r = m.rack[n]
    s.numbers[NETWORK] += sign * (
        saving[0] * row_near[row, c] + saving[1] * node_near[n, c] + saving[2] * rack_near[r, c]
    )
    for e in range(m.flow_at[c], m.flow_at[c + 1]):
        to, weight = flow_to[e], sign * flow[e]
        row_near[row, to] += weight
        node_near[n, to] += weight
        rack_near[r, to] += weight


@njit(cache=True, nogil=True)
def put(m, s, task, row):
    """Put a task that is nowhere into a worker."""
    _book(m, s, m.task_class[task], row, 1)
    s.row[task] = row


@njit(cache=True, nogil=True)
def take(m, s, task):
    """Take a task out of its worker; return that."""
    row = s.row[task]
    _book(m, s, m.task_class[task], row, -1)
    s.row[task] = NONE
    return row


@njit(cache=True, nogil=True)
def open_row(s, topology, n):
    """Return a row for a new worker on a node."""
    s.numbers[FREE] -= 1
    row = s.free[s.numbers[FREE]]
    s.node[row], s.owner[row] = n, topology
    s.following[row], s.first[n] = s.first[n], row
    return row


@njit(cache=True, nogil=True)
def close(s, row):
    """Forget an empty worker; nothing happens if it is not empty, or not open."""
    if s.owner[row] == NONE or s.held[row]:
        return
    n = s.node[row]
    if s.first[n] == row:
        s.first[n] = s.following[row]
    else:
        before = s.first[n]
        while s.following[before] != row:
            before = s.following[before]
        s.following[before] = s.following[row]
    s.owner[row] = NONE
    s.free[s.numbers[FREE]] = row
    s.numbers[FREE] += 1


@njit(cache=True, nogil=True)
def _candidates(m, s):
    """Return the nodes in use, then an empty one of each group that has no larger one left."""
    used, group_at, group, node_held = s.used, m.group_at, m.group, s.node_held
    better_at, better = m.better_at, m.better
    count, groups = s.numbers[USED], len(group_at) - 1
    nodes, empty = np.empty(count + groups, dtype=np.int64), np.full(groups, NONE)
    nodes[:count] = used[:count]
    for g in range(groups):
        for at in range(group_at[g], group_at[g + 1]):
            if node_held[group[at]] == 0:
                empty[g] = group[at]
                break
    for g in range(groups):
        is_largest = empty[g] != NONE
        for e in range(better_at[g], better_at[g + 1]):
            is_largest &= empty[better[e]] == NONE
        if is_largest:
            nodes[count] = empty[g]
            count += 1
    return nodes[:count]


@njit(cache=True, nogil=True)
def best_place(m, s, c, rng, blink):
    """Return row and node where one more task saves most; row `NONE` is a fresh worker there.

    Each place is overlooked with probability `blink`. Node `NONE`: there is no place.
    """
    demand, load, capacity = m.demand[c], s.load, m.capacity
    node_near, rack_near, row_near, rack = s.node_near, s.rack_near, s.row_near, m.rack
    first, following, opened, slots = s.first, s.following, s.opened, m.slots
    owner, held, row_heap, row_cpu = s.owner, s.held, s.row_heap, s.row_cpu
    row_counts, apart, of_component = s.row_counts, m.apart, s.of_component
    topology, component, heap = m.topology[c], m.component[c], m.heap[c]
    cpu, least_cpu = m.cpu, m.least_cpu
    heap_limit, most_of = m.heap_limit[topology], m.most_of[component]
    apart_from, apart_to = m.apart_at[c], m.apart_at[c + 1]
    in_worker, on_node, in_rack = m.saving[0], m.saving[1], m.saving[2]
    most, ties, best_row, best_node = -1, 0, NONE, NONE
    for n in _candidates(m, s):
        saves = on_node * node_near[n, c] + in_rack * rack_near[rack[n], c]
        if saves + in_worker * node_near[n, c] < most or of_component[n, component] >= most_of:
            continue
        takes = True
        for d in range(len(demand)):
            if d != cpu and demand[d] and load[n, d] + demand[d] > capacity[n, d]:
                takes = False
        row = first[n] if takes else NONE
        while takes:
            gain, before, after = saves, 0, 0
            if cpu != NONE:
                after = max(demand[cpu], least_cpu)
            if row == NONE:
                fits = heap <= heap_limit and opened[n] < slots[n]
            else:
                gain += in_worker * row_near[row, c]
                fits = owner[row] == topology and held[row] and row_heap[row] + heap <= heap_limit
                if cpu != NONE:
                    before = max(row_cpu[row], least_cpu)
                    after = max(row_cpu[row] + demand[cpu], least_cpu)
            fits = fits and gain >= most
            if fits and after > before:
                fits = load[n, cpu] + after - before <= capacity[n, cpu]
            if fits and row != NONE:
                for e in range(apart_from, apart_to):
                    if row_counts[row, apart[e]]:
                        fits = False
                        break
            if fits and rng.random() >= blink:
                ties = 1 if gain > most else ties + 1
                if gain > most or rng.random() * ties < 1.0:
                    most, best_row, best_node = gain, row, n
            if row == NONE:
                break
            row = following[row]
    return best_row, best_node


# Steps of the local search on plain problems, compiled by Numba: ruin, recreate, accept.
#
# The same steps as `engine.LocalSearch` does one by one.

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
    out[0], filled = task, 1
    for _ in range(count):
        other = _neighbour(m, out[int(rng.random() * filled)], rng)
        is_known = False
        for i in range(filled):
            is_known |= out[i] == other
        if not is_known:
            out[filled] = other
            filled += 1
    return filled


@njit(cache=True, nogil=True)
def _choose(m, s, most, out, rng):
    """Fill `out` with the tasks to take out, shuffled; return how many, drawn up to `most`."""
    most = 1 + int(rng.random() * most)
    task, dice = m.placed[int(rng.random() * len(m.placed))], rng.random()
    if dice < CHAIN:
        count = _chain(m, task, 2 + int(rng.random() * 7), out, rng)
    else:
        a, b, c = s.row[task], s.row[_neighbour(m, task, rng)], NONE
        rows = dice < WORKERS
        if not rows:
            if rng.random() < 0.5:
                c = s.node[s.row[_neighbour(m, task, rng)]]
            a, b = s.node[a], s.node[b]
        count = 0
        for other in m.placed:
            at = s.row[other] if rows else s.node[s.row[other]]
            if at in (a, b, c):
                out[count] = other
                count += 1
    for i in range(min(count, most)):
        j = i + int(rng.random() * (count - i))
        out[i], out[j] = out[j], out[i]
    return min(count, most)


@njit(cache=True, nogil=True)
def _order(m, out, count, rng):
    """Put the tasks into the order in which they are put back."""
    dice = rng.random()
    if dice < SHUFFLED:
        return
    pull = np.zeros(len(m.size))
    if dice < LARGEST:
        pull[:] = m.size
    for i in range(count):
        best = i
        for j in range(i + 1, count):
            if pull[m.task_class[out[j]]] > pull[m.task_class[out[best]]]:
                best = j
        out[i], out[best] = out[best], out[i]
        if dice >= LARGEST:
            c = m.task_class[out[i]]
            for e in range(m.flow_at[c], m.flow_at[c + 1]):
                pull[m.flow_to[e]] += m.flow[e]


@njit(cache=True, nogil=True)
def _put_back(m, s, out, count, after, rng, blink):
    """Put the tasks where each saves most; return how many found a place."""
    for i in range(count):
        c = m.task_class[out[i]]
        row, node = best_place(m, s, c, rng, blink)
        if node == NONE:
            return i
        after[i] = open_row(s, m.topology[c], node) if row == NONE else row
        put(m, s, out[i], after[i])
    return count


@njit(cache=True, nogil=True)
def advance(m: Model, s: State, steps: int, most: int, blink: float, rng: Generator) -> None:
    """Take tasks out and put them back `steps` times; see `engine` for what is kept."""
    out = np.empty(len(m.placed), dtype=np.int64)
    before, after = np.empty_like(out), np.empty_like(out)
    for _ in range(steps):
        saved = s.numbers[NETWORK]
        count = _choose(m, s, most, out, rng)
        _order(m, out, count, rng)
        for i in range(count):
            before[i] = take(m, s, out[i])
        done = _put_back(m, s, out, count, after, rng, blink)
        slot = s.numbers[STEP] % len(s.late)
        late, now = s.late[slot], s.numbers[NETWORK]
        if done < count or (now < saved and now < late):
            for i in range(done):
                take(m, s, out[i])
            for i in range(count):
                put(m, s, out[i], before[i])
        for i in range(count):
            close(s, before[i])
        for i in range(done):
            close(s, after[i])
        s.late[slot] = max(s.numbers[NETWORK], late)
        s.numbers[STEP] += 1
        if s.numbers[NETWORK] > s.numbers[MOST]:
            s.numbers[MOST] = s.numbers[NETWORK]
            s.best_row[:] = s.row
            s.best_node[:] = s.node
