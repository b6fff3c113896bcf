"""The problem of some classes or tasks alone, on the same cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class SubProblem:
    """Some tasks of a problem as a problem of their own.

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
    return _with(problem, {c: problem.classes[c].tasks for c in sorted(classes)})


def on_tasks(problem: Problem, tasks: Sequence[int]) -> SubProblem:
    """Return the problem with only these tasks and the classes they are of, see `on_classes`."""
    kept: dict[int, list[int]] = {
        c: [] for c in sorted({int(problem.task_class[t]) for t in tasks})
    }
    for task in sorted(tasks):
        kept[int(problem.task_class[task])].append(task)
    return _with(problem, kept)


def _with(problem: Problem, kept: Mapping[int, Sequence[int]]) -> SubProblem:
    """Return the problem with these tasks of these classes, both ascending."""
    classes = list(kept)
    index = {c: i for i, c in enumerate(classes)}
    tasks = tuple(sorted(task for several in kept.values() for task in several))
    new_task = {task: i for i, task in enumerate(tasks)}
    regions = (
        replace(region, classes=tuple(index[c] for c in region.classes if c in index))
        for region in problem.regions
    )
    smaller = replace(
        problem,
        classes=tuple(
            replace(problem.classes[c], tasks=tuple(new_task[t] for t in several))
            for c, several in kept.items()
        ),
        demand=problem.demand[classes],
        heap=problem.heap[classes],
        task_class=np.array([index[int(problem.task_class[t])] for t in tasks], dtype=np.int64),
        flows=tuple(
            replace(flow, source=index[flow.source], target=index[flow.target])
            for flow in problem.flows
            if flow.source in index and flow.target in index
        ),
        linear=None if problem.linear is None else problem.linear[classes],
        rules=tuple(
            replace(rules, classes=tuple(index[c] for c in rules.classes if c in index))
            for rules in problem.rules
        ),
        regions=tuple(region for region in regions if region.classes),
    )
    return SubProblem(smaller, tasks)
