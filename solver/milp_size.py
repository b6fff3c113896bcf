"""Size of the linear model, known before it is built: building it takes far longer."""

from __future__ import annotations

from collections.abc import Iterator

from slotwise.models.problem import IntArray, Problem
from slotwise.solver.engine import NotTakenError
from slotwise.solver.milp_model import MOST_COLUMNS
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
    """Yield the columns of counts, and those that say which count the center of a star has."""
    levels = problem.matrix is None and "network" in problem.instance.objective.parts
    stars = stars_of(problem) if levels else {}
    for t, rules in enumerate(problem.rules):
        classes = list(rules.classes)
        groups = {c: 1 if problem.matrix is None else problem.classes[c].size for c in classes}
        for n in range(problem.node_count):
            workers = worker_count(problem, t, n, most)
            fitting = [c for c in classes if most[c, n]]
            yield workers * sum(groups[c] for c in fitting)
            centers = stars.get(t, {})
            yield sum(int(most[c, n]) for c in fitting if c in centers)
