"""What is known at once of every problem: the best published heuristic, and simple bounds.

``auto`` falls back on it where no engine gets far. The bounds hold for every placement: no part of
the objective is negative; what all tasks need beyond what all nodes have is overload somewhere;
every topology with tasks has a worker. They need no earlier term to be at its best.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from slotwise.heuristics import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.baseline.pair_bound import fewest_nodes, least_network
from slotwise.solver.core.ctrl_c import is_stop_requested, until
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status

FIRST = ("r-storm", "r-storm-pseudocode", "ras-default")
"""Heuristics that run first: the quickest (one keeps soft resources, the other refuses least), and
the one that is best most often.
"""
SHARE_OF_TIME = 0.05
PATIENCE, PATIENCE_FOR_FIRST = 4.0, 10.0
KIND, CAPACITY = "trivial", "capacity"
"""What the bounds are."""


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Return the best of the hint and the heuristics' placements, and the simple bounds.

    Each placement is told at once. Where tasks are many not all heuristics run: no more start
    after `SHARE_OF_TIME` of the limit.
    """
    methods = dict.fromkeys((*(name for name in FIRST if name in HEURISTICS), *HEURISTICS))
    seconds = SHARE_OF_TIME * limits.time_s
    return known_at_once(problem, limits.seed, hint, tuple(methods), seconds, reporter)


def known_at_once(
    problem: Problem,
    seed: int,
    hint: Placement | None,
    methods: Sequence[str],
    seconds: float = math.inf,
    reporter: Reporter | None = None,
) -> Outcome:
    """Return the best of the hint and of some heuristics' placements, and the simple bounds.

    After so many seconds no other heuristic starts, and one that runs `PATIENCE` times as long is
    stopped, or `PATIENCE_FOR_FIRST` times as long where there is no placement yet.
    """
    reporter = reporter or null_reporter(problem, "baseline")
    simple = simple_bounds(problem)
    reporter.prove(simple, KIND)
    bounds = capacity_bounds(problem)
    reporter.prove(bounds, CAPACITY)
    placement = _best(problem, seed, hint, methods, seconds, reporter)
    values = None if placement is None else judge(problem, placement).scaled
    status = Status.UNKNOWN if values is None else Status.FEASIBLE
    return Outcome(
        status=Status.OPTIMAL if values == bounds else status,
        placement=placement,
        values=values,
        bounds=bounds,
        proof="simple bounds: no part below 0, demand beyond capacity, pairs that share no node",
        bound_kind=KIND if bounds == simple else CAPACITY,
    )


def simple_bounds(problem: Problem, *, network: int = 0) -> tuple[int, ...]:
    """Return a value per term that no valid placement is below; `network` is a bound of that."""
    least = dict.fromkeys(("linear", "moved", "rejected", "overload"), 0)
    topologies = 0 if problem.may_reject else sum(bool(r.classes) for r in problem.rules)
    least |= {"workers": topologies, "nodes": fewest_nodes(problem), "network": network}
    if not problem.may_reject:
        least["overload"] = _least_overload(problem)
    return tuple(sum(m * least[part] for part, m in term.parts) for term in problem.terms)


def capacity_bounds(problem: Problem) -> tuple[int, ...]:
    """Return the same with what the network costs because nodes are small (`pair_bound`)."""
    counts = any(part == "network" for term in problem.terms for part, _ in term.parts)
    return simple_bounds(problem, network=least_network(problem) if counts else 0)


def _least_overload(problem: Problem) -> int:
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    total = 0
    for d, weight in enumerate(problem.soft_weight.tolist()):
        capacities = problem.capacity[:, d].tolist()
        if weight and NO_LIMIT not in capacities:
            total += weight * max(0, int(demand[d]) - sum(capacities))
    return total


def _best(
    problem: Problem,
    seed: int,
    hint: Placement | None,
    methods: Sequence[str],
    seconds: float,
    reporter: Reporter,
) -> Placement | None:
    started = time.perf_counter()
    best: tuple[tuple[int, ...], Placement] | None = None
    for name in (None, *methods):
        patience = seconds * (PATIENCE_FOR_FIRST if best is None else PATIENCE)
        placement = hint if name is None else _placed(problem, name, seed, started + patience)
        if placement is not None:
            verdict = judge(problem, placement)
            if verdict.valid and (best is None or verdict.scaled < best[0]):
                best = verdict.scaled, placement
                reporter.offer(placement)
        late = time.perf_counter() - started > seconds
        if is_stop_requested() or (late and best is not None):
            break
    return None if best is None else best[1]


def _placed(problem: Problem, name: str, seed: int, deadline: float) -> Placement | None:
    """Return a heuristic's placement; ``None`` where it refuses, or is stopped at the deadline."""
    try:
        with until(deadline):
            answer = run_method(problem, HEURISTICS[name], seed)
    except KeyboardInterrupt:
        return None
    return answer if isinstance(answer, Placement) else None


BASELINE = Engine(
    name="baseline",
    run=run,
    supports=lambda problem: None,
    version=lambda: f"slotwise {version('slotwise')}",
)
