"""One pass over a chunk of the stream, compiled by Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from slotwise.heuristics.partitioning import orders

HASH, LDG, FENNEL = range(3)
"""Rules by which a part is chosen."""

# Numba's cache looks at the time of this file alone: whoever changes `orders` must touch it.
_ldg: Any = njit(orders.ldg)
_fennel: Any = njit(orders.fennel)


@njit(cache=True, nogil=True)
def _hashed(vertex, salt):
    """Return a number from 0 to 1 that depends on the vertex and the salt alone (splitmix64)."""
    z = np.uint64(vertex) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _hash_part(vertex, salt, weight, load, capacity, sizes):
    """Return the part whose share of [0, 1] the hash hits, or the next one with room."""
    hit = _hashed(vertex, salt)
    parts = len(load)
    chosen = parts - 1
    below = 0.0
    for p in range(parts):
        below += sizes[p]
        if hit < below:
            chosen = p
            break
    for step in range(parts):
        p = (chosen + step) % parts
        if load[p] + weight <= capacity[p]:
            return p
    return -1


@njit(cache=True, nogil=True)
def _best_part(rule, gain, weight, load, capacity, sizes, alpha, rng):
    """Return the part with the best score that has room; -1 = none has.

    Ties: the part that is emptiest for its capacity, then any of them at random.
    """
    best, ties = -1, 0
    best_score = best_fill = 0.0
    parts = len(load)
    for p in range(parts):
        if load[p] + weight > capacity[p]:
            continue
        if rule == LDG:
            score = _ldg(gain[p], load[p], capacity[p]) if capacity[p] > 0.0 else 0.0
        else:
            score = _fennel(gain[p], load[p], weight, sizes[p] * parts, alpha)
        if best >= 0 and score < best_score:
            continue
        fill = load[p] / capacity[p] if capacity[p] > 0.0 else 1.0
        if best < 0 or score > best_score or fill < best_fill:
            best, best_score, best_fill, ties = p, score, fill, 1
        elif fill == best_fill:
            ties += 1
            if rng.random() * ties < 1.0:
                best = p
    return best


@njit(cache=True, nogil=True)
def _least_overfull(weight, load, sizes):
    """Return the part that would be least above its share of the graph."""
    best = 0
    least = np.inf
    for p in range(len(load)):
        over = (load[p] + weight) / sizes[p]
        if over < least:
            least, best = over, p
    return best


@njit(cache=True, nogil=True)
def assign(
    rule, vertices, weights, offsets, neighbours, edge_weights, part, passes, now, load, capacity,
    sizes, alpha, salt, rng,
):  # fmt: skip
    """Give each vertex of a chunk its part; return the weight of the edges known to be cut.

    `part` holds the latest part of every vertex, -1 = none yet; `passes` the number of the pass in
    which it was given, `now` is the one that runs. An edge is looked at for the cut when its second
    end is assigned in this pass.
    """
    gain = np.zeros(len(load))
    cut = 0.0
    for i in range(len(vertices)):
        vertex, weight = vertices[i], weights[i]
        gain[:] = 0.0
        for e in range(offsets[i], offsets[i + 1]):
            p = part[neighbours[e]]
            if p >= 0:
                gain[p] += edge_weights[e]
        if rule == HASH:
            chosen = _hash_part(vertex, salt, weight, load, capacity, sizes)
        else:
            chosen = _best_part(rule, gain, weight, load, capacity, sizes, alpha, rng)
        if chosen < 0:
            chosen = _least_overfull(weight, load, sizes)
        for e in range(offsets[i], offsets[i + 1]):
            other = neighbours[e]
            if passes[other] == now and part[other] != chosen:
                cut += edge_weights[e]
        load[chosen] += weight
        part[vertex] = chosen
        passes[vertex] = now
    return cut


@njit(cache=True, nogil=True)
def relieve(part, weights, offsets, neighbours, edge_weights, load, capacity, losing):
    """Move vertices, in the order of `losing`, from overfull parts to the best one with room."""
    gain = np.zeros(len(load))
    moved = 0
    for vertex in losing:
        old, weight = part[vertex], weights[vertex]
        if load[old] <= capacity[old]:
            continue
        gain[:] = 0.0
        for e in range(offsets[vertex], offsets[vertex + 1]):
            gain[part[neighbours[e]]] += edge_weights[e]
        best = -1
        for p in range(len(load)):
            if p == old or load[p] + weight > capacity[p]:
                continue
            if best < 0 or gain[p] > gain[best]:
                best = p
        if best >= 0:
            load[old] -= weight
            load[best] += weight
            part[vertex] = best
            moved += 1
    return moved
