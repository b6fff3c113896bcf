"""Engine ``few-moves``: exact tables of what few moves can change."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.few_moves.cluster import FewMoves
from slotwise.solver.few_moves.params import FEW_MOVES_DEFAULTS, FewMovesParams
from slotwise.solver.structure.worker_layout import home_labels

NAME = "few-moves"
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
    }
)
"""Rules that the tables keep."""
PARTS = frozenset(("overload", "network", "nodes", "workers", "moved", "linear"))
"""Parts of the objective that the tables count."""
KIND = "exact tables of few moves"
"""What the bounds are."""
PROOF = "what few moves can change of each worker, node and rack, merged in exact tables"


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: FewMovesParams = FEW_MOVES_DEFAULTS,
) -> Outcome:
    """Find the optimum under the limit of moves.

    Raises
    ------
    NotTakenError
        Where the moves can be made in too many ways.
    """
    reporter = reporter or null_reporter(problem, NAME)
    best = Incumbent(problem, reporter, KIND)
    if hint is not None:
        best.offer(hint)
    token = reporter.token.child(best.started + limits.time_s)
    try:
        found = FewMoves(problem, problem.move_limit, params, token).best(problem.move_limit)
    except CancelledError:
        best.interrupted = reporter.token.is_cancelled
        return best.outcome()
    if found is None:
        best.prove_infeasible()
    else:
        best.offer_solution(found)
        assert best.values is not None, "a solution was offered"
        best.prove(best.values)
    return best.outcome(PROOF)


@declares(RULES, PARTS)
def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if problem.move_limit == NO_LIMIT:
        return "moves have no limit"
    if problem.matrix is not None:
        return "distances come as a matrix"
    if problem.may_reject:
        return "topologies may be left out"
    if any(one.home is None for one in problem.classes):
        return "not every task runs now"
    labels = [
        (node, label)
        for t in range(len(problem.rules))
        for node, found in home_labels(problem, t).items()
        for label in found
    ]
    if len(labels) != len(set(labels)):
        return "tasks of two topologies run in one worker"
    return None


def _engine(params: FewMovesParams) -> Engine:
    return Engine(
        name=NAME,
        run=partial(run, params=params),
        supports=supports,
        version=lambda: version("slotwise"),
    )


FEW_MOVES = configurable(_engine, FEW_MOVES_DEFAULTS)
