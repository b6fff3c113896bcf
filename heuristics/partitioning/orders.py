"""The orders in which the vertices of a graph in memory come to a streaming partitioner.

Random, breadth first and depth first are those that Stanton and Kliot compare (KDD 2012): each
component from one of its vertices, which is drawn, as is the order of the components. Their
adversarial order of a cycle, every second vertex first and the others after them, is taken to all
graphs here by greedy colouring: colour by colour, so that the first vertices have no neighbours
among each other and a partitioner must place them without knowing anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from slotwise.models.graph_files.vertex_stream import Chunk, CsrGraph, IdArray, Totals

NATURAL = "natural"
"""That of the file, or of the tasks of an instance."""


def breadth_first(graph: CsrGraph, starts: IdArray) -> IdArray:
    """Return all vertices, breadth first from each of `starts` that is not reached before.

    Neighbours come in the order of the graph; `starts` has every vertex.
    """
    seen = np.zeros(len(starts), dtype=bool)
    order: list[int] = []
    for start in starts.tolist():
        if seen[start]:
            continue
        seen[start] = True
        queue = deque((start,))
        while queue:
            vertex = queue.popleft()
            order.append(vertex)
            for other in _neighbours(graph, vertex):
                if not seen[other]:
                    seen[other] = True
                    queue.append(other)
    return np.array(order, dtype=np.int32)


def depth_first(graph: CsrGraph, starts: IdArray) -> IdArray:
    """Return all vertices, depth first in the same way."""
    seen = np.zeros(len(starts), dtype=bool)
    order: list[int] = []
    for start in starts.tolist():
        stack = [start]
        while stack:
            vertex = stack.pop()
            if seen[vertex]:
                continue
            seen[vertex] = True
            order.append(vertex)
            stack.extend(n for n in reversed(_neighbours(graph, vertex)) if not seen[n])
    return np.array(order, dtype=np.int32)


def adversarial(graph: CsrGraph) -> IdArray:
    """Return the vertices colour by colour.

    Each has the least colour that no neighbour with a lower number has.
    """
    colours = np.full(len(graph.weights), -1, dtype=np.int64)
    for vertex in range(len(colours)):
        used = {colours[other] for other in _neighbours(graph, vertex)}
        colours[vertex] = next(c for c in range(len(used) + 1) if c not in used)
    return np.argsort(colours, kind="stable").astype(np.int32)


def _neighbours(graph: CsrGraph, vertex: int) -> list[int]:
    row: list[int] = graph.neighbours[graph.offsets[vertex] : graph.offsets[vertex + 1]].tolist()
    return row


def _drawn(graph: CsrGraph, rng: Generator) -> IdArray:
    return rng.permutation(len(graph.weights)).astype(np.int32)


ORDERS: dict[str, Callable[[CsrGraph, Generator], IdArray]] = {
    NATURAL: lambda graph, _: np.arange(len(graph.weights), dtype=np.int32),
    "random": _drawn,
    "bfs": lambda graph, rng: breadth_first(graph, _drawn(graph, rng)),
    "dfs": lambda graph, rng: depth_first(graph, _drawn(graph, rng)),
    "adversarial": lambda graph, _: adversarial(graph),
}
"""Order -> (graph, rng) -> every vertex once."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderedGraph:
    """A graph in memory as a stream in another order; vertices keep their numbers."""

    graph: CsrGraph
    order: IdArray

    @property
    def totals(self) -> Totals:
        """The sums over the graph."""
        return self.graph.totals

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the vertices in the source."""
        return self.graph.names

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the vertices, all at once."""
        graph, order = self.graph, self.order
        lengths = np.diff(graph.offsets)[order]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        # Row i, which begins at offsets[i] here, begins at graph.offsets[order[i]] there.
        shifts = np.repeat(graph.offsets[order] - offsets[:-1], lengths)
        entries = np.arange(offsets[-1]) + shifts
        yield Chunk(
            vertices=order,
            weights=graph.weights[order],
            offsets=offsets,
            neighbours=graph.neighbours[entries],
            edge_weights=graph.edge_weights[entries],
        )


# What a part is worth to a vertex: the formulas of LDG and Fennel, for numbers and for arrays.
#
# The kernels compile them; methods on instances call them with arrays of all parts. Both are
# extended to weights and to parts of different sizes such that with weights of 1 and equal parts
# they are the published ones.

Value: TypeAlias = Any
"""A number, or an array of them."""


def ldg(gain: Value, load: Value, capacity: Value) -> Value:
    """Return linear deterministic greedy's score (Stanton and Kliot 2012, section 3).

    Parameters
    ----------
    gain
        Weight of the edges to neighbours in the part.
    load, capacity
        Weight of the vertices in the part, and the most it may be.
    """
    return gain * (1.0 - load / capacity)


def fennel(gain: Value, load: Value, weight: float, size: Value, alpha: float) -> Value:
    """Return Fennel's score, gain - (c(load + weight) - c(load)) with c(x) = alpha x^1.5.

    (Tsourakakis et al. 2014, section 4, gamma = 1.5.) A part of relative size s, 1 where all are
    equal, costs s c(x / s), so that the total cost is least where loads are as the sizes.

    Parameters
    ----------
    gain, load
        As in `ldg`.
    weight
        Of the vertex.
    size
        Relative size of the part, above 0.
    alpha
        See `fennel_alpha`.
    """
    before, after = load / size, (load + weight) / size
    return gain - alpha * size * (after * np.sqrt(after) - before * np.sqrt(before))


def fennel_alpha(parts: int, vertex_weight: float, edge_weight: float) -> float:
    """Return alpha = m k^(gamma - 1) / n^gamma, the published weight of balance against the cut."""
    if not vertex_weight:
        return 0.0
    return float(edge_weight * np.sqrt(parts) / (vertex_weight * np.sqrt(vertex_weight)))
