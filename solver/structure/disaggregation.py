"""Dealing the tasks of each kind to workers whose contents are counts of kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.structure.task_types import Kinds


def deal(problem: Problem, kinds: Kinds, workers: Mapping[int, Sequence[IntArray]]) -> Placement:
    """Return the placement with these contents [K] of workers, labelled 0, 1, ... on each node."""
    nodes = [UNPLACED] * problem.task_count
    labels = [UNPLACED] * problem.task_count
    waiting = [
        iter([task for c in group for task in problem.classes[c].tasks]) for group in kinds.members
    ]
    for node, contents in workers.items():
        for label, content in enumerate(contents):
            for k, count in enumerate(content.tolist()):
                for _ in range(count):
                    task = next(waiting[k])
                    nodes[task], labels[task] = node, label
    return Placement(tuple(nodes), tuple(labels))
