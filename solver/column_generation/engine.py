"""Engine ``configurations``: column generation over whole node configurations, whatever the rules.

Two ways. The fast one (package `configurations`) tables and prices configurations whose workers
concern the network alone. Where it does not apply, or leaves a term open with time left, the
general one (package `columns`) enumerates every configuration of a node with all that is decided
there, and solves a restricted integer program with CP-SAT for what ties nodes together: rejected
topologies, limits of moves, racks, earlier terms.

Not taken: distances by matrix, for then no two nodes are alike. Where a node has more
configurations than can be listed, the answer is the best heuristic's with simple bounds, and says
so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib.metadata import version

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE, best_of_heuristics
from slotwise.solver.column_generation.columns.enumeration import PARTS, RULES
from slotwise.solver.column_generation.columns.model import make_column_model
from slotwise.solver.column_generation.columns.search import TABLES, search_columns, usable_contents
from slotwise.solver.column_generation.configurations import engine as fast
from slotwise.solver.column_generation.configurations.engine import KIND
from slotwise.solver.column_generation.params import (
    COLUMNS_DEFAULTS,
    CONFIGURATIONS_DEFAULTS,
    ColumnsParams,
    ConfigurationsParams,
)
from slotwise.solver.column_generation.restricted_master import lp_solver
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome

QUICK_METHODS = ("r-storm", "r-storm-pseudocode", "ras-default")
PROOFS = {
    KIND: "node configurations priced exactly, gap closed by CP-SAT over those a better solution "
    "can use",
    TABLES: "exact tables over the node configurations that earlier terms leave",
}
"""By the kind of the bounds."""


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: ConfigurationsParams = CONFIGURATIONS_DEFAULTS,
) -> Outcome:
    """Solve the terms in order until one is not proven within the limits.

    Where a node has too many configurations there is what heuristics and simple bounds tell.
    """
    if not problem.task_count:
        return BASELINE.run(problem, limits, hint)
    reporter = reporter or null_reporter(problem, "configurations")
    started = reporter.token.now()
    outcome = _fast(problem, limits, hint, reporter, params)
    left = limits.time_s - (reporter.token.now() - started)
    if outcome.interrupted or outcome.status.settled or left <= 0:
        return outcome
    try:
        return by_columns(problem, replace(limits, time_s=left), outcome, reporter, params.columns)
    except NotTakenError as error:
        return replace(outcome, proof=f"{outcome.proof}; no more, for {error}")


def run_columns(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: ColumnsParams = COLUMNS_DEFAULTS,
) -> Outcome:
    """Run the general way alone, from the hint.

    Raises
    ------
    NotTakenError
        When a node has too many configurations.
    """
    reporter = reporter or null_reporter(problem, "configurations")
    start = Incumbent(problem, reporter)
    if hint is not None:
        start.offer(hint)
    start.resume()
    return by_columns(problem, limits, start.outcome(), reporter, params)


def _fast(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter,
    params: ConfigurationsParams,
) -> Outcome:
    """Return what the fast way finds; where it gives up, heuristics and simple bounds."""
    if fast.supports(problem) is None:
        try:
            return fast.run(problem, limits, hint, reporter, params)
        except NotTakenError:
            pass  # the general way gives the reason if it is too large for that, too
    return best_of_heuristics(problem, limits.seed, hint, QUICK_METHODS, reporter=reporter)


def by_columns(
    problem: Problem,
    limits: Limits,
    start: Outcome,
    reporter: Reporter,
    params: ColumnsParams = COLUMNS_DEFAULTS,
) -> Outcome:
    """Continue from the first term that `start` does not prove.

    Raises
    ------
    NotTakenError
        When a node has too many configurations.
    """
    deadline = reporter.token.now() + limits.time_s
    best = Incumbent.from_outcome(problem, start, reporter)
    before = best.bounds
    try:
        usable = usable_contents(problem, best.optima, deadline, reporter.token, params)
        model = make_column_model(problem, deadline, reporter.token, params, usable)
        left = max(deadline - reporter.token.now(), 0.0)
        search_columns(model, best, replace(limits, time_s=left), params, reporter.token)
    except CancelledError:
        best.interrupted = True
    proofs = (start.proof, PROOFS[best.kind or KIND] if best.bounds != before else "")
    return best.outcome("; ".join(filter(None, proofs)))


@declares(RULES, PARTS)
def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if problem.matrix is not None:
        return "distances come as a matrix, so no two nodes are alike"
    return None


def _engine(params: ConfigurationsParams) -> Engine:
    return Engine(
        name="configurations",
        run=partial(run, params=params),
        supports=supports,
        version=lambda: f"{lp_solver()}, ortools {version('ortools')}",
    )


def _columns(params: ConfigurationsParams) -> Engine:
    return replace(_engine(params), run=partial(run_columns, params=params.columns))


CONFIGURATIONS = configurable(_engine, CONFIGURATIONS_DEFAULTS)
COLUMNS = configurable(_columns, CONFIGURATIONS_DEFAULTS)
"""The general way alone."""
