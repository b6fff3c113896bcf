"""Engine ``dual-ascent``: branch and bound for general flows, bounds by dual ascent (level-1 RLT).

For problems where every task differs: quadratic assignment with capacities. A tabu search finds
the incumbent (`tabu`), dual ascent a bound (`rlt_kernels`), and depth-first search
over the tasks closes the gap where it can. Where too little of the tree gets done, the rest of the
time goes into a better incumbent. All numbers are whole, so every bound is exact.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from importlib.metadata import version

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.assignment.model import Assignment, make_assignment, reason_against
from slotwise.solver.assignment.rlt_bound import StarState, make_state, state_bytes
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.core.ctrl_c import check_stop
from slotwise.solver.core.engine import Engine, NotTakenError
from slotwise.solver.core.memory import check_room, has_room
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Improvement, Limits, Outcome, Status

MOST_PAIRS = 4 * 10**6
"""Entries of the costs of pairs of places, 8 bytes each, a few times over in the search."""
MOST_DEPTH, MOST_TREE_BYTES = 200, 2**30
"""Tasks, and bytes of the costs kept on the way down, up to which the search branches."""
SHARE_OF_SEARCH = 0.25
"""Of the time limit, for the first search of an incumbent."""
SHARE_TO_HOPE, LEAST_PROGRESS, FEW_TASKS = 0.25, 0.02, 16
"""After this share of the time in the tree, this share of it must be done, or tasks be few."""
STEPS_A_PLACE = 500
"""Steps of the first search per task and node: the rest only where the proof takes long."""
ROOT_ROUNDS, ROOT_WORK, ROOT_GAIN = 20, 2 * 10**8, 0.002
"""Rounds and steps between two looks at the clock; share of what is missing to gain, to go on."""
NODE_ROUNDS, NODE_GAIN = 6, 0.03


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    reason = reason_against(problem)
    if reason is None and (problem.task_count * problem.node_count) ** 2 > MOST_PAIRS:
        return (
            f"{problem.task_count} tasks on {problem.node_count} nodes make more than "
            f"{MOST_PAIRS:,} pairs of places"
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
        check_stop()
        if self.seconds() > self.limits.time_s:
            raise _OutOfTimeError
        in_tree = self.seconds() - self.tree_since
        if self.model.task_count <= FEW_TASKS or self.progress >= LEAST_PROGRESS:
            return
        if in_tree > SHARE_TO_HOPE * self.limits.time_s:
            raise _HopelessError


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Search an incumbent, bound it, then branch."""
    reason = supports(problem)
    if reason is not None:
        raise NotTakenError(reason)
    reporter = reporter or null_reporter(problem, "dual-ascent")
    search = _Search(problem, make_assignment(problem), limits, reporter, time.perf_counter())
    if hint is not None:
        search.offer_hint(hint)
    try:
        _solve(search)
    except _OutOfTimeError:
        pass
    except KeyboardInterrupt:
        search.interrupted = True
    return _outcome(search)


def _solve(search: _Search) -> None:
    model, limits = search.model, search.limits
    rng = np.random.default_rng(limits.seed)
    places = model.task_count * model.node_count
    _improve(search, rng, limits.time_s * SHARE_OF_SEARCH, STEPS_A_PLACE * places)
    search.check_clock()
    check_room(state_bytes(model), f"costs of all pairs of {places:,} places")
    root = make_state(model, _largest_cost(model))
    _tighten_root(search, root)
    try:
        if not root.is_closed:
            deep = max(model.task_count / MOST_DEPTH, root.bytes_down / MOST_TREE_BYTES) > 1
            if deep or not has_room(root.bytes_down, "the costs kept on the way down the tree"):
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
    rounds = min(ROOT_ROUNDS, max(1, ROOT_WORK // (root.star.size * search.model.node_count)))
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
        if root.bound - before < ROOT_GAIN * (root.limit - root.bound):
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
    child.ascend(NODE_ROUNDS, NODE_GAIN)
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


DUAL_ASCENT = Engine(
    name="dual-ascent",
    run=run,
    supports=supports,
    version=lambda: f"numba {version('numba')}",
)
