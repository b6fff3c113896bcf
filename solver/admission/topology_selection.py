"""The best set of topologies that fits a cluster together.

A scheduler that takes topologies one by one and never moves them later may leave out topologies
that a better use of the nodes could hold. Here all may be moved. Leaving out a topology within its
owner's guarantee costs more than leaving out all others; otherwise the cost depends on its priority
(`Rules.reject_weight`). The set found is then placed so that few running tasks move.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.magnitudes import check_sizes
from slotwise.models.problem.problem import Problem
from slotwise.solver.admission.eviction import smallest_eviction
from slotwise.solver.admission.residual_capacity import (
    split_workers,
    with_single_workers,
    without_tasks_of,
)
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import null_reporter
from slotwise.solver.core.result import Limits
from slotwise.solver.portfolio.attempt import run_engine
from slotwise.solver.solve import solve

# A set of topologies placed so that the fewest running tasks move.


@dataclass(frozen=True, slots=True)
class Moves:
    """How many running tasks move, and a proven bound; ``None`` = no bound."""

    tasks: int
    bound: int | None


@dataclass(frozen=True, slots=True)
class Moved:
    """A placement with its moves; `interrupted` says whether Ctrl-C ended the search."""

    moves: Moves
    placement: Placement
    interrupted: bool


def fewest_moves(
    instance: Instance,
    placement: Placement,
    left_out: Collection[int],
    limits: Limits,
    token: RunToken,
) -> Moved | None:
    """Return a placement of all topologies but `left_out` that moves few of their running tasks.

    Parameters
    ----------
    instance
        What runs is in it.
    placement
        A valid one, to start from.
    left_out
        Topologies without a place; they are not counted.
    limits, token
        When to stop.

    Returns
    -------
    Moved | None
        ``None`` where no task of these topologies runs.
    """
    placed = [one for t, one in enumerate(instance.topologies) if t not in left_out]
    ids = {one.id for one in placed}
    running = {t: places for t, places in (instance.running or {}).items() if t in ids and places}
    if not running:
        return None
    tasks = [i for i, (topology, _) in enumerate(instance.task_names()) if topology in ids]
    part = replace(
        instance,
        topologies=tuple(placed),
        running=running,
        objective=replace(instance.objective, terms=("moved",), limits={}),
        linear=(),
    )
    hint = Placement(
        tuple(placement.nodes[i] for i in tasks), tuple(placement.workers[i] for i in tasks)
    )
    problem = compile_problem(part)
    try:
        reporter = null_reporter(problem, CP_SAT.name, token)
        outcome = run_engine(CP_SAT, problem, limits, hint, reporter)
    except NotTakenError:
        return Moved(Moves(judge(problem, hint).scaled[0], None), placement, interrupted=False)
    part_placement = outcome.placement
    if part_placement is None or outcome.values is None:
        return None
    nodes, workers = ([UNPLACED] * len(placement.nodes) for _ in range(2))
    for i, node, worker in zip(tasks, part_placement.nodes, part_placement.workers, strict=True):
        nodes[i], workers[i] = node, worker
    moves = Moves(outcome.values[0], outcome.bounds[0])
    return Moved(moves, Placement(tuple(nodes), tuple(workers)), outcome.interrupted)


SHARE = 0.4
"""Share of the time limit for each of the two steps before the whole problem is solved."""

LEAST_SHARE = 0.1
"""Share of the time limit reserved for the steps after them."""


@dataclass(frozen=True, slots=True)
class BestSet:
    """The best set found, and what is proven about it.

    Parameters
    ----------
    cost, bound
        Of the topologies left out, in the weights of this module, and a proven lower bound;
        ``None`` = no bound.
    left_out, placement
        Indices of the topologies that are left out (at worst all with tasks); of the others.
    moved
        How many of their running tasks move, and whether fewer are possible; ``None`` where
        none of them runs, or the search ended before it came to that.
    seconds
        Wall clock.
    interrupted
        Whether Ctrl-C ended the search.
    notes
        As in `Result`.
    """

    cost: int
    bound: int | None
    left_out: tuple[int, ...]
    placement: Placement
    moved: Moves | None
    seconds: float
    interrupted: bool
    notes: tuple[str, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether no set is better, however many tasks move."""
        return self.cost == self.bound


def best_set(
    instance: Instance,
    guaranteed: Collection[int] = (),
    *,
    limits: Limits | None = None,
    hint: Placement | None = None,
    token: RunToken | None = None,
) -> BestSet:
    """Return the best set of topologies of `instance` and a placement of it.

    Parameters
    ----------
    instance
        Its objective is ignored, except for which resources are soft.
    guaranteed
        Indices of the topologies within their owners' guarantees.
    limits
        When to stop; ``None`` = the default.
    hint
        A placement to start from. The set is never worse than that of a valid hint; topologies
        that fit beside it are added first.
    token
        Ends the search before its limits, except for that of the whole problem (`solve`), which
        only its limits and Ctrl-C end; ``None`` = only they do.
    """
    limits = Limits() if limits is None else limits
    token = token or RunToken()
    search = _Search(rejecting(instance, guaranteed), limits, token)
    search.start(hint)
    search.relax()
    search.finish()
    out = left_out(search.problem, search.placement)
    moved = None
    if search.left() > 0 and not search.interrupted:
        moved = fewest_moves(instance, search.placement, out, search.limits_left(), token)
    return BestSet(
        cost=search.cost(search.placement),
        bound=search.bound,
        left_out=out,
        placement=search.placement if moved is None else moved.placement,
        moved=None if moved is None else moved.moves,
        seconds=time.perf_counter() - search.started,
        interrupted=search.interrupted or (moved is not None and moved.interrupted),
        notes=search.notes,
    )


class _Search:
    """The best placement and bound so far."""

    def __init__(self, problem: Problem, limits: Limits, token: RunToken) -> None:
        self.started = time.perf_counter()
        self.problem = problem
        nowhere = (UNPLACED,) * problem.task_count
        self.placement = Placement(nowhere, nowhere)
        self.bound: int | None = None
        self.interrupted = False
        self.notes: tuple[str, ...] = ()
        self._limits = limits
        self._token = token

    def left(self) -> float:
        return self._limits.time_s - (time.perf_counter() - self.started)

    def limits_left(self, share: float = 1.0) -> Limits:
        least = LEAST_SHARE * self._limits.time_s
        return replace(self._limits, time_s=max(least, share * self.left()))

    def cost(self, placement: Placement) -> int:
        return judge(self.problem, placement).scaled[0]

    def start(self, hint: Placement | None) -> None:
        """Begin with the hint and what fits beside it."""
        if hint is not None:
            whole = without_tasks_of(self.problem, hint, partly_placed(self.problem, hint))
            if judge(self.problem, whole).valid:
                limits = self.limits_left(SHARE)
                self.placement, self.interrupted = filled(self.problem, whole, limits, self._token)

    def relax(self) -> None:
        """Solve with one worker per topology and node: a bound, and often the answer."""
        if self._done():
            return
        limits = self.limits_left(SHARE)
        try:
            loose = with_single_workers(self.problem)
            reporter = null_reporter(loose, CP_SAT.name, self._token)
            outcome = run_engine(CP_SAT, loose, limits, self.placement, reporter)
        except NotTakenError:
            return
        self.bound = outcome.bounds[0]
        self.interrupted |= outcome.interrupted
        if outcome.placement is not None:
            self._take(split_workers(self.problem, (), outcome.placement))

    def finish(self) -> None:
        """Solve the whole problem where something is still open."""
        if self._done():
            return
        limits = self.limits_left()
        result = solve(
            self.problem,
            time_limit_s=limits.time_s,
            workers=limits.workers,
            seed=limits.seed,
            memory_limit_mb=limits.memory_mb,
            hint=self.placement,
        )
        self.interrupted |= result.interrupted
        self.notes = result.notes
        self._take(result.placement)
        bound = result.objective[0].bound
        if bound is not None:
            self.bound = max(int(bound), self.bound or 0)

    def _done(self) -> bool:
        cost = self.cost(self.placement)
        if cost == 0:
            self.bound = 0
        return cost == self.bound or self.interrupted

    def _take(self, placement: Placement | None) -> None:
        if placement is not None and judge(self.problem, placement).valid:
            self.placement = min(self.placement, placement, key=self.cost)


def filled(
    problem: Problem, placement: Placement, limits: Limits, token: RunToken
) -> tuple[Placement, bool]:
    """Return `placement` with the topologies added that fit beside it, the dearest first.

    Also returns whether `token` ended it. It gives engines that cannot take the whole cluster at
    once a better start.
    """
    started = time.perf_counter()
    for t in sorted(left_out(problem, placement), key=lambda t: -problem.rules[t].reject_weight):
        left = limits.time_s - (time.perf_counter() - started)
        if left <= 0:
            break
        try:
            within = replace(limits, time_s=left)
            eviction = smallest_eviction(problem, placement, t, (), within, token)
        except NotTakenError:  # nor where there is no memory for it
            continue
        if eviction.placement is not None:
            placement = eviction.placement
        if eviction.interrupted:
            return placement, True
    return placement, False


# The problem whose only cost is that of topologies left out.


def rejecting(instance: Instance, guaranteed: Collection[int]) -> Problem:
    """Return the problem whose only term are the weighted topologies left out."""
    objective = replace(instance.objective, terms=("rejected",), limits={})
    problem = compile_problem(replace(instance, objective=objective, running=None, linear=()))
    above = 1 + sum(rules.reject_weight for rules in problem.rules)
    rejecting_problem = replace(
        problem,
        rules=tuple(
            replace(rules, reject_weight=rules.reject_weight + (above if t in guaranteed else 0))
            for t, rules in enumerate(problem.rules)
        ),
    )
    check_sizes(rejecting_problem)
    return rejecting_problem


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


def partly_placed(problem: Problem, placement: Placement) -> tuple[int, ...]:
    """Return the topologies of which some tasks are placed and some are not."""
    parts = []
    for t, rules in enumerate(problem.rules):
        tasks = [task for c in rules.classes for task in problem.classes[c].tasks]
        placed = sum(placement.nodes[task] != UNPLACED for task in tasks)
        if 0 < placed < len(tasks):
            parts.append(t)
    return tuple(parts)
