"""Pieces onto nodes: a plan of pieces is a placement if they find room on the nodes there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.models.problem import BoolArray, IntArray, Problem
from slotwise.solver.kinds import Kinds
from slotwise.solver.node_configurations import capped
from slotwise.solver.piece_places import PiecePlaces, worker_counts

Contents = dict[int, IntArray]
"""Node -> tasks [K] of each kind on it."""


def pack_pieces(places: PiecePlaces, pieces: Sequence[IntArray]) -> Contents | None:
    """Return where the pieces go: all into one rack if first fit manages, else over the racks.

    The most demanding pieces come first, and small nodes are opened before larger ones. ``None``
    where first fit finds no room; there may be a way all the same.
    """
    problem = places.problem
    share = problem.capacity.max(axis=0).clip(1).astype(np.float64)
    weight = (places.kinds.demand / share).sum(axis=1)
    ordered = sorted(pieces, key=lambda piece: (-float(piece @ weight), piece.tolist()))
    size = (problem.capacity / share).sum(axis=1)
    racks = range(len(problem.racks))
    in_rack = [np.flatnonzero(problem.node_rack == rack) for rack in racks]
    in_rack = [nodes[np.argsort(size[nodes], kind="stable")] for nodes in in_rack]
    in_rack.sort(key=lambda nodes: -float(size[nodes].sum()))
    for nodes in in_rack:
        if (contents := _first_fit(places, ordered, nodes)) is not None:
            return contents
    return _first_fit(places, ordered, np.concatenate(in_rack))


def _first_fit(places: PiecePlaces, pieces: Sequence[IntArray], nodes: IntArray) -> Contents | None:
    problem, kinds = places.problem, places.kinds
    held = np.zeros((len(nodes), kinds.count), dtype=np.int64)
    for piece in pieces:
        after = held + piece
        fits = (after @ kinds.demand <= problem.capacity[nodes]).all(axis=1)
        kept = _slots_kept(problem, kinds, places.per_worker, after, nodes)
        good = np.flatnonzero(fits & kept)
        if not len(good):
            return None
        used = good[held[good].any(axis=1)]
        held[int(used[0] if len(used) else good[0])] += piece
    return {int(n): row for n, row in zip(nodes, held, strict=True) if row.any()}


def _slots_kept(
    problem: Problem, kinds: Kinds, per_worker: IntArray | None, after: IntArray, nodes: IntArray
) -> BoolArray:
    kept = capped(problem, kinds, after)
    if per_worker is None:
        return np.asarray(kept & (problem.slots[nodes] > 0))
    return np.asarray(kept & (worker_counts(after, per_worker) <= problem.slots[nodes]))
