"""Parsing the vertex lines of METIS files: bytes to numbers, compiled by Numba.

Checks what one line shows: whole numbers, neighbours that exist, no self-loop, no neighbour named
twice. Whether each edge stands at both of its ends is seen in sums (`signature`): a line adds the
hash of an edge at the end of the lower number and takes it off at the other, so that each sum is 0
in the end unless an edge is missing (or, once in 2^64, in spite of it).
"""

from __future__ import annotations

import numpy as np
from numba import njit

SOUND, NOT_WHOLE, TOO_LARGE, NO_SUCH, SELF_LOOP, TWICE = range(6)
NO_WEIGHT, NO_VERTEX_WEIGHT, ZERO, TOO_MANY = range(6, 10)
"""What is wrong with a line; the last one: there are more lines than vertices."""

CODE, LINE, BEGIN, END, VERTEX, ENTRIES = range(6)
"""Entries of the state: what is wrong, in which line and bytes; vertices and neighbours read."""

NEWLINE, RETURN, TAB, BLANK, PERCENT, NOUGHT, NINE = 10, 13, 9, 32, 37, 48, 57
MOST = 10**15


@njit(cache=True, nogil=True)
def _mixed(low, high, weight):
    """Return a hash of an edge (splitmix64 over its ends and its weight)."""
    z = (np.uint64(low) << np.uint64(32)) ^ np.uint64(high)
    z += np.uint64(0x9E3779B97F4A7C15) * np.uint64(weight + 1)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def parse(
    data, size, count, has_size, has_weight, has_edge_weight, state, seen, signature,
    weights, offsets, neighbours, edge_weights,
):  # fmt: skip
    """Read whole lines from the first `size` bytes of `data`; return how many vertices they hold.

    Arrays at the end are filled from their beginning. `seen` and `signature` are kept from call to
    call, one entry a vertex.
    """
    first = state[VERTEX]
    entries = 0
    position = 0
    offsets[0] = 0
    while position < size:
        state[LINE] += 1
        while data[position] == BLANK or data[position] == TAB or data[position] == RETURN:
            position += 1
        if data[position] == PERCENT:
            while data[position] != NEWLINE:
                position += 1
            position += 1
            continue
        vertex = state[VERTEX]
        state[BEGIN], state[END] = position, position
        if vertex == count:
            if data[position] == NEWLINE:
                position += 1
                continue
            while data[position] > BLANK:
                position += 1
            state[CODE], state[END] = TOO_MANY, position
            return vertex - first
        field = 0 if has_size else (1 if has_weight else 2)
        weights[vertex - first] = 1.0
        other = -1
        while True:
            while data[position] == BLANK or data[position] == TAB or data[position] == RETURN:
                position += 1
            if data[position] == NEWLINE:
                position += 1
                break
            state[BEGIN] = position
            number = 0
            while data[position] >= NOUGHT and data[position] <= NINE:
                if number <= MOST:
                    number = number * 10 + (data[position] - NOUGHT)
                position += 1
            if data[position] > BLANK:
                while data[position] > BLANK:
                    position += 1
                state[CODE], state[END] = NOT_WHOLE, position
                return vertex - first
            state[END] = position
            if number > MOST:
                state[CODE] = TOO_LARGE
                return vertex - first
            if field == 0:  # the size of the vertex: for METIS's communication volume
                field = 1 if has_weight else 2
            elif field == 1:
                weights[vertex - first] = number
                field = 2
            elif field == 2:
                other = number - 1
                if other < 0 or other >= count:
                    state[CODE] = NO_SUCH
                    return vertex - first
                if other == vertex:
                    state[CODE] = SELF_LOOP
                    return vertex - first
                if seen[other] == vertex:
                    state[CODE] = TWICE
                    return vertex - first
                seen[other] = vertex
                neighbours[entries] = other
                if has_edge_weight:
                    field = 3
                else:
                    edge_weights[entries] = 1.0
                    if other > vertex:
                        signature[vertex] += _mixed(vertex, other, 1)
                    else:
                        signature[other] -= _mixed(other, vertex, 1)
                    entries += 1
            else:
                if number == 0:
                    state[CODE] = ZERO
                    return vertex - first
                edge_weights[entries] = number
                if other > vertex:
                    signature[vertex] += _mixed(vertex, other, number)
                else:
                    signature[other] -= _mixed(other, vertex, number)
                entries += 1
                field = 2
        if field == 3:
            state[CODE] = NO_WEIGHT
            return vertex - first
        if field < 2:
            state[CODE] = NO_VERTEX_WEIGHT
            return vertex - first
        state[VERTEX] = vertex + 1
        state[ENTRIES] += entries - offsets[vertex - first]
        offsets[vertex - first + 1] = entries
    return state[VERTEX] - first
