"""Engine ``dual-ascent``: branch and bound for general flows, bounds by dual ascent (level-1 RLT).

For problems where every task differs: quadratic assignment with capacities. A tabu search finds
the incumbent (`tabu`), dual ascent a bound (`rlt_bound`), and best-first search over the tasks
(`tree_search`) closes the gap where it can. Where too little of the tree gets done, the rest of the
time goes into a better incumbent. All numbers are whole, so every bound is exact.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.model import make_assignment, reason_against
from slotwise.solver.assignment.params import DUAL_ASCENT_DEFAULTS, DualAscentParams
from slotwise.solver.assignment.rlt_bound import make_state, state_bytes
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.assignment.tree_search import HopelessError, OutOfTimeError, TreeSearch
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
    search = TreeSearch(make_assignment(problem), limits, best, params)
    if hint is not None:
        best.offer(hint)
    try:
        _solve(search)
    except OutOfTimeError:
        pass
    except CancelledError:
        best.interrupted = True
    if search.value is not None and search.value == search.bound:
        search.close()
    proof = f"dual ascent on pairs of places, {search.visited} nodes of branch and bound"
    return best.outcome(proof if best.bounds or best.infeasible else "", float(search.visited))


def _solve(search: TreeSearch) -> None:
    model, limits, params = search.model, search.limits, search.params
    rng = np.random.default_rng(limits.seed)
    places = model.task_count * model.node_count
    _improve(search, rng, limits.time_s * params.search_fraction, params.steps_per_place * places)
    search.check_clock()
    search.best.reporter.token.check_room(
        state_bytes(model), f"costs of all pairs of {places:,} places"
    )
    root = make_state(model, model.largest_cost)
    search.tighten(root)
    try:
        if not root.is_closed:
            deep = model.task_count > params.max_depth or root.bytes_down > params.max_tree_bytes
            room = search.best.reporter.token.has_room
            if deep or not room(root.bytes_down, "the costs kept on the way down the tree"):
                raise HopelessError
            search.branch(root)
        search.close()
    except HopelessError:
        _improve(search, rng, limits.time_s - search.best.seconds, None)


def _improve(
    search: TreeSearch, rng: np.random.Generator, seconds: float, steps: int | None
) -> None:
    """Look for a better incumbent from the one that is known."""
    incumbent = search.best.placement
    start = None if incumbent is None else np.array(incumbent.nodes, dtype=np.int64)
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


def _engine(params: DualAscentParams) -> Engine:
    return Engine(
        name="dual-ascent",
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lambda: f"numba {version('numba')}",
        compiles=True,
    )


DUAL_ASCENT = configurable(_engine, DUAL_ASCENT_DEFAULTS)
