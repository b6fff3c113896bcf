"""The best set of topologies that fits a cluster together.

A scheduler that takes topologies one by one, and never moves one again, may leave out what a
better use of the nodes would have held. Here all may be placed anew. Leaving out a topology
within its owner's guarantee costs more than leaving out all others; otherwise it costs what its
priority says (`Rules.reject_weight`). Among the best sets, the one that moves the fewest running
tasks.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from slotwise.models.compile import compile_problem
from slotwise.models.instance import Instance, Objective
from slotwise.models.judge import judge
from slotwise.models.limits import check_sizes
from slotwise.models.placement import UNPLACED, Placement
from slotwise.models.problem import Problem
from slotwise.solver.eviction import smallest_eviction
from slotwise.solver.result import Limits, Result
from slotwise.solver.solve import solve

SHARE_OF_FILLING = 0.5
"""Of the time limit, for adding topologies to the placement that is there."""

LEAST_SHARE = 0.1
"""Of the time limit, left for the engines in any case."""


@dataclass(frozen=True, slots=True)
class BestSet:
    """What is best, and what is proven about it.

    Parameters
    ----------
    result
        Of the solve: the term ``rejected``, in the weights of this module; then, where something
        runs, ``moved``.
    rejected
        Indices of the topologies that are left out; ``None`` without a placement.
    """

    result: Result
    rejected: tuple[int, ...] | None

    @property
    def proven(self) -> bool:
        """Whether no set is better; how many tasks move is another matter."""
        return self.result.objective[0].proven


def best_set(
    instance: Instance,
    guaranteed: Collection[int] = (),
    *,
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    hint: Placement | None = None,
) -> BestSet:
    """Return the best set of topologies of `instance` and a placement of it.

    Parameters
    ----------
    instance
        Its own objective counts for nothing here, but for which resources are soft.
    guaranteed
        Indices of the topologies within their owners' guarantees.
    time_limit_s, workers, seed, hint
        As in `solve`; a set is never worse than that of a valid hint, and topologies that fit
        beside it are added first.
    """
    started = time.perf_counter()
    problem = rejecting(instance, guaranteed)
    limits = Limits(time_limit_s, workers, seed)
    if hint is not None and judge(problem, hint).valid:
        hint = filled(problem, hint, replace(limits, time_s=time_limit_s * SHARE_OF_FILLING))
    left = max(time_limit_s - (time.perf_counter() - started), LEAST_SHARE * time_limit_s)
    result = solve(problem, time_limit_s=left, workers=workers, seed=seed, hint=hint)
    placement = result.placement
    return BestSet(result, None if placement is None else left_out(problem, placement))


def filled(problem: Problem, placement: Placement, limits: Limits) -> Placement:
    """Return `placement` with topologies added that fit beside it, the dearest first.

    Engines that cannot take the whole cluster at once get a better start from it.
    """
    started = time.perf_counter()
    for t in sorted(left_out(problem, placement), key=lambda t: -problem.rules[t].reject_weight):
        left = limits.time_s - (time.perf_counter() - started)
        if left <= 0:
            break
        found = smallest_eviction(problem, placement, t, (), replace(limits, time_s=left))
        if found.placement is not None:
            placement = found.placement
        if found.interrupted:
            break
    return placement


def rejecting(instance: Instance, guaranteed: Collection[int]) -> Problem:
    """Return the problem whose first term are the weighted topologies left out."""
    terms = ("rejected",) if instance.running is None else ("rejected", "moved")
    objective = Objective(terms, instance.objective.soft)
    problem = compile_problem(replace(instance, objective=objective))
    above = 1 + sum(rules.reject_weight for rules in problem.rules)
    made = replace(
        problem,
        rules=tuple(
            replace(rules, reject_weight=rules.reject_weight + (above if t in guaranteed else 0))
            for t, rules in enumerate(problem.rules)
        ),
    )
    check_sizes(made)
    return made


def left_out(problem: Problem, placement: Placement) -> tuple[int, ...]:
    """Return the topologies with tasks of which none is placed."""
    return tuple(
        t
        for t, rules in enumerate(problem.rules)
        if rules.classes
        and all(
            placement.nodes[task] == UNPLACED
            for c in rules.classes
            for task in problem.classes[c].tasks
        )
    )
