"""The cheapest repairs of an instance without a placement, each verified by the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change, apply_change
from slotwise.solver.explain.constraint import Constraint, constraints_of
from slotwise.solver.explain.elastic import Answer, ElasticModel
from slotwise.solver.explain.explanation import Feasibility, Repair
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.levers import Lever, base_of, levers
from slotwise.solver.explain.prices import RepairPrices, price_of

MOST_COMBINATIONS = 3
"""Most combinations to find where no single change helps, or keeps all tasks."""

FOR_SINGLES = 0.5
"""Most of the time for repairs that single changes may take before combinations are tried."""

MANY_TASKS = 50
"""Tasks from which on each single change is tried by quick placements before any search."""

FOR_QUICK = 0.5
"""Most of the time for single changes that these may take."""

FOR_COMBINATIONS = 0.5
"""Most of the time left for the cheapest combinations, and then for those that keep all tasks."""

WIDE = frozenset({kinds.ADD_NODES, kinds.RAISE_SLOTS})
"""Changes whose amounts make the model large: few are tried before more."""

LOSES_TASKS = frozenset({kinds.EVICT, kinds.LOWER_PARALLELISM})
"""Changes after which fewer tasks run."""


@dataclass(frozen=True, slots=True)
class Repairs:
    """Repairs, cheapest first.

    Parameters
    ----------
    repairs
        All different.
    is_complete
        Whether every repair that was considered was decided, and all amounts are proven minimal.
    is_cheapest_proven
        Whether no combination of changes, whatever their number, costs less than the first one;
        without any: whether none helps.
    notes
        What was declined and why, in lines of text.
    """

    repairs: tuple[Repair, ...]
    is_complete: bool
    is_cheapest_proven: bool
    notes: tuple[str, ...]


def find_repairs(
    instance: Instance,
    conflicts: Sequence[Sequence[Constraint]],
    prices: RepairPrices,
    decider: Decider,
) -> Repairs:
    """Return single changes that help, each with its least amount, and cheaper combinations.

    Combinations that keep all tasks are listed, too, where no single change does.

    `conflicts`, one or more, are sets of constraints that cannot hold together; a single change
    must touch each of them.
    """
    search = _Search(instance, prices, decider)
    first, *others = ([*levers(instance, members)] for members in conflicts)
    touching = [{lever.base for lever in group} for group in others]
    search.try_singles([one for one in first if all(one.base in bases for bases in touching)])
    search.try_combinations()
    search.try_undecided()
    ordered = sorted(search.repairs.values(), key=lambda one: (one.price, len(one.text), one.text))
    return Repairs(
        tuple(ordered),
        search.is_complete
        and search.is_cheapest_proven
        and not search.undecided
        and all(repair.least for repair in ordered),
        search.is_cheapest_proven,
        tuple(search.notes),
    )


class _Search:
    """The repairs so far, by the levers that they use."""

    def __init__(self, instance: Instance, prices: RepairPrices, decider: Decider) -> None:
        self.repairs: dict[frozenset[Change], Repair] = {}
        self.undecided: list[Lever] = []
        self.is_complete = True  # but for those that are undecided
        self.is_cheapest_proven = False
        self.notes: dict[str, None] = {}  # in their order, none twice
        self._instance = instance
        self._prices = prices
        self._decider = decider

    def try_singles(self, choices: Sequence[Lever]) -> None:
        """Try each lever alone, in equal shares of a part of the time."""
        part = self._decider.until(FOR_SINGLES)
        choices = sorted(choices, key=self._first_price)
        if len(self._instance.task_names()) > MANY_TASKS:  # searches may take long: repairs first
            quick = part.until(FOR_QUICK)
            for lever in choices:
                _, repair = self._quick(lever, quick)
                if repair is not None:
                    self._add(repair)
        for tried, lever in enumerate(choices):
            self._try_single(lever, part.until(1 / (len(choices) - tried), step_fraction=1.0))

    def try_undecided(self) -> None:
        """Try the undecided levers again in the remaining time, by bisection."""
        before = len(self.undecided) + 1
        while self.undecided and len(self.undecided) < before:
            again, self.undecided = self.undecided, []
            before = len(again)
            for tried, lever in enumerate(again):
                share = self._decider.until(1 / (len(again) - tried), step_fraction=1.0)
                self._record(lever, self._bisected(lever, share))

    def try_combinations(self) -> None:
        """Find the cheapest combination; others where no single change helps or keeps all tasks."""
        # To change several nodes together costs as much as to change each of them.
        every = levers(self._instance, constraints_of(self._instance), each_node=True)
        every = [lever for lever in every if len(lever.base.nodes) < 2]
        below = min((repair.price for repair in self.repairs.values()), default=None)
        most = MOST_COMBINATIONS if below is None else 1
        self.is_cheapest_proven = self._try_combinations(every, below, most)
        if all(_loses_tasks(repair) for repair in self.repairs.values()):
            keeping = [lever for lever in every if lever.base.kind not in LOSES_TASKS]
            self.is_complete &= self._try_combinations(keeping, None, MOST_COMBINATIONS)
        if all(kinds.EVICT not in {c.kind for c in r.changes} for r in self.repairs.values()):
            evictions = [lever for lever in every if lever.base.kind == kinds.EVICT]
            self.is_complete &= self._try_combinations(evictions, None, 1)

    def _try_single(self, lever: Lever, decider: Decider) -> None:
        """Find the least amount of a lever; few steps first where they make the model large."""
        most = 1 if lever.base.kind in WIDE else lever.most
        while True:
            answer = self._least_amount(replace(lever, most=most), decider)
            if answer.repair is not None or not answer.is_proven or most == lever.most:
                break
            most = min(2 * most, lever.most)
        self._record(lever, answer)

    def _record(self, lever: Lever, answer: Answer) -> None:
        if answer.repair is not None:
            self._add(answer.repair)
        if not answer.is_proven or (answer.repair is None and not lever.is_exhaustive):
            self.undecided.append(lever)

    def _least_amount(self, lever: Lever, decider: Decider) -> Answer:
        """Return the least amount of a lever, by bisection where the model declines it."""
        try:
            with decider.searching() as (limits, token):
                return ElasticModel(self._instance, [lever], self._price, token).cheapest(limits)
        except CancelledError:
            return Answer(None, False)
        except NotTakenError:
            return self._bisected(lever, decider)

    def _quick(self, lever: Lever, decider: Decider) -> tuple[int, Repair | None]:
        """Return steps that counting rules out, and a repair with a quick placement, if any."""
        low, steps = 0, 1
        while steps <= lever.most and not decider.is_over:
            decision = decider.quickly(apply_change(self._instance, lever.change(steps)))
            if decision.placement is not None:
                return low, self._repair(lever.change(steps), decision.placement)
            low = steps if decision.status is Feasibility.INFEASIBLE else low
            steps *= 2
        return low, None

    def _repair(self, change: Change, placement: Placement) -> Repair:
        changed = apply_change(self._instance, change)
        return Repair((change,), self._price(change), False, changed, placement)

    def _bisected(self, lever: Lever, decider: Decider) -> Answer:
        """Return the least amount of a lever by bisection, starting from earlier results."""
        low, repair, is_proven = 0, self.repairs.get(frozenset((lever.base,))), True
        if repair is None:
            low, repair = self._quick(lever, decider)
        high, steps = lever.most + 1, lever.most
        if repair is not None:
            high = int(repair.changes[0].amount / lever.step)
            steps = high - 1
        while high - low > 1:
            change = lever.change(steps)
            decision = decider.decide(apply_change(self._instance, change))
            if decision.placement is None:
                low = steps
                is_proven &= decision.status is Feasibility.INFEASIBLE
            else:
                high, repair = steps, self._repair(change, decision.placement)
            steps = (low + high) // 2
        return Answer(repair and replace(repair, least=is_proven), is_proven)

    def _try_combinations(
        self, choices: Sequence[Lever], below: Fraction | None, most: int
    ) -> bool:
        """Find the cheapest combinations below a price, none with all the levers of another.

        Returns whether it is proven of the first that none is cheaper.
        """
        if below is not None:
            choices = [
                replace(lever, most=steps, is_exhaustive=lever.is_exhaustive or steps < lever.most)
                for lever in choices
                if (steps := self._affordable(lever, below))
            ]
        if not choices:
            return True
        is_proven = False
        try:
            with self._decider.until(FOR_COMBINATIONS).searching() as (limits, token):
                model = ElasticModel(self._instance, choices, self._price, token)
                for number in range(most):
                    answer = model.cheapest(replace(limits, time_s=token.remaining), below)
                    is_proven = answer.is_proven if number == 0 else is_proven
                    if answer.repair is None:
                        break
                    self._add(answer.repair)
                    model.forbid_last()
        except CancelledError:
            pass
        except NotTakenError as error:
            self.notes[f"Combinations of changes were not tried: {error}."] = None
        return is_proven and all(lever.is_exhaustive for lever in choices)

    def _affordable(self, lever: Lever, below: Fraction) -> int:
        """Return the most steps that cost less than a price."""
        low, high = 0, lever.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._price(lever.change(middle)) < below:
                low = middle
            else:
                high = middle
        return low

    def _price(self, change: Change) -> Fraction:
        return Fraction(price_of(change, self._instance, self._prices))

    def _first_price(self, lever: Lever) -> Fraction:
        return self._price(lever.change(1))

    def _add(self, repair: Repair) -> None:
        """Add a repair; it replaces a worse one with the same levers."""
        key = frozenset(base_of(change) for change in repair.changes)
        before = self.repairs.get(key, repair)
        if (repair.price, not repair.least) <= (before.price, not before.least):
            self.repairs[key] = repair


def _loses_tasks(repair: Repair) -> bool:
    return any(change.kind in LOSES_TASKS for change in repair.changes)
