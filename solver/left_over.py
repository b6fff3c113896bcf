"""One topology alone, on what the others leave."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.accounting import Accounting
from slotwise.models.numbers import NO_LIMIT
from slotwise.models.problem import IntArray, Problem, TaskClass


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """What placed topologies take: load [N, D] in steps of each dimension, workers [N]."""

    load: IntArray
    workers: IntArray


def taken_by(problem: Problem, accounting: Accounting, topologies: Collection[int]) -> Taken:
    """Return what `topologies` take together where `accounting` has them."""
    load = np.zeros_like(problem.capacity)
    workers = np.zeros_like(problem.slots)
    for t in topologies:
        one = accounting.topologies[t]
        np.add.at(load, one.node, one.load)
        np.add.at(workers, one.node, 1)
        if problem.memory is not None:
            np.add.at(load[:, problem.memory], one.node_ids, one.node_extra)
    return Taken(load, workers)


def alone(problem: Problem, topology: int, others: Taken) -> Problem:
    """Return the problem of placing `topology` alone, without objective, where `others` stay.

    It has one topology, index 0; dimensions, units, nodes and components are those of `problem`,
    and its tasks are numbered anew in canonical order (see `tasks_of`). What is left of a
    resource may be below 0.
    """
    rules = problem.rules[topology]
    index = {task: i for i, task in enumerate(tasks_of(problem, topology))}
    number = {c: i for i, c in enumerate(rules.classes)}
    chosen = list(rules.classes)
    classes = tuple(
        TaskClass(0, one.component, tuple(index[task] for task in one.tasks), None)
        for one in (problem.classes[c] for c in chosen)
    )
    task_class = np.zeros(len(index), dtype=np.int64)
    for c, one in enumerate(classes):
        task_class[list(one.tasks)] = c
    bounded = problem.capacity != NO_LIMIT
    return replace(
        problem,
        capacity=np.where(bounded, problem.capacity - others.load, NO_LIMIT),
        slots=np.where(problem.slots == NO_LIMIT, NO_LIMIT, problem.slots - others.workers),
        classes=classes,
        demand=problem.demand[chosen],
        heap=problem.heap[chosen],
        task_class=task_class,
        flows=(),
        matrix=None,
        linear=None,
        rules=(replace(rules, classes=tuple(range(len(classes)))),),
        regions=tuple(
            replace(region, topology=0, classes=tuple(number[c] for c in region.classes))
            for region in problem.regions
            if region.topology == topology
        ),
        move_limit=NO_LIMIT,
        terms=(),
    )


def tasks_of(problem: Problem, topology: int) -> tuple[int, ...]:
    """Return the tasks of `topology` in canonical order."""
    classes = (problem.classes[c] for c in problem.rules[topology].classes)
    return tuple(sorted(task for one in classes for task in one.tasks))
