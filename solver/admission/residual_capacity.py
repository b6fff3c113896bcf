"""The problem of one topology alone, on the capacity left by the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np

from slotwise.heuristics.partial_placement import Ledger
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.accounting import Accounting
from slotwise.models.problem.problem import IntArray, Problem, TaskClass
from slotwise.models.values import NO_LIMIT
from slotwise.solver.structure.task_types import merge_twins


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """Usage of placed topologies: load [N, D] in steps of each dimension, workers [N]."""

    load: IntArray
    workers: IntArray


def usage_of(problem: Problem, accounting: Accounting, topologies: Collection[int]) -> Usage:
    """Return the joint usage of `topologies` in the placement of `accounting`."""
    load = np.zeros_like(problem.capacity)
    workers = np.zeros_like(problem.slots)
    for t in topologies:
        books = accounting.topologies[t]
        np.add.at(load, books.node, books.load)
        np.add.at(workers, books.node, 1)
        if problem.memory is not None:
            np.add.at(load[:, problem.memory], books.node_ids, books.node_extra)
    return Usage(load, workers)


def single_topology_problem(
    problem: Problem, topology: int, others: Usage, token: CancellationToken
) -> Problem:
    """Return the problem of placing `topology` alone, without objective, where `others` stay.

    It has one topology, index 0; dimensions, units, nodes and components are those of `problem`,
    and its tasks are renumbered in canonical order (see `tasks_of`). Without an objective,
    classes that no rule distinguishes are one. The capacity left may be below 0.
    """
    rules = problem.rules[topology]
    index = {task: i for i, task in enumerate(tasks_of(problem, topology))}
    twins = [
        [problem.classes[c] for c in members]
        for members in merge_twins(replace(problem, flows=(), linear=None), token).members
        if members[0] in rules.classes
    ]
    number = {
        c: i for i, group in enumerate(twins) for c in rules.classes if problem.classes[c] in group
    }
    chosen = [next(c for c in rules.classes if number[c] == i) for i in range(len(twins))]
    classes = tuple(
        TaskClass(
            0,
            group[0].component,
            tuple(sorted(index[t] for member in group for t in member.tasks)),
            None,
        )
        for group in twins
    )
    task_class = np.zeros(len(index), dtype=np.int64)
    for c, group in enumerate(classes):
        task_class[list(group.tasks)] = c
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
            replace(region, topology=0, classes=tuple(sorted({number[c] for c in region.classes})))
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


def without_tasks_of(
    problem: Problem, placement: Placement, topologies: Collection[int]
) -> Placement:
    """Return `placement` with no task of `topologies` placed."""
    gone = {task for t in topologies for task in tasks_of(problem, t)}
    nodes = [UNPLACED if task in gone else n for task, n in enumerate(placement.nodes)]
    workers = [UNPLACED if task in gone else w for task, w in enumerate(placement.workers)]
    return Placement(tuple(nodes), tuple(workers))


def with_topology(problem: Problem, stay: Placement, topology: int, own: Placement) -> Placement:
    """Add the topology's own placement, with worker labels that are free on their nodes."""
    nodes, workers = list(stay.nodes), list(stay.workers)
    used = set(zip(nodes, workers, strict=True))
    labels: dict[tuple[int, int], int] = {}
    rows = zip(tasks_of(problem, topology), own.nodes, own.workers, strict=True)
    for task, node, worker in rows:
        if (node, worker) not in labels:
            label = next(w for w in range(len(used) + 1) if (node, w) not in used)
            used.add((node, label))
            labels[node, worker] = label
        nodes[task], workers[task] = node, labels[node, worker]
    return Placement(tuple(nodes), tuple(workers))


# A relaxation: all tasks of a topology on a node in one worker; and the way back from it.
#
# Merging workers lowers what counts once per worker (shared memory, least cpu, slots); so where
# every rule that keeps tasks apart inside a node is dropped, whatever is impossible with one
# worker per node is impossible. The rules are kept again by splitting each node's tasks into
# workers.


def with_single_workers(problem: Problem) -> Problem:
    """Return the problem without the rules that may need several workers on a node."""
    rules = tuple(
        replace(
            rule,
            heap_limit=NO_LIMIT,
            one_task_per_worker=False,
            one_component_per_worker=False,
            incompatible=(),
        )
        for rule in problem.rules
    )
    return replace(problem, rules=rules)


def split_workers(problem: Problem, others: Iterable[Usage], single: Placement) -> Placement | None:
    """Return a placement with each task on its node of `single`, all rules kept, or ``None``.

    Largest heaps first, each into the first worker that takes it; so ``None`` proves nothing.
    `others` are on the nodes besides.
    """
    capacity, slots = problem.capacity, problem.slots
    for other in others:
        capacity, slots = (
            capacity - other.load * (capacity < NO_LIMIT),
            slots - other.workers * (slots < NO_LIMIT),
        )
    ledger = Ledger(
        replace(problem, capacity=capacity, slots=slots),
        [d for d, hard in enumerate(problem.hard.tolist()) if hard],
    )
    heap = problem.heap[problem.task_class].tolist()
    placed = (task for task, node in enumerate(single.nodes) if node != UNPLACED)
    for task in sorted(placed, key=lambda task: -heap[task]):
        worker = ledger.find_worker(task, single.nodes[task])
        if worker is None:
            return None
        ledger.put(task, single.nodes[task], worker)
    return ledger.placement()
