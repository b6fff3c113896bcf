"""Quick proofs that a problem has no placement: sums, and single tasks."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT


def is_impossible(problem: Problem) -> bool:
    """Return whether counting alone proves that no placement exists.

    A hard resource is short in all, a task is larger than every node or than its worker's heap, or
    there are fewer slots than topologies. ``False`` says nothing.
    """
    if problem.may_reject or not problem.task_count:
        return False
    sizes = np.array(problem.sizes, dtype=np.int64)
    total = sizes @ problem.demand
    for d in np.flatnonzero(problem.hard).tolist():
        capacity = problem.capacity[:, d].tolist()
        if NO_LIMIT in capacity:
            continue
        largest = int(problem.demand[sizes > 0, d].max(initial=0))
        if int(total[d]) > sum(capacity) or largest > max(capacity):
            return True
    if any(_breaks_heap(problem, t) for t in range(len(problem.rules))):
        return True
    slots = problem.slots.tolist()
    return NO_LIMIT not in slots and sum(slots) < sum(bool(r.classes) for r in problem.rules)


def _breaks_heap(problem: Problem, topology: int) -> bool:
    rules = problem.rules[topology]
    return any(int(problem.heap[c]) > rules.heap_limit for c in rules.classes)
