"""Placements from the contents of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from slotwise.models.placement import UNPLACED, Placement
from slotwise.models.problem import IntArray
from slotwise.solver.piece_places import PiecePlaces
from slotwise.solver.worker_split import WorkerSplit


def placement_of(
    places: PiecePlaces, contents: Mapping[int, IntArray], split: WorkerSplit | None
) -> Placement | None:
    """Return the placement with these contents [K] on the nodes; ``None`` if slots are short.

    `split` is needed where the tasks of a node are split into workers.
    """
    problem = places.problem
    nodes = [UNPLACED] * problem.task_count
    labels = [UNPLACED] * problem.task_count
    waiting = [
        iter([task for c in group for task in problem.classes[c].tasks])
        for group in places.kinds.members
    ]
    for node, content in contents.items():
        workers: list[IntArray] | None = [content]
        if split is not None:
            workers = split.workers(content, int(problem.slots[node]))
        elif places.per_worker is not None:
            workers = list(_isolated(content, places.per_worker))
        if workers is None:
            return None
        for label, worker in enumerate(workers):
            for k, count in enumerate(worker.tolist()):
                for _ in range(count):
                    task = next(waiting[k])
                    nodes[task], labels[task] = node, label
    return Placement(tuple(nodes), tuple(labels))


def _isolated(content: IntArray, per_worker: IntArray) -> Iterator[IntArray]:
    """Yield the contents of workers that hold one kind each."""
    for k in np.flatnonzero(content).tolist():
        left = int(content[k])
        while left:
            worker = np.zeros_like(content)
            worker[k] = min(left, int(per_worker[k]))
            left -= int(worker[k])
            yield worker
