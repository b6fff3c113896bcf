"""Why an instance has no placement: `explain_infeasible`."""

from __future__ import annotations

from slotwise.models.infeasibility.contradictions import (
    Contradiction,
    MustMove,
    ResourceShort,
    TooFewBins,
    TooFewPlaces,
    TooFewSlots,
)
from slotwise.models.infeasibility.statement import Statement, stated
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import time_limit, whole
from slotwise.solver.contradictions import contradictions
from slotwise.solver.explain.cause import find_cause, members_of
from slotwise.solver.explain.conflict import Core, CoreSearch
from slotwise.solver.explain.constraint import Constraint
from slotwise.solver.explain.explanation import Conflict, Explanation, Feasibility
from slotwise.solver.explain.feasibility import Decider, question
from slotwise.solver.explain.prices import RepairPrices
from slotwise.solver.explain.repairs import find_repairs

DEFAULT_PRICES = RepairPrices()

MOST_CONFLICTS = 3
"""Most conflicts to find; each shares no limit with those before it."""

FOR_CONFLICTS = 0.5
"""Most of the time left then that conflicts may take; the rest is for repairs."""


def explain_infeasible(
    instance: Instance,
    *,
    time_limit_s: float = 30.0,
    prices: RepairPrices = DEFAULT_PRICES,
    seed: int = 0,
    workers: int = 1,
) -> Explanation:
    """Return why `instance` has no placement, and the cheapest repairs.

    Parameters
    ----------
    instance
        The instance to explain. If it has a placement after all, the answer has the placement.
    time_limit_s
        Wall-clock seconds in all, above 0; what is found and proven by then is returned.
    prices
        Prices of the changes that make up repairs.
    seed, workers
        As in `solve`.

    Raises
    ------
    InputError
        For an argument out of range.
    """
    seconds = time_limit(time_limit_s, "time_limit_s")
    whole(workers, "workers", least=1)
    decider = Decider(seconds, seed=whole(seed, "seed"), workers=workers)
    decision = decider.decide(instance, fraction=1.0)  # else there is nothing to explain
    if decision.status is not Feasibility.INFEASIBLE:
        return Explanation(
            decision.status, decision.placement, seconds=decider.spent_s, solves=decider.solves
        )
    short = _whole(instance)
    cores = _cores(instance, decider.until(FOR_CONFLICTS))
    conflicts = tuple(_conflict(core, decider) for core in cores)
    repairs = find_repairs(instance, [core.constraints for core in cores], prices, decider)
    return Explanation(
        Feasibility.INFEASIBLE,
        conflicts=conflicts,
        repairs=repairs.repairs,
        complete=repairs.is_complete,
        cheapest_proven=repairs.is_cheapest_proven,
        notes=repairs.notes,
        seconds=decider.spent_s,
        solves=decider.solves,
        contradictions=short,
    )


def _whole(instance: Instance) -> tuple[Statement, ...]:
    """Return the shortages in total; if there are none, the simplest other contradiction."""
    problem = compile_problem(question(instance))
    shown: list[Contradiction] = []
    for contradiction in contradictions(problem):
        if shown and isinstance(contradiction, TooFewPlaces | TooFewBins | MustMove):
            break  # these come last, and take longest to find
        shown.append(contradiction)
    totals = [one for one in shown if isinstance(one, ResourceShort | TooFewSlots)]
    return tuple(stated(problem, one) for one in totals or shown[:1])


def _cores(instance: Instance, decider: Decider) -> list[Core]:
    """Return the cores found that share no limit; at least one, which may be large."""
    search = CoreSearch(instance, decider, is_infeasible=True)
    cores: list[Core] = []
    used: list[Constraint] = []
    while len(cores) < MOST_CONFLICTS and (core := search.find(used)) is not None:
        cores.append(core)
        used += [one for one in core.constraints if one.is_limit]
    return cores


def _conflict(core: Core, decider: Decider) -> Conflict:
    finding = find_cause(core, decider)
    return Conflict(members_of(core, finding), core.is_minimal, finding.cause, finding.summary)
