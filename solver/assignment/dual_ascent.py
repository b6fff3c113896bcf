"""Engine ``dual-ascent``: branch and bound for general flows, bounds by dual ascent (level-1 RLT).

For problems where every task differs: quadratic assignment with capacities. A tabu search finds
the incumbent (`tabu`), dual ascent a bound (`rlt_kernels`), and depth-first search
over the tasks closes the gap where it can. Where too little of the tree gets done, the rest of the
time goes into a better incumbent. All numbers are whole, so every bound is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.assignment.model import Assignment, make_assignment, reason_against
from slotwise.solver.assignment.params import DUAL_ASCENT_DEFAULTS, DualAscentParams
from slotwise.solver.assignment.rlt_bound import StarState, make_state, state_bytes
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome


def supports(problem: Problem, params: DualAscentParams = DUAL_ASCENT_DEFAULTS) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    reason = reason_against(problem)
    if reason is None and (problem.task_count * problem.node_count) ** 2 > params.max_pairs:
        return (
            f"{problem.task_count} tasks on {problem.node_count} nodes make more than "
            f"{params.max_pairs:,} pairs of places"
        )
    return reason


class _OutOfTimeError(Exception):
    """The limit is reached."""


class _HopelessError(Exception):
    """Too little of the tree is done."""


@dataclass(slots=True)
class _Search:
    """Incumbent and clock; `value` and `bound` in steps of the term that decides."""

    model: Assignment
    limits: Limits
    best: Incumbent
    params: DualAscentParams
    visited: int = 0
    progress: float = 0.0
    tree_since: float = math.inf

    @property
    def value(self) -> int | None:
        values = self.best.values
        return None if values is None else values[self.model.term]

    @property
    def bound(self) -> int | None:
        bounds = self.best.bounds
        return bounds[self.model.term] if bounds else None

    def offer(self, nodes: IntArray, cost: int) -> None:
        """Keep a valid assignment that is better than the incumbent."""
        if self.value is None or cost < self.value:
            self.best.offer_solution(self.model.placement(nodes))

    def prove(self, bound: int) -> None:
        """Note a bound of the term that decides; the others are 0 at every placement."""
        self.best.prove([*[0] * self.model.term, bound])

    def close(self) -> None:
        """Note that nothing is better than the incumbent, or that there is no placement."""
        if self.best.values is None:
            self.best.prove_infeasible()
        else:
            self.best.prove(self.best.values)

    def check_clock(self) -> None:
        """Raise `_OutOfTimeError` when the time is over."""
        self.best.reporter.token.check()
        if self.best.seconds > self.limits.time_s:
            raise _OutOfTimeError
        in_tree, params = self.best.seconds - self.tree_since, self.params
        enough = self.progress >= params.least_progress_fraction
        if enough or self.model.task_count <= params.max_hopeful_tasks:
            return
        if in_tree > params.give_up_fraction * self.limits.time_s:
            raise _HopelessError


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: DualAscentParams = DUAL_ASCENT_DEFAULTS,
) -> Outcome:
    """Search an incumbent, bound it, then branch."""
    reason = supports(problem, params)
    if reason is not None:
        raise NotTakenError(reason)
    best = Incumbent(problem, reporter or null_reporter(problem, "dual-ascent"))
    search = _Search(make_assignment(problem), limits, best, params)
    if hint is not None:
        best.offer(hint)
    try:
        _solve(search)
    except _OutOfTimeError:
        pass
    except CancelledError:
        best.interrupted = True
    if search.value is not None and search.value == search.bound:
        search.close()
    proof = f"dual ascent on pairs of places, {search.visited} nodes of branch and bound"
    return best.outcome(proof if best.bounds or best.infeasible else "", float(search.visited))


def _solve(search: _Search) -> None:
    model, limits, params = search.model, search.limits, search.params
    rng = np.random.default_rng(limits.seed)
    places = model.task_count * model.node_count
    _improve(search, rng, limits.time_s * params.search_fraction, params.steps_per_place * places)
    search.check_clock()
    search.best.reporter.token.check_room(
        state_bytes(model), f"costs of all pairs of {places:,} places"
    )
    root = make_state(model, _largest_cost(model))
    _tighten_root(search, root)
    try:
        if not root.is_closed:
            deep = model.task_count > params.max_depth or root.bytes_down > params.max_tree_bytes
            room = search.best.reporter.token.has_room
            if deep or not room(root.bytes_down, "the costs kept on the way down the tree"):
                raise _HopelessError
            search.tree_since = search.best.seconds
            _branch(search, root, 1.0)
        search.close()
    except _HopelessError:
        _improve(search, rng, limits.time_s - search.best.seconds, None)


def _improve(search: _Search, rng: np.random.Generator, seconds: float, steps: int | None) -> None:
    """Look for a better incumbent from the one that is known."""
    known = search.best.placement
    start = None if known is None else np.array(known.nodes, dtype=np.int64)
    search_assignment(
        search.model,
        rng,
        search.best.reporter.token,
        seconds=seconds,
        steps=steps,
        start=start,
        target=search.bound,
        on_better=search.offer,
    )


def _largest_cost(model: Assignment) -> int:
    """Return a cost that none exceeds."""
    return int(model.flow.sum() * model.distance.max() + model.linear.max(axis=1).sum())


def _tighten_root(search: _Search, root: StarState) -> None:
    """Raise the bound at the root as long as it pays."""
    params = search.params
    work = root.star.size * search.model.node_count
    rounds = min(params.root_rounds, max(1, params.root_work // work))
    while not root.is_closed:
        if search.value is not None:
            root.aim_below(search.value)
        before = root.bound
        root.ascend(rounds, 0.0)
        if not root.is_closed:
            search.prove(root.value)
        search.check_clock()
        if root.bound - before < params.root_gain_fraction * (root.limit - root.bound):
            return


def _branch(search: _Search, state: StarState, share: float) -> None:
    """Search below `state`, depth first, cheapest node of the next task first.

    `share` is the part of the whole tree that counts as done afterwards.
    """
    task = state.next_task()
    places = state.places(task)
    for node in places:
        search.check_clock()
        if search.value is not None:
            state.aim_below(search.value)
        if not _try_place(search, state, task, node, share / len(places)):
            search.progress += share / len(places)


def _try_place(search: _Search, state: StarState, task: int, node: int, share: float) -> bool:
    """Search with `task` on `node`; return whether a branch below did the counting of progress."""
    if state.bound + int(state.single[task, node]) >= state.limit:
        return False
    search.visited += 1
    child = state.with_task(task, node)
    if not child.free.any():
        if search.model.is_valid(child.nodes):
            search.offer(child.nodes, search.model.cost(child.nodes))
        return False
    child.ascend(search.params.node_rounds, search.params.node_gain_fraction)
    if child.is_closed or not (child.ok[child.free].any(axis=1)).all():
        return False
    if not child.places(child.next_task()):
        return False
    _branch(search, child, share)
    return True


def _engine(params: DualAscentParams) -> Engine:
    return Engine(
        name="dual-ascent",
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lambda: f"numba {version('numba')}",
    )


DUAL_ASCENT = configurable(_engine, DUAL_ASCENT_DEFAULTS)
