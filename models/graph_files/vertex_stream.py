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
