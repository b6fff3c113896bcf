"""Edge lists: a line ``vertex vertex [weight]`` for each edge, in any order.

Vertices are whole numbers, not necessarily dense; they come in ascending order. Blanks, tabs or
commas separate; lines that begin with # or % are comments. Weights are finite and 0 or more, in all
lines or in none. Edges have no direction, and one that is listed again, in either direction, counts
once; with another weight it is refused. A vertex without edges cannot be written.

The file does not list a vertex with its neighbours, so the whole graph is built in memory.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.graph_files.line_blocks import NEWLINE, line_blocks, opened, refusal
from slotwise.models.graph_files.vertex_stream import (
    MOST_VERTICES,
    MOST_WEIGHT,
    CsrGraph,
    WeightArray,
    from_edges,
)

Ends = NDArray[np.int64]


def read_edge_list(path: Path) -> CsrGraph:
    """Return the graph of an edge list.

    Raises
    ------
    InputError
        With file and line, when a line is not an edge, a self-loop, or contradicts an earlier one.
    """
    ends, weights = _edges(path)
    if not len(ends):
        raise InputError("must have at least one edge", has_value=False, file=str(path))
    ids, dense = _numbered(ends)
    if len(ids) > MOST_VERTICES:
        raise InputError(f"has more than {MOST_VERTICES} vertices", file=str(path), has_value=False)
    dense, weights = _once(path, dense, weights, ids)
    is_plain = int(ids[-1]) == len(ids) - 1
    names = None if is_plain else tuple(map(str, ids.tolist()))
    return from_edges(dense.astype(np.int32), weights, np.ones(len(ids)), names)


def _edges(path: Path) -> tuple[Ends, WeightArray]:
    from slotwise.models.graph_files import edge_list_kernels as kernels

    state = np.zeros(5, dtype=np.int64)
    all_ends, all_weights = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    with opened(path) as file:
        for data, size in line_blocks(path, file):
            lines = int(np.count_nonzero(data[:size] == NEWLINE))
            ends, weights = np.empty((lines + 1, 2), dtype=np.int64), np.empty(lines + 1)
            count = kernels.parse(data, size, state, ends, weights)
            if state[kernels.CODE]:
                raise _bad_line(path, state, data)
            all_ends.append(ends[:count])
            all_weights.append(weights[:count])
    return np.concatenate(all_ends), np.concatenate(all_weights)


def _bad_line(path: Path, state: NDArray[np.int64], data: NDArray[np.uint8]) -> InputError:
    from slotwise.models.graph_files import edge_list_kernels as kernels

    code, line, begin, end, width = (int(x) for x in state)
    word = data[begin:end].tobytes().decode("utf-8", "replace")
    wanted = "two or three" if width not in (2, 3) else f"{width}, as the first edge has"
    rules = {
        kernels.NO_VERTEX: "must be a vertex, a whole number of 0 or more (names: GraphML, GML)",
        kernels.TOO_LARGE: f"must be at most {MOST_WEIGHT}",
        kernels.NO_NUMBER: "must be a weight: a finite number of 0 or more",
        kernels.SELF_LOOP: "must not be a self-loop; remove the line",
        kernels.COLUMNS: f"must have {wanted} columns: vertex, vertex and perhaps a weight",
    }
    shown = None if code in (kernels.SELF_LOOP, kernels.COLUMNS) else word
    return refusal(path, line, rules[code], shown)


def _numbered(ends: Ends) -> tuple[Ends, Ends]:
    """Return the vertices in ascending order, and the edges with their positions in it."""
    highest = int(ends.max())
    if highest < 4 * ends.size:
        occurs = np.zeros(highest + 1, dtype=bool)
        occurs[ends.ravel()] = True
        ids = np.flatnonzero(occurs)
        return ids, (np.cumsum(occurs) - 1)[ends]
    ids, inverse = np.unique(ends, return_inverse=True)
    return ids, inverse.reshape(ends.shape)


def _once(path: Path, ends: Ends, weights: WeightArray, ids: Ends) -> tuple[Ends, WeightArray]:
    """Return each edge once, in the order of their ends; refuse two weights of one edge."""
    low, high = ends.min(axis=1), ends.max(axis=1)
    key = low * len(ids) + high
    order = np.argsort(key, kind="stable")
    key, weights = key[order], weights[order]
    again = np.flatnonzero(key[1:] == key[:-1]) + 1
    if len(again):
        other = again[weights[again] != weights[again - 1]]
        if len(other):
            edge = int(order[other[0]])
            rule = f"must be the weight that the edge has before, {weights[other[0] - 1]:g}"
            raise refusal(path, _line_of(path, edge), rule, float(weights[other[0]]))
        first = np.ones(len(key), dtype=bool)
        first[again] = False
        key, weights = key[first], weights[first]
    return np.stack((key // len(ids), key % len(ids)), axis=1), weights


def _line_of(path: Path, edge: int) -> int:
    """Return the line of an edge, counted from 0, of a file whose lines are sound."""
    line = 0
    with opened(path) as file:
        for text in file:
            line += 1
            words = text.strip()
            if words and words[:1] not in (b"#", b"%"):
                edge -= 1
                if edge < 0:
                    break
    return line
