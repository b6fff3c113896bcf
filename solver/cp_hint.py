"""A placement as a hint of the compact model."""

from __future__ import annotations

from collections import Counter

from ortools.sat.python import cp_model

from slotwise.models.placement import UNPLACED, Placement
from slotwise.models.problem import Problem
from slotwise.solver.cp_counts import Counts, Group


def add_hint(
    model: cp_model.CpModel, problem: Problem, counts: Counts, placement: Placement
) -> None:
    """Hint every count and open worker so that they describe `placement`.

    Workers of the placement are matched to workers of the model by home label, else in turn. A
    placement with more workers on a node than the model has is hinted as far as it goes.
    """
    held = _held(problem, counts.groups, placement)
    for (topology, node), workers in counts.workers.items():
        contents = {w: c for (t, n, w), c in held.items() if (t, n) == (topology, node)}
        labelled = {w.label for w in workers if w.label is not None}
        fresh = sorted(
            (c for w, c in contents.items() if w not in labelled),
            key=lambda c: -sum(c.values()),
        )
        for worker in workers:
            if worker.label is None:
                content = fresh.pop(0) if fresh else Counter[int]()
            else:
                content = contents.get(worker.label, Counter[int]())
            model.add_hint(worker.open, bool(content))
            for g, count in worker.counts.items():
                model.add_hint(count, content[g])


def _held(
    problem: Problem, groups: tuple[Group, ...], placement: Placement
) -> dict[tuple[int, int, int], Counter[int]]:
    """Return (topology, node, label) -> group -> count."""
    held: dict[tuple[int, int, int], Counter[int]] = {}
    waiting = [list(one.tasks) for one in problem.classes]
    for g, group in enumerate(groups):
        topology = problem.classes[group.cls].topology
        for _ in range(group.size):
            task = waiting[group.cls].pop(0)
            node, label = placement.nodes[task], placement.workers[task]
            if node != UNPLACED:
                held.setdefault((topology, node, label), Counter())[g] += 1
    return held
