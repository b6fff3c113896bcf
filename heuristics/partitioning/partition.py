"""The question to a partitioner, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.graph_files.vertex_stream import (
    CsrGraph,
    IdArray,
    Totals,
    VertexStream,
    WeightArray,
)

FloatArray = NDArray[np.float64]

ROUNDING = 1e-12
"""Largest relative rounding error of sums of doubles."""

MOST_DENOMINATOR = 2**20
"""Of the share of a part where weights are whole: the most parts there may be."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that vertices are dealt to.

    Parameters
    ----------
    sizes
        [K] the share of the vertex weight of each in perfect balance; they add up to 1.
    balance
        Largest weight of a part relative to that, 1 or more.
    """

    sizes: FloatArray
    balance: float

    def __post_init__(self) -> None:
        """Check that there is a part, that none is empty, and the balance."""
        if not len(self.sizes) or (self.sizes <= 0).any() or abs(self.sizes.sum() - 1) > 1e-9:
            raise InputError("must be above 0 and add up to 1", field="sizes", value=self.sizes)
        if not 1 <= self.balance < np.inf:
            raise InputError("must be 1 or more", field="balance", value=self.balance)

    def capacities(self, totals: Totals) -> FloatArray:
        """Return the most weight of each part: `balance` times its share of the graph.

        Where that is less and the weights of all vertices are whole, the share rounded up: vertices
        of weight 1 cannot be in better balance. Rounded down these are the numbers of
        `slotwise.models.graph_partition.balanced_capacities`.
        """
        share = self.sizes * totals.vertex_weight
        if not totals.whole:
            allowed: FloatArray = self.balance * share * (1 + ROUNDING)
            return allowed
        balance = Fraction(repr(float(self.balance)))
        distinct, index = np.unique(share, return_inverse=True)
        exact_shares = [_unrounded(one) for one in distinct.tolist()]
        most = [max(balance * one, Fraction(ceil(one))) for one in exact_shares]
        return np.asarray([float(one) for one in most])[index]


def equal_parts(count: int, balance: float) -> Parts:
    """Return `count` parts of the same size."""
    return Parts(np.full(count, 1 / count), balance)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The part of each vertex.

    Parameters
    ----------
    part
        [N] index of the part of each vertex.
    cut
        Weight of the edges between different parts, each counted once.
    loads, shares, capacities
        [K] vertex weight of each part, its share in perfect balance, and the most it may be.
    """

    part: IdArray
    cut: float
    loads: FloatArray
    shares: FloatArray
    capacities: FloatArray

    @property
    def balance(self) -> float:
        """The largest load over its share in perfect balance, to the last digit; 1 is perfect."""
        shares = np.where(self.shares > 0, self.shares, 1.0)
        worst = int((self.loads / shares).argmax())
        return float(Fraction(self.loads[worst]) / _unrounded(shares[worst]))

    @property
    def fits(self) -> bool:
        """Whether no part is above its capacity."""
        return bool((self.loads <= self.capacities * (1 + ROUNDING)).all())


def _unrounded(share: float) -> Fraction:
    """Return the simple fraction that a share is, but for the rounding of doubles.

    49 vertices in 49 parts have shares just below 1.
    """
    share_as_it_is = Fraction(share)
    simple = share_as_it_is.limit_denominator(MOST_DENOMINATOR)
    is_near = abs(simple - share_as_it_is) <= share_as_it_is * Fraction(ROUNDING)
    return simple if is_near else share_as_it_is


@dataclass(frozen=True, slots=True)
class Partitioner:
    """A way to partition graphs.

    Parameters
    ----------
    name, source, description
        As of a `Method`.
    run
        (graph, parts, rng, token) -> partition, or `CancelledError` once the token is cancelled.
        Parts that cannot be kept within their capacities are exceeded; `Partition.fits` says so.
    missing
        Why it cannot be used here, naming the extra to install; ``None`` = it can.
    """

    name: str
    source: str
    description: str
    run: Callable[[VertexStream, Parts, Generator, CancellationToken], Partition]
    missing: Callable[[], str | None] = lambda: None


# Helpers of partitioners of the whole graph: whole weights, and parts that fit.

MOST_SUM = 2**30
"""METIS and KaHIP count in 32 bits."""

MOST_SWEEPS = 20


def whole_weights(weights: WeightArray, least: int) -> NDArray[np.int32]:
    """Return weights as whole numbers of at least `least`, scaled and rounded where they must be.

    Nothing is changed where all are whole and their sum is below `MOST_SUM`.
    """
    total = float(weights.sum())
    if total > MOST_SUM or (weights != np.floor(weights)).any():
        weights = np.round(weights * (MOST_SUM / 2 / max(total, 1e-300)))
    return np.maximum(weights, least).astype(np.int32)


def without_weightless_edges(graph: CsrGraph) -> CsrGraph:
    """Return the graph without its edges of weight 0, which METIS and KaHIP do not take."""
    positive = graph.edge_weights > 0
    before = np.concatenate(([0], np.cumsum(positive)))
    return replace(
        graph,
        offsets=before[graph.offsets].astype(np.int64),
        neighbours=graph.neighbours[positive],
        edge_weights=graph.edge_weights[positive],
    )


def cut_of(graph: CsrGraph, part: IdArray) -> float:
    """Return the weight of the edges between different parts."""
    rows = np.repeat(part, np.diff(graph.offsets))
    return float(graph.edge_weights[rows != part[graph.neighbours]].sum()) / 2


def made_to_fit(graph: CsrGraph, part: IdArray, parts: Parts) -> Partition:
    """Return the partition, vertices moved out of parts above their capacity where there are any.

    Ours, for partitioners that make equal parts only, or keep the balance but nearly: the vertices
    with the least weight of edges inside their part go first, each to the part with room that it
    has most edges to.
    """
    from slotwise.heuristics.partitioning import kernels

    totals = graph.totals
    capacity = parts.capacities(totals)
    part = part.copy()
    load = np.bincount(part, weights=graph.weights, minlength=len(capacity)).astype(float)
    for _ in range(MOST_SWEEPS):
        if (load <= capacity).all():
            break
        losing = np.argsort(_inside_less_outside(graph, part), kind="stable")
        moved = kernels.relieve(
            part, graph.weights, graph.offsets, graph.neighbours, graph.edge_weights, load,
            capacity, losing,
        )  # fmt: skip
        if not moved:
            break
    share = parts.sizes * totals.vertex_weight
    return Partition(part, cut_of(graph, part), load, share, capacity)


def _inside_less_outside(graph: CsrGraph, part: IdArray) -> FloatArray:
    degree = np.diff(graph.offsets)
    rows = np.repeat(np.arange(len(part)), degree)
    inside = part[rows] == part[graph.neighbours]
    signed = np.where(inside, graph.edge_weights, -graph.edge_weights)
    return np.bincount(rows, weights=signed, minlength=len(part)).astype(float)
