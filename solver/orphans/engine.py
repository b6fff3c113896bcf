"""Engine ``orphans``: the best placement where nothing that runs may move.

Running tasks are fixed: the room they take and their share of the costs are constants. Where they
break a hard rule there is no placement, because adding a task never repairs a rule. What remains is
to place the orphans; CP-SAT minimises the terms one after the other.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.cp_sat.builder import Count, CpBuilder, variable
from slotwise.solver.compact.cp_sat.run import noise_of, proven_bound, run_cp_sat, whole_bound
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.orphans.first_placement import current_placement
from slotwise.solver.orphans.model import OrphansModel

NAME = "orphans"
KIND = "orphans among fixed tasks"
"""What the bounds are."""
RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
        "matrix",
    }
)
"""Rules that `model` states."""
PARTS = frozenset(("overload", "network", "rejected", "nodes", "workers", "moved", "linear"))
"""Parts of the objective that `model` counts."""
LINEARIZATION = 2
"""All of the model in CP-SAT's linear relaxation: a hundred times as fast as its default here."""
PROOF = "running tasks are fixed; CP-SAT search over the places of the orphans"


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Solve the terms in order until one is not proven within the limits.

    Raises
    ------
    NotTakenError
        When the model would be too large, or needs distances between orphans by matrix.
    """
    reporter = reporter or null_reporter(problem, NAME)
    best = Incumbent(problem, reporter, KIND)
    if hint is not None:
        best.offer(hint)
    best.resume()
    token = reporter.token.child(best.started + limits.time_s)
    try:
        current = current_placement(problem, token)
        if current.conflicting:
            best.prove_infeasible()
            return best.outcome(PROOF)
        if not current.orphans and not problem.may_reject:
            return _nothing_to_decide(best, current.partial.placement())
        best.by_solver = True
        builder = CpBuilder(cp_model.CpModel(), token)
        model = OrphansModel(problem, current.partial, current.orphans, builder)
        _solve(best, model, builder.model, limits)
    except CancelledError:
        best.interrupted = reporter.token.is_cancelled
    return best.outcome(PROOF)


def _nothing_to_decide(best: Incumbent, placement: Placement) -> Outcome:
    """Return the current placement, which is the only one."""
    best.offer_solution(placement)
    assert best.values is not None, "a solution was offered"
    best.prove(best.values)
    return best.outcome(PROOF)


def _solve(best: Incumbent, stated: OrphansModel, model: cp_model.CpModel, limits: Limits) -> None:
    """Minimise the terms, each with those before it at their proven optimum."""
    for term, optimum in zip(stated.terms, best.optima, strict=False):
        model.add(term <= optimum)
    for index in range(best.proven_before, len(stated.terms)):
        term = stated.terms[index]
        status = _minimise(best, stated, model, limits, term)
        if status == cp_model.INFEASIBLE:
            if index or best.placement is not None:
                raise InternalError(f"term {index} became infeasible after a valid placement")
            best.prove_infeasible()
        if len(best.optima) <= index or best.interrupted:
            return
        model.add(term <= best.optima[index])


def _minimise(
    best: Incumbent, stated: OrphansModel, model: cp_model.CpModel, limits: Limits, term: Count
) -> cp_model.CpSolverStatus:
    left = limits.time_s - best.seconds
    if left <= 0:
        return cp_model.UNKNOWN
    model.clear_hints()  # type: ignore[no-untyped-call]
    if best.placement is not None:
        for count, value in stated.hints(best.placement):
            model.add_hint(variable(count), value)
    model.minimize(term)
    noise, earlier = noise_of(model), best.optima
    answer = run_cp_sat(
        model,
        replace(limits, time_s=left),
        best.reporter.token,
        on_bound=lambda double: best.prove([*earlier, whole_bound(double, noise)]),
        linearization=LINEARIZATION,
    )
    best.interrupted |= answer.interrupted
    if answer.has_solution:
        best.offer_solution(stated.placement(answer.solver.value))
    if answer.status != cp_model.INFEASIBLE:
        best.prove([*earlier, proven_bound(model, answer.solver, answer.status)])
    return answer.status


@declares(RULES, PARTS)
def _supports(problem: Problem) -> str | None:
    if problem.move_limit:
        return "running tasks may move"
    if all(one.home is None for one in problem.classes):
        return "nothing runs"
    return None


ORPHANS = Engine(
    name=NAME,
    run=run,
    supports=_supports,
    version=lambda: f"ortools {version('ortools')}",
)
