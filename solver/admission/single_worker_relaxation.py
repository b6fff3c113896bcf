"""All tasks of a topology on a node in one worker: a relaxation, and the way back from it.

Merging workers lowers what counts once per worker (shared memory, least cpu, slots); so where
every rule that keeps tasks apart inside a node is dropped, whatever is impossible with one worker
per node is impossible. The rules are kept again by splitting each node's tasks into workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from slotwise.heuristics.partial_placement import Ledger
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.admission.residual_capacity import Taken


def with_single_workers(problem: Problem) -> Problem:
    """Return the problem without the rules that may need several workers on a node."""
    rules = tuple(
        replace(
            one,
            heap_limit=NO_LIMIT,
            one_task_per_worker=False,
            one_component_per_worker=False,
            incompatible=(),
        )
        for one in problem.rules
    )
    return replace(problem, rules=rules)


def split_workers(problem: Problem, others: Iterable[Taken], single: Placement) -> Placement | None:
    """Return a placement with each task on its node of `single`, all rules kept, or ``None``.

    Largest heaps first, each into the first worker that takes it; so ``None`` proves nothing.
    `others` are on the nodes besides.
    """
    capacity, slots = problem.capacity, problem.slots
    for one in others:
        capacity, slots = (
            capacity - one.load * (capacity < NO_LIMIT),
            slots - one.workers * (slots < NO_LIMIT),
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
