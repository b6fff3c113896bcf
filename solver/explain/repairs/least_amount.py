"""The least amount of a change that lets a placement exist, by binary search over exact steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change, apply_change
from slotwise.solver.explain.explanation import Feasibility
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.repairs.levers import Lever

MakeInstance = Callable[[int], Instance]
"""Makes the instance in which a lever is pulled a number of steps."""

OTHER_SHAPE = frozenset({kinds.ADD_NODES, kinds.LOWER_PARALLELISM, kinds.EVICT})
"""Changes whose amount decides how many tasks or nodes there are."""


@dataclass(frozen=True, slots=True)
class LeastChange:
    """A change that suffices: whether it is proven the least, and what it leads to."""

    change: Change
    is_least: bool
    instance: Instance
    placement: Placement


@dataclass(frozen=True, slots=True)
class Answer:
    """What a lever can do: `found`, or nothing; `is_decided` = the latter is proven."""

    found: LeastChange | None
    is_decided: bool


@dataclass(frozen=True, slots=True)
class Bracket:
    """What is known of a lever without a search.

    By counting `low` steps do not suffice; `start` are steps with a placement, ``None`` where first
    fit found none.
    """

    low: int
    start: tuple[int, Placement] | None


def instance_maker(instance: Instance, lever: Lever) -> MakeInstance:
    """Return what applies a number of steps of a lever to an instance."""
    return lambda steps: apply_change(instance, lever.change(steps))


def bracket(lever: Lever, decider: Decider, made: MakeInstance) -> Bracket:
    """Return what counting and first fit say of a lever."""
    low = _counted_out(lever, decider, made)
    start = None if low == lever.most else _quick_start(lever, low, decider, made)
    return Bracket(low, start)


def least_amount(
    instance: Instance,
    lever: Lever,
    decider: Decider,
    known: Bracket | None = None,
    *,
    made: MakeInstance | None = None,
) -> Answer:
    """Return the least change of `lever` that gives `instance` a placement; it has none.

    `made` makes the instance of a number of steps; ``None`` = the change is applied to `instance`.
    """
    if made is None:
        made = instance_maker(instance, lever)
    known = known or bracket(lever, decider, made)
    low, start = known.low, known.start
    if low == lever.most:
        return Answer(None, lever.is_exhaustive)
    if start is None:
        if decider.is_over:
            return Answer(None, False)
        decision = decider.decide(made(lever.most))
        if decision.placement is None:
            decided = decision.status is Feasibility.INFEASIBLE and lever.is_exhaustive
            return Answer(None, decided)
        start = lever.most, decision.placement
    high, placement = start
    high = _steps_of(lever, placement, high, made)
    is_least, turn = True, 0
    while high - low > 1:
        if decider.is_over:
            is_least = False
            break
        # Often counting is right, or the placement needs just the least amount: both are asked
        # before the middle, in turn. Where one was not decided, the next may be as hard.
        steps = (low + 1, high - 1, (low + high) // 2)[turn % 3 if is_least else 2]
        turn += 1
        decision = decider.decide(made(steps))
        if decision.placement is not None:
            placement = decision.placement
            high = _steps_of(lever, placement, steps, made)
        else:
            low = steps
            is_least &= decision.status is Feasibility.INFEASIBLE
    change = lever.change(high)
    return Answer(LeastChange(change, is_least, made(high), placement), is_least)


def _counted_out(lever: Lever, decider: Decider, made: MakeInstance) -> int:
    """Return the most steps of which counting alone proves that they do not suffice."""

    def is_short(steps: int) -> bool:
        if decider.is_over:
            return False
        decision = decider.quickly(made(steps))
        return decision.status is Feasibility.INFEASIBLE

    if not is_short(1):
        return 0
    if is_short(lever.most):
        return lever.most
    low, high = 1, lever.most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_short(middle) else (low, middle)
    return low


def _quick_start(
    lever: Lever, low: int, decider: Decider, made: MakeInstance
) -> tuple[int, Placement] | None:
    """Return steps above `low` with which first fit places all tasks, as few as it finds soon."""
    ahead = 1
    while low + ahead // 2 < lever.most and not decider.is_over:
        steps = min(low + ahead, lever.most)
        placement = decider.fitted(made(steps))
        if placement is not None:
            return _fewer_fitted(steps, placement, low + ahead // 2, decider, made)
        ahead *= 2
    return None


def _fewer_fitted(
    steps: int, placement: Placement, low: int, decider: Decider, made: MakeInstance
) -> tuple[int, Placement]:
    """Return as few steps as first fit suffices with, above `low` with which it did not."""
    while steps - low > 1 and not decider.is_over:
        middle = (low + steps) // 2
        found = decider.fitted(made(middle))
        if found is None:
            low = middle
        else:
            steps, placement = middle, found
    return steps, placement


def _steps_of(lever: Lever, placement: Placement, steps: int, made: MakeInstance) -> int:
    """Return the fewest steps with which `placement` is valid; it is with `steps`."""
    if lever.base.kind in OTHER_SHAPE:
        return steps
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        if judge(made(middle), placement).valid:
            high = middle
        else:
            low = middle
    return high
