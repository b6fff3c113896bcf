"""Quick placements: large tasks first, each in the first or tightest room; or node by node."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem, TaskClass
from slotwise.models.problem.rules import Rules
from slotwise.models.values import NO_LIMIT

MOST_SUMS = 100
"""Sums of demands that are kept while a node is filled, the largest."""


@dataclass(slots=True)
class _Worker:
    topology: int
    heap: int = 0
    components: Counter[int] = field(default_factory=Counter)


def first_fit(problem: Problem) -> Placement | None:
    """Return a placement of all tasks, to be judged; ``None`` where a task found no room.

    Shared memory, the least cpu of a worker and limits of moves are not looked at.
    """
    filling = _Filling(problem)
    share = problem.demand / np.maximum(problem.capacity.max(axis=0, initial=1), 1)
    order = sorted(range(len(problem.classes)), key=lambda c: -float(share[c].max(initial=0.0)))
    return filling.placement() if all(filling.add(c) for c in order) else None


def best_fit(problem: Problem) -> Placement | None:
    """Return a placement of all tasks, to be judged; ``None`` where a task found no room.

    Large tasks first, each on the node that has least left of the scarcest resource.
    """
    scarcest = _scarcest(problem)
    if scarcest is None:
        return None
    filling = _Filling(problem)
    order = sorted(range(len(problem.classes)), key=lambda c: -int(problem.demand[c, scarcest]))
    tasks = ((c, task) for c in order for task in problem.classes[c].tasks)
    fits = (filling.add_tightly(c, task, scarcest) for c, task in tasks)
    return filling.placement() if all(fits) else None


def _scarcest(problem: Problem) -> int | None:
    """Return the hard resource of which tasks need the largest part; ``None`` = of none any."""
    total = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    offered = np.where(problem.capacity == NO_LIMIT, np.inf, problem.capacity).sum(axis=0)
    scarcity = np.where(problem.hard, total / np.maximum(offered, 1), -1.0)
    return int(scarcity.argmax()) if scarcity.max(initial=-1.0) > 0 else None


def tight_fit(problem: Problem) -> Placement | None:
    """Return a placement of all tasks, to be judged; ``None`` where a task found no room.

    Node by node, the smallest first, takes the tasks that leave the least of the scarcest resource.
    """
    scarcest = _scarcest(problem)
    if scarcest is None:
        return None
    filling = _Filling(problem)
    left = [list(one.tasks) for one in problem.classes]
    demand = [int(need) for need in problem.demand[:, scarcest]]
    capacity = [int(have) for have in problem.capacity[:, scarcest]]
    for node in sorted(range(problem.node_count), key=capacity.__getitem__):
        counts = _fullest([len(tasks) for tasks in left], demand, capacity[node])
        for c in sorted(range(len(left)), key=lambda c: (-counts[c], -demand[c])):
            while left[c] and filling.put(left[c][-1], node, c):
                left[c].pop()
                counts[c] -= 1
                if counts[c] <= 0:
                    break
    return None if any(left) else filling.placement()


def _fullest(left: list[int], demand: list[int], capacity: int) -> list[int]:
    """Return how many tasks of each class fill a capacity best, of those that are left."""
    sums: dict[int, tuple[int, ...]] = {0: ()}
    for c in sorted(range(len(left)), key=lambda c: -demand[c]):
        most = left[c] if demand[c] == 0 else min(left[c], capacity // demand[c])
        wider: dict[int, tuple[int, ...]] = {}
        for used, counts in sums.items():
            for count in range(most, -1, -1):
                if used + count * demand[c] <= capacity:
                    wider.setdefault(used + count * demand[c], (*counts, count))
                if demand[c] == 0:
                    break
        sums = {used: wider[used] for used in sorted(wider, reverse=True)[:MOST_SUMS]}
    order = sorted(range(len(left)), key=lambda c: -demand[c])
    best = sums[max(sums)]
    return [best[order.index(c)] for c in range(len(left))]


class _Filling:
    """What is placed so far."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._free = np.where(problem.hard, problem.capacity, NO_LIMIT)
        self._workers: list[list[_Worker]] = [[] for _ in range(problem.node_count)]
        self._nodes = [UNPLACED] * problem.task_count
        self._labels = [UNPLACED] * problem.task_count
        self._on_node: Counter[tuple[int, int]] = Counter()

    def placement(self) -> Placement:
        """Return the placement."""
        return Placement(tuple(self._nodes), tuple(self._labels))

    def add(self, c: int) -> bool:
        """Place the tasks of a class; nodes that one of them found full are left out for good."""
        one = self._problem.classes[c]
        node = 0
        for task in one.tasks:
            while node < self._problem.node_count:
                label = self._room(node, c, one)
                if label is not None:
                    break
                node += 1
            else:
                return False
            self._take(task, node, label, c)
        return True

    def add_tightly(self, c: int, task: int, d: int) -> bool:
        """Place a task on the node with room that has least left of resource `d`."""
        for node in np.argsort(self._free[:, d], kind="stable").tolist():
            if self._free[node, d] >= self._problem.demand[c, d] and self.put(task, node, c):
                return True
        return False

    def put(self, task: int, node: int, c: int) -> bool:
        """Place a task of a class on a node; returns whether it has room."""
        label = self._room(node, c, self._problem.classes[c])
        if label is None:
            return False
        self._take(task, node, label, c)
        return True

    def _take(self, task: int, node: int, label: int, c: int) -> None:
        one, worker = self._problem.classes[c], self._workers[node][label]
        self._free[node] -= self._problem.demand[c]
        worker.heap += int(self._problem.heap[c])
        worker.components[one.component] += 1
        self._on_node[node, one.component] += 1
        self._nodes[task], self._labels[task] = node, label

    def _room(self, node: int, c: int, one: TaskClass) -> int | None:
        """Return the worker of a node that takes a task, a new one if need be."""
        rules = self._problem.rules[one.topology]
        most = dict(rules.max_per_node).get(one.component, NO_LIMIT)
        if self._on_node[node, one.component] >= most:
            return None
        if (self._problem.demand[c] > self._free[node]).any():
            return None
        heap, workers = int(self._problem.heap[c]), self._workers[node]
        for label, worker in enumerate(workers):
            if worker.topology == one.topology and _takes(rules, worker, one.component, heap):
                return label
        if len(workers) >= int(self._problem.slots[node]) or heap > rules.heap_limit:
            return None
        workers.append(_Worker(one.topology))
        return len(workers) - 1


def _takes(rules: Rules, worker: _Worker, component: int, heap: int) -> bool:
    if worker.heap + heap > rules.heap_limit:
        return False
    return not any(rules.keeps_apart(component, other) for other in worker.components)
