"""Pieces onto nodes: a plan of pieces is a placement if they find room on the nodes there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.configurations.enumeration import capped
from slotwise.solver.column_generation.connected.place_model import PiecePlaces, worker_counts
from slotwise.solver.column_generation.connected.worker_split import WorkerSplit
from slotwise.solver.structure.disaggregation import deal
from slotwise.solver.structure.task_types import Kinds

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


def placement_of(
    places: PiecePlaces, contents: Mapping[int, IntArray], split: WorkerSplit | None
) -> Placement | None:
    """Return the placement with these contents [K] on the nodes; ``None`` if slots are short.

    `split` is needed where the tasks of a node are split into workers.
    """
    workers: dict[int, list[IntArray]] = {}
    for node, content in contents.items():
        found: list[IntArray] | None = [content]
        if split is not None:
            found = split.workers(content, int(places.problem.slots[node]))
        elif places.per_worker is not None:
            found = list(_isolated(content, places.per_worker))
        if found is None:
            return None
        workers[node] = found
    return deal(places.problem, places.kinds, workers)


def _isolated(content: IntArray, per_worker: IntArray) -> Iterator[IntArray]:
    """Yield the contents of workers that hold one kind each."""
    for k in np.flatnonzero(content).tolist():
        left = int(content[k])
        while left:
            worker = np.zeros_like(content)
            worker[k] = min(left, int(per_worker[k]))
            left -= int(worker[k])
            yield worker
