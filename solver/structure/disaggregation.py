"""Counts of tasks per worker -> a placement: tasks of a group are interchangeable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.structure.task_types import TaskTypes

WorkerCounts = tuple[int, int, Iterable[tuple[int, int]]]
"""Node, worker label, and (group, how many of its tasks) in that worker."""


def disaggregate(
    problem: Problem, groups: Iterable[Iterable[int]], workers: Iterable[WorkerCounts]
) -> Placement:
    """Return a placement with these counts; tasks that no worker counts are nowhere.

    Parameters
    ----------
    groups
        Tasks of each group, in the order in which they are taken.
    workers
        The same worker may come more than once.
    """
    nodes = [UNPLACED] * problem.task_count
    labels = [UNPLACED] * problem.task_count
    waiting = [iter(tasks) for tasks in groups]
    for node, label, counts in workers:
        for group, count in counts:
            for _ in range(count):
                task = next(waiting[group])
                nodes[task], labels[task] = node, label
    return Placement(tuple(nodes), tuple(labels))


def deal(
    problem: Problem, kinds: TaskTypes, workers: Mapping[int, Sequence[IntArray]]
) -> Placement:
    """Return the placement with these contents [K] of workers, labelled 0, 1, ... on each node."""
    tasks = ([task for c in group for task in problem.classes[c].tasks] for group in kinds.members)
    counts = (
        (node, label, enumerate(content.tolist()))
        for node, contents in workers.items()
        for label, content in enumerate(contents)
    )
    return disaggregate(problem, tasks, counts)
