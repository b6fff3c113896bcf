"""Placements from the contents of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from slotwise.models.placement import Placement
from slotwise.models.problem import IntArray
from slotwise.solver.dealing import deal
from slotwise.solver.piece_places import PiecePlaces
from slotwise.solver.worker_split import WorkerSplit


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
