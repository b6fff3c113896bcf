"""The cheapest set of topologies to evict so that the others have a placement."""

from __future__ import annotations

from slotwise.models.instance.instance import Instance
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.repairs.application import applied
from slotwise.solver.explain.repairs.least_amount import Found


def best_eviction(instance: Instance, decider: Decider) -> tuple[Found | None, bool]:
    """Return the eviction of the least total weight, and whether it is proven that there is none.

    Not where one topology alone has tasks, and not where moves are limited: a topology left out
    then counts as moved by the objective, but not once it is evicted.
    """
    with_tasks = sum(any(c.parallelism for c in t.placed_components) for t in instance.topologies)
    if with_tasks < 2 or instance.objective.limits:
        return None, True
    left_out, is_best = decider.least_rejected(instance)
    if not left_out or len(left_out) == with_tasks:
        return None, is_best
    change = Change(kinds.EVICT, topologies=left_out)
    after = applied(instance, change)
    decision = decider.decide(after)
    if decision.placement is None:
        return None, False
    return Found(change, is_best, after, decision.placement), is_best
