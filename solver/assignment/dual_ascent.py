"""Engine ``dual-ascent``: branch and bound for general flows, bounds by dual ascent (level-1 RLT).

For problems where every task differs: quadratic assignment with capacities. A tabu search finds
the incumbent (`assignment_search`), dual ascent a bound (`star_kernels`), and depth-first search
over the tasks closes the gap where it can. Where too little of the tree gets done, the rest of the
time goes into a better incumbent. All numbers are whole, so every bound is exact.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.assignment.model import Assignment, make_assignment, reason_against
from slotwise.solver.assignment.params import DUAL_ASCENT_DEFAULTS, DualAscentParams
from slotwise.solver.assignment.rlt_bound import StarState, make_state, state_bytes
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Improvement, Limits, Outcome, Status


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
    """Incumbent, bound and clock; `value` in steps of the term that decides."""

    problem: Problem
    model: Assignment
    limits: Limits
    reporter: Reporter
    started: float
    params: DualAscentParams
    best: IntArray | None = None
    placement: Placement | None = None
    value: int | None = None
    bound: int | None = None
    closed: bool = False
    visited: int = 0
    progress: float = 0.0
    tree_since: float = math.inf
    interrupted: bool = False
    trace: list[Improvement] = field(default_factory=list)

    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def offer(self, nodes: IntArray, cost: int) -> None:
        """Keep a valid assignment that is better than the incumbent."""
        if self.value is None or cost < self.value:
            self._take(self.model.placement(nodes), nodes, cost)

    def offer_hint(self, hint: Placement) -> None:
        """Keep a valid hint, as it is."""
        verdict = judge(self.problem, hint)
        if verdict.valid:
            nodes = np.array(hint.nodes, dtype=np.int64)
            self._take(hint, nodes, verdict.scaled[self.model.term])

    def _take(self, placement: Placement, nodes: IntArray, cost: int) -> None:
        self.best, self.placement, self.value = nodes, placement, cost
        self.note()
        self.reporter.offer(placement)

    def note(self) -> None:
        """Add a line to the trace."""
        self.trace.append(Improvement(self.seconds(), self.model.term, self.value, self.bound))

    def check_clock(self) -> None:
        """Raise `_OutOfTimeError` when the time is over."""
        self.reporter.token.check()
        if self.seconds() > self.limits.time_s:
            raise _OutOfTimeError
        in_tree, params = self.seconds() - self.tree_since, self.params
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
    reporter = reporter or null_reporter(problem, "dual-ascent")
    model = make_assignment(problem)
    search = _Search(problem, model, limits, reporter, time.perf_counter(), params)
    if hint is not None:
        search.offer_hint(hint)
    try:
        _solve(search)
    except _OutOfTimeError:
        pass
    except CancelledError:
        search.interrupted = True
    return _outcome(search)


def _solve(search: _Search) -> None:
    model, limits, params = search.model, search.limits, search.params
    rng = np.random.default_rng(limits.seed)
    places = model.task_count * model.node_count
    _improve(search, rng, limits.time_s * params.search_fraction, params.steps_per_place * places)
    search.check_clock()
    search.reporter.token.check_room(state_bytes(model), f"costs of all pairs of {places:,} places")
    root = make_state(model, _largest_cost(model))
    _tighten_root(search, root)
    try:
        if not root.is_closed:
            deep = model.task_count > params.max_depth or root.bytes_down > params.max_tree_bytes
            room = search.reporter.token.has_room
            if deep or not room(root.bytes_down, "the costs kept on the way down the tree"):
                raise _HopelessError
            search.tree_since = search.seconds()
            _branch(search, root, 1.0)
        search.closed = True
    except _HopelessError:
        _improve(search, rng, limits.time_s - search.seconds(), None)


def _improve(search: _Search, rng: np.random.Generator, seconds: float, steps: int | None) -> None:
    """Look for a better incumbent from the one that is known."""
    start = None if search.best is None else search.best.copy()
    search_assignment(
        search.model,
        rng,
        search.reporter.token,
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
            search.bound = root.value
            search.note()
            search.reporter.prove([*[0] * search.model.term, root.value])
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


def _outcome(search: _Search) -> Outcome:
    bounds: list[int | None] = [None] * len(search.problem.terms)
    proof = f"dual ascent on pairs of places, {search.visited} nodes of branch and bound"
    values = None
    status = Status.INFEASIBLE if search.closed else Status.UNKNOWN
    bound = search.value if search.closed else search.bound
    if search.placement is not None and search.value is not None:
        values = judge(search.problem, search.placement).scaled
        bound = None if bound is None else min(bound, search.value)
        status = Status.OPTIMAL if bound == search.value else Status.FEASIBLE
    if bound is not None:
        bounds[: search.model.term + 1] = [*[0] * search.model.term, bound]
        if status == Status.OPTIMAL:
            bounds = [bound if t == search.model.term else 0 for t in range(len(bounds))]
    return Outcome(
        status=status,
        placement=search.placement,
        values=values,
        bounds=tuple(bounds),
        proof=proof if bound is not None or search.closed else "",
        deterministic_work=float(search.visited),
        trace=tuple(search.trace),
        interrupted=search.interrupted,
    )


def _engine(params: DualAscentParams) -> Engine:
    return Engine(
        name="dual-ascent",
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lambda: f"numba {version('numba')}",
    )


DUAL_ASCENT = configurable(_engine, DUAL_ASCENT_DEFAULTS)
