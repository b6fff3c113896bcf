"""The engine ``counting``: proves that there is no placement where a contradiction is at hand."""

from __future__ import annotations

from importlib.metadata import version

from slotwise.models.infeasibility.statement import stated
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.contradictions.find import find_contradiction
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Return that `problem` is infeasible, with its contradiction; else that nothing is known."""
    found = find_contradiction(problem, None if reporter is None else reporter.token)
    bounds = (None,) * len(problem.terms)
    if found is None:
        return Outcome(Status.UNKNOWN, None, None, bounds, "")
    return Outcome(
        Status.INFEASIBLE,
        None,
        None,
        bounds,
        stated(problem, found).text,
        contradiction=found,
    )


COUNTING = Engine(
    name="counting",
    run=run,
    supports=lambda problem: "topologies may be left out" if problem.may_reject else None,
    version=lambda: f"slotwise {version('slotwise')}",
)
