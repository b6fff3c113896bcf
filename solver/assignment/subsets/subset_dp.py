"""Engine ``subset-dp``: dynamic programming over sets of tasks (docs/design.md, 8.8).

For few tasks and any two different nodes equally far apart. A node's content T then decides its
part of the cost alone: with distance d between nodes and d_k on node k,

    cost = d * (all flow) + sum over nodes of c_k(T_k),
    c_k(T) = linear costs of T on k - (d - d_k) * (flow inside T),

and with f_k(S) = the least cost of the tasks S on the first k nodes,

    f_k(S) = min over T in S that fit node k of f_{k-1}(S - T) + c_k(T).

Exact in 64-bit integers. The first and the last node are cheap (no choice of T is left), so the
two nodes with most fitting sets come first and last; nodes alike from some node on are filled in
the order of their lowest task. A tabu search finds an incumbent beforehand, and reduced
costs rule out the sets that nothing as good can have on a node (`subset_fixing`). For more tasks
than tables have room for, the sets that fit a node are listed where they are few, priced in the
same way, and those within the gap are searched (`prove_by_contents`).
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.assignment.model import Assignment, make_assignment, reason_against
from slotwise.solver.assignment.params import SUBSET_DP_DEFAULTS, SubsetDpParams
from slotwise.solver.assignment.subsets.content_search import ContentSearch, TooManySetsError
from slotwise.solver.assignment.subsets.contents import MOST_BITS, list_all, most_contents
from slotwise.solver.assignment.subsets.subset_fixing import fix_by_reduced_cost, price
from slotwise.solver.assignment.subsets.subset_tables import (
    NO_WAY,
    Tables,
    backtrack,
    distances_apart,
    fill,
    make_tables,
)
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome


def supports(problem: Problem, params: SubsetDpParams = SUBSET_DP_DEFAULTS) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    reason = reason_against(problem)
    if reason is not None:
        return reason
    model = make_assignment(problem)
    distances = distances_apart(model)
    if len(distances) > 1:
        return f"two different nodes are {len(distances)} distances apart, not one"
    if _has_tables(model, params):
        return None
    tasks, contents = model.task_count, most_contents(model)
    if tasks > MOST_BITS:
        return f"{tasks} tasks; sets of at most {MOST_BITS} are enumerated"
    if contents > params.max_contents:
        return f"{tasks} tasks; about {contents:.2g} sets of them fit the nodes"
    return None


def _has_tables(model: Assignment, params: SubsetDpParams) -> bool:
    """Return whether tables over all sets of tasks are small enough."""
    tasks = model.task_count
    return tasks <= params.max_tasks and model.node_count * 2**tasks * 8 <= params.max_bytes


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: SubsetDpParams = SUBSET_DP_DEFAULTS,
) -> Outcome:
    """Find an incumbent, fix by reduced costs, fill the tables node by node."""
    reason = supports(problem, params)
    if reason is not None:
        raise NotTakenError(reason)
    reporter = reporter or null_reporter(problem, "subset-dp")
    best = Incumbent(problem, reporter)
    if hint is not None:
        best.offer(hint)
    steps, proof = 0, ""
    try:
        model = make_assignment(problem)
        _search(model, best, limits, params)
        if best.seconds > limits.time_s:
            return best.outcome()
        if not _has_tables(model, params):
            return _by_contents(model, best, limits, params)
        tables = make_tables(model, reporter.token)
        if best.values is not None:
            _prove_by_fixing(tables, best, best.values[model.term])
            proof = "Lagrangian bound over all sets of tasks of a node"
            if best.is_settled:
                return best.outcome(proof)
        for done in fill(tables):
            steps += done
            reporter.token.check()
            if best.seconds > limits.time_s:
                return best.outcome(proof, float(steps))
    except CancelledError:
        best.interrupted = True
        return best.outcome(proof, float(steps))
    _prove_by_tables(tables, best)
    proof = f"dynamic programming over all sets of {problem.task_count} tasks"
    return best.outcome(proof, float(steps))


def _by_contents(
    model: Assignment, best: Incumbent, limits: Limits, params: SubsetDpParams
) -> Outcome:
    """Search among the contents of the nodes instead of tables over all sets."""
    token = best.reporter.token
    distances = distances_apart(model)
    apart = int(distances[0]) if len(distances) else 0
    until = token.child(best.started + limits.time_s)
    try:
        prove_by_contents(model, apart, best, params, until)
    except CancelledError:
        best.interrupted = token.is_cancelled
    except TooManySetsError:
        pass  # what is proven by then stands in `best`
    return best.outcome(PROOF if best.bounds or best.infeasible else "")


def _search(model: Assignment, best: Incumbent, limits: Limits, params: SubsetDpParams) -> None:
    """Offer what a short tabu search finds."""
    found = search_assignment(
        model,
        np.random.default_rng(limits.seed),
        best.reporter.token,
        seconds=limits.time_s * params.search_fraction,
        steps=params.steps_per_place * model.task_count * model.node_count,
        start=None if best.placement is None else np.array(best.placement.nodes),
    )
    if found is not None:
        best.offer_solution(model.placement(found))


def _prove_by_fixing(tables: Tables, best: Incumbent, value: int) -> None:
    """Narrow the tables to sets of placements as good, and bound the cost."""
    incumbent = value - tables.constant
    tables.chosen, bound = fix_by_reduced_cost(tables.chosen, tables.model.task_count, incumbent)
    best.prove(_terms(tables.model, best, max(0, min(bound + tables.constant, value))))


def _prove_by_tables(tables: Tables, best: Incumbent) -> None:
    """Take the optimum from the full tables, or that there is none."""
    cost = int(tables.levels[-1][tables.full])
    if cost >= NO_WAY:
        best.prove_infeasible()
        return
    best.offer_solution(tables.model.placement(backtrack(tables)))
    best.prove(_terms(tables.model, best, cost + tables.constant))
    if not best.is_settled:
        raise InternalError(f"the tables say {best.bounds}, the judge {best.values}")


def _engine(params: SubsetDpParams) -> Engine:
    return Engine(
        name="subset-dp",
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lambda: f"numba {version('numba')}",
        compiles=True,
    )


SUBSET_DP = configurable(_engine, SUBSET_DP_DEFAULTS)


PROOF = "contents of the nodes priced by Lagrangian duals, those within the gap searched"


def prove_by_contents(
    model: Assignment, apart: int, best: Incumbent, params: SubsetDpParams, token: RunToken
) -> None:
    """Prove `best` optimal, or find what is better; bounds are reported on the way.

    `apart` is the distance of any two different nodes.

    Raises
    ------
    TooManySetsError
        When the search grows too large; what is proven by then is reported.
    """
    constant = apart * int(model.flow.sum())
    known = None if best.values is None else best.values[model.term]
    contents = list_all(model, apart, token)
    target = model.largest_cost if known is None else known
    priced = price(contents, model.task_count, target - constant, token)
    gap = priced.gap
    if known is not None:
        best.prove(_terms(model, best, min(max(0, priced.least_cost + constant), known)))
        gap -= priced.scale * model.cost_step
    if gap >= 0:
        search = ContentSearch(priced, model.task_count, params.max_sets, token)
        for loss, nodes in search.widening(gap):
            if nodes is not None:
                _settle(model, best, nodes)
                return
            bound = -(-(priced.bound + loss + 1) // priced.scale) + constant
            if loss < gap:
                best.prove(_terms(model, best, max(0, bound)))
    if best.values is None:
        best.prove_infeasible()
    else:
        best.prove(best.values)


def _settle(model: Assignment, best: Incumbent, nodes: IntArray) -> None:
    """Take the placement of least loss, which is an optimum."""
    best.offer_solution(model.placement(nodes))
    best.prove(_terms(model, best, model.cost(nodes)))


def _terms(model: Assignment, best: Incumbent, cost: int) -> tuple[int, ...]:
    """Return the value of each term: 0, but for the cost."""
    return tuple(cost * (t == model.term) for t in range(len(best.problem.terms)))
