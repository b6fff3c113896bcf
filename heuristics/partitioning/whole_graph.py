"""What partitioners need that see the whole graph at once: whole weights, and parts that fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slotwise.heuristics.partitioning.partition import FloatArray, Partition, Parts
from slotwise.models.graph_files.csr import CsrGraph
from slotwise.models.graph_files.vertex_stream import IdArray, WeightArray

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
