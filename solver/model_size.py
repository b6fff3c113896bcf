"""Size of the compact models, known before they are built."""

from __future__ import annotations

from slotwise.models.problem import Problem
from slotwise.solver.engine import NotTakenError
from slotwise.solver.worker_layout import most_tasks, worker_count

MOST_COUNTS = 20_000
"""Beyond this many counts of a class in a worker, building and presolving takes minutes."""


def check_model_size(problem: Problem) -> None:
    """Refuse a problem whose compact model would have more than `MOST_COUNTS` counts.

    Raises
    ------
    NotTakenError
        Naming the size.
    """
    most = most_tasks(problem)
    single = problem.matrix is not None
    size = sum(
        worker_count(problem, t, n, most)
        * sum(problem.classes[c].size if single else 1 for c in rules.classes)
        for t, rules in enumerate(problem.rules)
        for n in range(problem.node_count)
    )
    if size > MOST_COUNTS:
        raise NotTakenError(f"the compact model would have {size:,} counts of tasks in workers")
