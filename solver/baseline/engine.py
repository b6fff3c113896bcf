"""What is known at once of every problem: the best published heuristic, and simple bounds.

``auto`` falls back on it where no engine gets far. The bounds hold for every placement: no part of
the objective is negative; what all tasks need beyond what all nodes have is overload somewhere;
every topology with tasks has a worker. They need no earlier term to be at its best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.partitioning.instances import PARTITIONING_METHODS
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.baseline.pair_bound import fewest_nodes, least_network
from slotwise.solver.baseline.params import BASELINE_DEFAULTS, BaselineParams
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome

FIRST = ("r-storm", "r-storm-pseudocode", "ras-default")
"""Heuristics that run first: the quickest (one keeps soft resources, the other refuses least), and
the one that is best most often. With many tasks on many nodes the first two, which look at every
node for every task, are the slowest.
"""
STARTS = tuple(
    dict.fromkeys(
        name
        for name in (*FIRST, *HEURISTICS)
        if name in HEURISTICS and name not in PARTITIONING_METHODS and "stromax" not in name
    )
)
"""All heuristics that run, in their order: not those that partition graphs, which look at one
resource alone. METIS and KaHIP are optional besides, and native code that nothing stops: what a
solve answers must not depend on them.
"""
KIND, CAPACITY = "trivial", "capacity"
"""What the bounds are."""


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: BaselineParams = BASELINE_DEFAULTS,
) -> Outcome:
    """Return the best of the hint and the heuristics' placements, and the simple bounds.

    Each placement is reported at once. With many tasks not all heuristics run: no more start
    after `time_fraction` of the limit.
    """
    seconds = params.time_fraction * limits.time_s
    starts = STARTS
    if problem.task_count * problem.node_count > params.max_places:
        starts = tuple(dict.fromkeys((FIRST[-1], *STARTS)))
    return known_at_once(problem, limits.seed, hint, starts, seconds, reporter, params)


def known_at_once(
    problem: Problem,
    seed: int,
    hint: Placement | None,
    methods: Sequence[str],
    seconds: float = math.inf,
    reporter: Reporter | None = None,
    params: BaselineParams = BASELINE_DEFAULTS,
) -> Outcome:
    """Return the best of the hint and of some heuristics' placements, and the simple bounds.

    After these seconds no other heuristic starts, and one that runs `patience` times as long is
    stopped, or `patience_for_first` times as long where there is no placement yet.
    """
    best = Incumbent(problem, reporter or null_reporter(problem, "baseline"))
    best.prove(simple_bounds(problem), KIND)
    bounds = capacity_bounds(problem, best.reporter.token)
    best.prove(bounds, CAPACITY)
    _place(best, seed, hint, methods, seconds, params)
    found = best.outcome(
        "simple bounds: no part below 0, demand beyond capacity, pairs that share no node"
    )
    return replace(found, bounds=bounds)  # they hold whatever the earlier terms are at


def simple_bounds(problem: Problem, *, network: int = 0) -> tuple[int, ...]:
    """Return a value per term that no valid placement is below; `network` is a bound of that."""
    least = dict.fromkeys(("linear", "moved", "rejected", "overload"), 0)
    topologies = 0 if problem.may_reject else sum(bool(r.classes) for r in problem.rules)
    least |= {"workers": topologies, "nodes": fewest_nodes(problem), "network": network}
    if not problem.may_reject:
        least["overload"] = _least_overload(problem)
    return tuple(sum(m * least[part] for part, m in term.parts) for term in problem.terms)


def capacity_bounds(problem: Problem, token: CancellationToken) -> tuple[int, ...]:
    """Return the same with what the network costs because nodes are small (`pair_bound`)."""
    counts = any(part == "network" for term in problem.terms for part, _ in term.parts)
    return simple_bounds(problem, network=least_network(problem, token) if counts else 0)


def _least_overload(problem: Problem) -> int:
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    total = 0
    for d, weight in enumerate(problem.soft_weight.tolist()):
        capacities = problem.capacity[:, d].tolist()
        if weight and NO_LIMIT not in capacities:
            total += weight * max(0, int(demand[d]) - sum(capacities))
    return total


def _place(
    best: Incumbent,
    seed: int,
    hint: Placement | None,
    methods: Sequence[str],
    seconds: float,
    params: BaselineParams,
) -> None:
    """Offer the hint and the heuristics' placements."""
    token = best.reporter.token
    started = token.now()
    for name in (None, *methods):
        is_first = best.placement is None
        patience = seconds * (params.patience_for_first if is_first else params.patience)
        until = token.child(started + patience)
        placement = hint if name is None else _placed(best.problem, name, seed, until)
        if placement is not None:
            best.offer(placement)
        late = token.now() - started > seconds
        if token.is_cancelled or (late and best.placement is not None):
            break


def _placed(problem: Problem, name: str, seed: int, token: CancellationToken) -> Placement | None:
    """Return a heuristic's placement; ``None`` where it refuses, or `token` stops it."""
    try:
        answer = run_method(problem, HEURISTICS[name], seed, token)
    except CancelledError:
        return None
    return answer if isinstance(answer, Placement) else None


def _engine(params: BaselineParams) -> Engine:
    return Engine(
        name="baseline",
        run=partial(run, params=params),
        supports=lambda problem: None,
        version=lambda: f"slotwise {version('slotwise')}",
    )


BASELINE = configurable(_engine, BASELINE_DEFAULTS)
