"""A graph as a stream of vertices, each with its weight, its neighbours and the edges' weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

IdArray = NDArray[np.int32]
OffsetArray = NDArray[np.int64]
WeightArray = NDArray[np.float64]

MOST_VERTICES = 2**31 - 2
"""Numbers of vertices are 32 bits wide."""

MOST_WEIGHT = 10**15
"""The largest weight; sums of whole weights below 2^53 are exact."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What is known of a graph before its vertices come.

    Parameters
    ----------
    vertices, edges
        How many; an edge counts once.
    vertex_weight, edge_weight
        Sums of the weights, an edge counted once; without weights the numbers above.
    whole
        Whether the weight of every vertex is a whole number.
    """

    vertices: int
    edges: int
    vertex_weight: float
    edge_weight: float
    whole: bool


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some vertices that follow each other in the stream.

    Parameters
    ----------
    vertices, weights
        Their numbers, from 0, and their weights.
    offsets, neighbours, edge_weights
        The neighbours of the i-th are ``neighbours[offsets[i]:offsets[i + 1]]``.
    """

    vertices: IdArray
    weights: WeightArray
    offsets: OffsetArray
    neighbours: IdArray
    edge_weights: WeightArray


class VertexStream(Protocol):
    """A graph whose vertices come one after another, each once, with all their neighbours.

    `names` are what the source calls the vertices; ``None`` = their numbers in order. Iterating
    starts at the first vertex; a second time raises `InputError` where the source cannot be
    rewound.
    """

    @property
    def totals(self) -> Totals:
        """What is known before the vertices come."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the source calls the vertices."""

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the vertices."""


# A graph in memory, and how one is made of a list of edges.

CHUNK = 2**16
"""Vertices that are yielded at once."""


@dataclass(frozen=True, slots=True, eq=False)
class CsrGraph:
    """A graph in compressed sparse rows; each edge stands in the rows of both its ends.

    Fields as in `Chunk`; `names` as in `VertexStream`.
    """

    weights: WeightArray
    offsets: OffsetArray
    neighbours: IdArray
    edge_weights: WeightArray
    names: tuple[str, ...] | None = None

    @property
    def totals(self) -> Totals:
        """The sums over the graph."""
        return Totals(
            vertices=len(self.weights),
            edges=len(self.neighbours) // 2,
            vertex_weight=float(self.weights.sum()),
            edge_weight=float(self.edge_weights.sum()) / 2,
            whole=bool((self.weights == np.floor(self.weights)).all()),
        )

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the vertices in the order of their numbers."""
        for first in range(0, len(self.weights), CHUNK):
            last = min(first + CHUNK, len(self.weights))
            begin, end = int(self.offsets[first]), int(self.offsets[last])
            yield Chunk(
                vertices=np.arange(first, last, dtype=np.int32),
                weights=self.weights[first:last],
                offsets=self.offsets[first : last + 1] - begin,
                neighbours=self.neighbours[begin:end],
                edge_weights=self.edge_weights[begin:end],
            )


def in_memory(stream: VertexStream) -> CsrGraph:
    """Return the whole graph of a stream, its vertices in the order of their numbers."""
    if isinstance(stream, CsrGraph):
        return stream
    chunks = list(stream)
    vertices = np.concatenate([chunk.vertices for chunk in chunks])
    assert (np.diff(vertices) > 0).all(), "files list vertices in order"
    lengths = np.concatenate([np.diff(chunk.offsets) for chunk in chunks])
    return CsrGraph(
        weights=np.concatenate([chunk.weights for chunk in chunks]),
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        neighbours=np.concatenate([chunk.neighbours for chunk in chunks]),
        edge_weights=np.concatenate([chunk.edge_weights for chunk in chunks]),
        names=stream.names,
    )


def from_edges(
    ends: IdArray,
    edge_weights: WeightArray,
    weights: WeightArray,
    names: tuple[str, ...] | None = None,
) -> CsrGraph:
    """Return the graph of edges [M, 2] that are each given once, without self-loops.

    Neighbours stand in ascending order.
    """
    count = len(weights)
    sources = np.concatenate((ends[:, 0], ends[:, 1]))
    targets = np.concatenate((ends[:, 1], ends[:, 0]))
    order = np.argsort(sources.astype(np.int64) * count + targets)
    degree = np.bincount(sources, minlength=count)
    return CsrGraph(
        weights=weights,
        offsets=np.concatenate(([0], np.cumsum(degree))).astype(np.int64),
        neighbours=targets[order].astype(np.int32),
        edge_weights=np.concatenate((edge_weights, edge_weights))[order],
        names=names,
    )
