"""Size of the linear model, known before it is built: building it takes far longer."""

from __future__ import annotations

from collections.abc import Iterator

from slotwise.models.problem import NODE, RACK, IntArray, Problem
from slotwise.solver.engine import NotTakenError
from slotwise.solver.model_size import MOST_COLUMNS
from slotwise.solver.stars import stars_of
from slotwise.solver.worker_layout import most_tasks, worker_count


def check_columns(problem: Problem) -> None:
    """Refuse a problem whose linear model has more than `MOST_COLUMNS` columns, as far as is known.

    Raises
    ------
    NotTakenError
        As building the model would.
    """
    columns = 0
    for more in _columns(problem, most_tasks(problem)):
        columns += more
        if columns > MOST_COLUMNS:
            raise NotTakenError(f"its linear model has more than {MOST_COLUMNS:,} columns")


def _columns(problem: Problem, most: IntArray) -> Iterator[int]:
    """Yield the columns of counts, then those that say which count the center of a star has."""
    single = problem.matrix is not None
    for t, rules in enumerate(problem.rules):
        groups = {c: problem.classes[c].size if single else 1 for c in rules.classes}
        for n in range(problem.node_count):
            workers = worker_count(problem, t, n, most)
            yield workers * sum(size for c, size in groups.items() if most[c, n])
    nearer = problem.distance[RACK] > problem.distance[NODE]
    if single or not nearer or "network" not in problem.instance.objective.parts:
        return
    for stars in stars_of(problem).values():
        for center, leaves in stars.items():
            shared = (most[list(leaves)] > 0).any(axis=0)
            yield int(most[center][shared].sum())
