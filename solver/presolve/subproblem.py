"""The problem of some classes alone, on the same cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class SubProblem:
    """Some classes of a problem as a problem of their own.

    Parameters
    ----------
    problem
        The smaller problem, on all nodes of the whole one.
    tasks
        Task index in the whole problem of each of its tasks.
    """

    problem: Problem
    tasks: tuple[int, ...]


def on_classes(problem: Problem, classes: Sequence[int]) -> SubProblem:
    """Return the problem with only these classes, in ascending order of their indices.

    Every rule on tasks, workers and nodes is kept; regions that no class is left of are not.
    """
    kept = sorted(classes)
    index = {c: i for i, c in enumerate(kept)}
    tasks = tuple(sorted(task for c in kept for task in problem.classes[c].tasks))
    new_task = {task: i for i, task in enumerate(tasks)}
    regions = (
        replace(region, classes=tuple(index[c] for c in region.classes if c in index))
        for region in problem.regions
    )
    smaller = replace(
        problem,
        classes=tuple(
            replace(problem.classes[c], tasks=tuple(new_task[t] for t in problem.classes[c].tasks))
            for c in kept
        ),
        demand=problem.demand[kept],
        heap=problem.heap[kept],
        task_class=np.array([index[int(problem.task_class[t])] for t in tasks], dtype=np.int64),
        flows=tuple(
            replace(flow, source=index[flow.source], target=index[flow.target])
            for flow in problem.flows
            if flow.source in index and flow.target in index
        ),
        linear=None if problem.linear is None else problem.linear[kept],
        rules=tuple(
            replace(rules, classes=tuple(index[c] for c in rules.classes if c in index))
            for rules in problem.rules
        ),
        regions=tuple(region for region in regions if region.classes),
    )
    return SubProblem(smaller, tasks)
