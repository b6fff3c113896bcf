"""The least amount of a change that lets a placement exist, by binary search over exact steps."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change
from slotwise.solver.explain.explanation import Feasibility
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.repairs.application import applied
from slotwise.solver.explain.repairs.levers import Lever

OTHER_SHAPE = frozenset({kinds.ADD_NODES, kinds.LOWER_PARALLELISM, kinds.EVICT})
"""Changes whose amount decides how many tasks or nodes there are."""


@dataclass(frozen=True, slots=True)
class Found:
    """A change that suffices: whether it is proven the least, and what it leads to."""

    change: Change
    is_least: bool
    instance: Instance
    placement: Placement


@dataclass(frozen=True, slots=True)
class Answer:
    """What a lever can do: `found`, or nothing; `is_decided` = the latter is proven."""

    found: Found | None
    is_decided: bool


def least_amount(instance: Instance, lever: Lever, decider: Decider) -> Answer:
    """Return the least change of `lever` that gives `instance` a placement; it has none."""
    full = applied(instance, lever.change(lever.most))
    decision = decider.decide(full)
    if decision.placement is None:
        decided = decision.status is Feasibility.INFEASIBLE and lever.is_exhaustive
        return Answer(None, decided)
    placement = decision.placement
    low, is_least, halve = 0, True, False  # `low` steps do not suffice
    high = _steps_of(instance, lever, placement, lever.most)
    while high - low > 1:
        # A placement often needs just the least amount: one step less is asked first, and in turn.
        steps = (low + high) // 2 if halve else high - 1
        halve = not halve
        decision = decider.decide(applied(instance, lever.change(steps)))
        if decision.placement is not None:
            placement = decision.placement
            high = _steps_of(instance, lever, placement, steps)
        else:
            low = steps
            is_least &= decision.status is Feasibility.INFEASIBLE
    change = lever.change(high)
    return Answer(Found(change, is_least, applied(instance, change), placement), is_least)


def _steps_of(instance: Instance, lever: Lever, placement: Placement, steps: int) -> int:
    """Return the fewest steps with which `placement` is valid; it is with `steps`."""
    if lever.base.kind in OTHER_SHAPE:
        return steps
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        if judge(applied(instance, lever.change(middle)), placement).valid:
            high = middle
        else:
            low = middle
    return high
