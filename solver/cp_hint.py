"""A placement as a hint of the compact model."""

from __future__ import annotations

from ortools.sat.python import cp_model

from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.cp_counts import Counts
from slotwise.solver.groups import contents


def add_hint(
    model: cp_model.CpModel, problem: Problem, counts: Counts, placement: Placement
) -> None:
    """Hint every count and open worker so that they describe `placement`."""
    for place, held in contents(problem, counts.layout, placement).items():
        for worker, content in zip(counts.workers[place], held, strict=True):
            model.add_hint(worker.open, bool(content))
            for g, count in worker.counts.items():
                model.add_hint(count, content.get(g, 0))
