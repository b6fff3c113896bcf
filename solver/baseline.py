"""What is known at once of every problem: the best published heuristic, and simple bounds.

``auto`` falls back on it where no engine gets far. The bounds hold for every placement: no part of
the objective is negative; what all tasks need beyond what all nodes have is overload somewhere;
every topology with tasks has a worker. They need no earlier term to be at its best.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from slotwise.heuristics import HEURISTICS
from slotwise.heuristics.place import run_method
from slotwise.models.judge import judge
from slotwise.models.numbers import NO_LIMIT
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.engine import Engine
from slotwise.solver.result import Limits, Outcome, Status
from slotwise.solver.watch import Watch


def run(
    problem: Problem, limits: Limits, hint: Placement | None, watch: Watch | None = None
) -> Outcome:
    """Return the best of the hint and the heuristics' placements, and the simple bounds."""
    return known_at_once(problem, limits.seed, hint, tuple(HEURISTICS))


def known_at_once(
    problem: Problem, seed: int, hint: Placement | None, methods: Sequence[str]
) -> Outcome:
    """Return the best of the hint and of some heuristics' placements, and the simple bounds."""
    placement = _best(problem, seed, hint, methods)
    values = None if placement is None else judge(problem, placement).scaled
    bounds = simple_bounds(problem)
    status = Status.UNKNOWN if values is None else Status.FEASIBLE
    return Outcome(
        status=Status.OPTIMAL if values == bounds else status,
        placement=placement,
        values=values,
        bounds=bounds,
        proof="simple bounds: no part below 0, demand beyond all capacity",
        bound_kind="trivial",
    )


def simple_bounds(problem: Problem) -> tuple[int, ...]:
    """Return a value per term that no valid placement is below."""
    least = dict.fromkeys(("network", "linear", "moved", "rejected", "overload"), 0)
    topologies = 0 if problem.may_reject else sum(bool(r.classes) for r in problem.rules)
    least |= {"workers": topologies, "nodes": min(topologies, 1)}
    if not problem.may_reject:
        least["overload"] = _least_overload(problem)
    return tuple(sum(m * least[part] for part, m in term.parts) for term in problem.terms)


def _least_overload(problem: Problem) -> int:
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    total = 0
    for d, weight in enumerate(problem.soft_weight.tolist()):
        capacities = problem.capacity[:, d].tolist()
        if weight and NO_LIMIT not in capacities:
            total += weight * max(0, int(demand[d]) - sum(capacities))
    return total


def _best(
    problem: Problem, seed: int, hint: Placement | None, methods: Sequence[str]
) -> Placement | None:
    found = [run_method(problem, HEURISTICS[name], seed) for name in methods]
    placements = [p for p in (hint, *found) if isinstance(p, Placement)]
    verdicts = [(judge(problem, p), p) for p in placements]
    valid = [(verdict.scaled, p) for verdict, p in verdicts if verdict.valid]
    return min(valid, key=lambda pair: pair[0])[1] if valid else None


BASELINE = Engine(
    name="baseline",
    run=run,
    supports=lambda problem: None,
    version=lambda: f"slotwise {version('slotwise')}",
)
