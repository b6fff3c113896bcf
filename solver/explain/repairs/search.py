"""The cheapest repairs of an instance without a placement, each verified by solving its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from slotwise.models.instance.instance import Instance
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change, apply_change
from slotwise.solver.explain.conflicts.core import CoreSearch
from slotwise.solver.explain.constraint import Constraint, constraints_of
from slotwise.solver.explain.explanation import Repair
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.prices import RepairPrices, price_of
from slotwise.solver.explain.repairs.least_amount import (
    Bracket,
    LeastChange,
    bracket,
    instance_maker,
    least_amount,
)
from slotwise.solver.explain.repairs.levers import Lever, levers

MOST_PAIRS = 5
"""Pairs of changes that are looked for, the cheapest; others may be left out."""

FOR_QUICK = 0.5
"""Most of the time for repairs that may pass before any search."""

FOR_CHEAPEST = 0.25
"""Part of the time left for a change that may be the cheapest, at least."""

FEW_NODES = 8
"""Most nodes of which each may be in a pair; of more only one of those that are alike."""

LOSES_TASKS = frozenset({kinds.EVICT, kinds.LOWER_PARALLELISM})
"""Changes after which fewer tasks run."""


@dataclass(frozen=True, slots=True)
class Repairs:
    """Repairs, cheapest first, and whether all that were considered were decided."""

    repairs: tuple[Repair, ...]
    is_complete: bool


def find_repairs(
    instance: Instance,
    conflicts: Sequence[Sequence[Constraint]],
    prices: RepairPrices,
    decider: Decider,
) -> Repairs:
    """Return single changes that help, each by its least amount, and pairs where they lose tasks.

    Pairs of changes are tried where no single one helps, or none that leaves all tasks in, and
    wherever one may be cheaper than the cheapest repair.

    `conflicts`, one or more, are sets of constraints that cannot hold together; every repair must
    touch each of them. Evictions of more than one topology count as one change.
    """
    search = _Search(instance, prices, decider)
    choices = [levers(instance, members) for members in conflicts]
    everywhere = [{lever.base for lever in found} for found in choices[1:]]
    search.try_each([one for one in choices[0] if all(one.base in found for found in everywhere)])
    search.try_evictions()
    if all(_loses_tasks(repair) for repair in search.found):
        search.try_pairs(choices)
    search.try_cheaper_pairs(conflicts)
    search.try_undecided()
    ordered = sorted(search.found, key=lambda one: (one.price, len(one.text), one.text))
    return Repairs(tuple(ordered), search.is_complete and not search.undecided)


def _loses_tasks(repair: Repair) -> bool:
    return any(change.kind in LOSES_TASKS for change in repair.changes)


class _Search:
    """The repairs so far."""

    def __init__(self, instance: Instance, prices: RepairPrices, decider: Decider) -> None:
        self.found: list[Repair] = []
        self.is_complete = True  # but for those that are undecided
        self.undecided: list[tuple[Lever, Bracket]] = []
        self._singles = False  # whether single changes were found before pairs were tried
        self._instance = instance
        self._prices = prices
        self._decider = decider

    def try_each(self, choices: Sequence[Lever]) -> None:
        """Try each lever alone: all by counting and first fit before any by a search.

        Then in the order of the least that each may cost. One that may still be the cheapest of
        all gets more time than its share.
        """
        quick = self._decider.until(FOR_QUICK)
        brackets = [
            (lever, bracket(lever, quick, instance_maker(self._instance, lever)))
            for lever in sorted(choices, key=self._first_price)
        ]
        brackets.sort(key=lambda pair: self._least_price(*pair))
        starts = ((lever, known.start) for lever, known in brackets)
        cheapest = min(
            (self._price(lever.change(start[0])) for lever, start in starts if start is not None),
            default=None,
        )
        for tried, (lever, known) in enumerate(brackets):
            part = 1 / (len(choices) - tried)
            if cheapest is None or self._least_price(lever, known) < cheapest:
                part = max(part, FOR_CHEAPEST)
            answer = least_amount(self._instance, lever, self._decider.until(part), known)
            if not answer.is_decided:
                self.undecided.append((lever, known))
            if answer.found is not None:
                self._add([answer.found])
                price = self.found[-1].price
                cheapest = price if cheapest is None else min(cheapest, price)

    def try_undecided(self) -> None:
        """Try what was not decided in its share once more: what time is left is for these."""
        again, self.undecided = self.undecided, []
        for tried, (lever, known) in enumerate(again):
            part = self._decider.until(1 / (len(again) - tried), step_fraction=1.0)
            answer = least_amount(self._instance, lever, part, known)
            if not answer.is_decided:
                self.undecided.append((lever, known))
            if answer.found is not None:
                self._replace(lever, answer.found)

    def _replace(self, lever: Lever, found: LeastChange) -> None:
        """Add what was found of a lever in the place of what was found of it before, if better."""
        before = [
            one
            for one in self.found
            if len(one.changes) == 1
            and replace(one.changes[0], amount=lever.base.amount, after=lever.base.after)
            == lever.base
        ]
        self._add([found])
        for old in before:
            new = self.found[-1]
            is_better = (new.price, not new.least) <= (old.price, not old.least)
            self.found.remove(old if is_better else new)

    def _least_price(self, lever: Lever, known: Bracket) -> Fraction:
        """Return a price that the lever does not go below."""
        return self._price(lever.change(min(known.low + 1, lever.most)))

    def try_evictions(self) -> None:
        """Try the set of topologies whose eviction is cheapest, where one is not enough."""
        evicted = [r for r in self.found if r.changes[0].kind == kinds.EVICT]
        if self._decider.is_over or evicted:
            return
        found, is_decided = best_eviction(self._instance, self._decider)
        self.is_complete &= is_decided
        if found is not None:
            self._add([found])

    def try_pairs(self, choices: Sequence[Sequence[Lever]]) -> None:
        """Try pairs of levers: what the first leaves in conflict, the second must touch."""
        self._singles = bool(self.found)
        tried: set[frozenset[object]] = set()
        for first in self._worth_pairing(choices[0]):
            if self._decider.is_over:
                self.is_complete = False
                return
            others = self._others(first, choices[1:])
            if others is None:
                self.is_complete = False
                continue
            for second in self._worth_pairing(others):
                pair = frozenset((first.base, second.base))
                least = self._first_price(first) + self._first_price(second)
                if len(pair) == 2 and pair not in tried and least < self._price_to_beat():
                    tried.add(pair)
                    self._try_pair(first, second)

    def try_cheaper_pairs(self, conflicts: Sequence[Sequence[Constraint]]) -> None:
        """Try every pair that may be cheaper than the cheapest repair so far."""
        if not self.found:
            return
        few = len(self._instance.cluster.nodes) <= FEW_NODES
        choices = [levers(self._instance, members, each_node=few) for members in conflicts]
        every = levers(self._instance, constraints_of(self._instance), each_node=few)
        touching = [{lever.base for lever in found} for found in choices]
        pairs = {
            frozenset((one.base, other.base)): (one, other)
            for one in choices[0]
            for other in every
            if one.base != other.base
            and all(one.base in touched or other.base in touched for touched in touching)
        }
        below = min(repair.price for repair in self.found)
        cheaper = cheapest_pair(
            self._instance, tuple(pairs.values()), below, self._price, self._decider
        )
        self.is_complete &= cheaper.is_proven
        if cheaper.pair is not None:
            first, second = cheaper.pair
            self._add([second, first])

    def _price(self, change: Change) -> Fraction:
        return Fraction(price_of(change, self._instance, self._prices))

    def _worth_pairing(self, choices: Sequence[Lever]) -> list[Lever]:
        """Return levers by the price of their first step.

        Where leaving out tasks helps alone, only those that leave out none.
        """
        kept = [one for one in choices if not (self._singles and one.base.kind in LOSES_TASKS)]
        return sorted(kept, key=self._first_price)

    def _others(self, first: Lever, choices: Sequence[Sequence[Lever]]) -> Sequence[Lever] | None:
        """Return the levers of a conflict that all of `first` leaves; ``None`` = none was found."""
        for other in choices:
            if all(lever.base != first.base for lever in other):
                return other
        full = apply_change(self._instance, first.change(first.most))
        core = CoreSearch(full, self._decider).find()
        if core is None:
            return None
        here = {node.id for node in self._instance.cluster.nodes}  # the first may add others
        return [one for one in levers(full, core.constraints) if here.issuperset(one.base.nodes)]

    def _price_to_beat(self) -> float | Fraction:
        """Return the price from which on a pair is not looked at."""
        prices = sorted(repair.price for repair in self.found)
        return prices[MOST_PAIRS - 1] if len(prices) >= MOST_PAIRS else math.inf

    def _try_pair(self, first: Lever, second: Lever) -> None:
        """Take the least of the second with all of the first, then the least of the first."""
        if self._decider.is_over:
            self.is_complete = False
            return
        whole = apply_change(self._instance, first.change(first.most))
        other = least_amount(whole, second, self._decider)
        self.is_complete &= other.is_decided
        if other.found is None:
            return
        beside = apply_change(self._instance, other.found.change)
        one = least_amount(beside, first, self._decider)
        self.is_complete &= one.is_decided
        if one.found is not None:
            self._add([one.found, other.found])

    def _first_price(self, lever: Lever) -> Fraction:
        return self._price(lever.change(1))

    def _add(self, parts: Sequence[LeastChange]) -> None:
        """Add a repair of one change, or of two; the first holds the instance and placement."""
        changes = tuple(part.change for part in parts)
        price = sum((self._price(change) for change in changes), Fraction(0))
        least = all(part.is_least for part in parts)
        last = parts[0]
        self.found.append(Repair(changes, price, least, last.instance, last.placement))


# The cheapest set of topologies to evict so that the others have a placement.


def best_eviction(instance: Instance, decider: Decider) -> tuple[LeastChange | None, bool]:
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
    after = apply_change(instance, change)
    decision = decider.decide(after)
    if decision.placement is None:
        return None, False
    return LeastChange(change, is_best, after, decision.placement), is_best


# The cheapest pair of changes below a price, by branch and bound.
#
# More of a change never takes a placement away, so a staircase bounds the pairs of amounts that
# suffice: of a pair of levers each of its corners below the price is visited, and a pair of which
# even the most that the price allows does not suffice is left out by one solve.

PriceOf = Callable[[Change], Fraction]


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The cheapest pair, if there is one, and whether that is proven."""

    pair: tuple[LeastChange, LeastChange] | None
    is_proven: bool


def cheapest_pair(
    instance: Instance,
    pairs: Sequence[tuple[Lever, Lever]],
    below: Fraction,
    price: PriceOf,
    decider: Decider,
) -> PairAnswer:
    """Return the cheapest amounts of one of `pairs` whose price is less than `below`.

    Each pair has an equal share of the time. Those that it does not decide share what is left.
    """
    search = _PairSearch(instance, price, below)
    undecided = search.visit(pairs, decider)
    if undecided:
        undecided = search.visit(undecided, decider, step_fraction=1.0)
    best = search.best
    if best is not None and not undecided:
        # Less of either change would be a cheaper pair, and there is none.
        best = replace(best[0], is_least=True), replace(best[1], is_least=True)
    return PairAnswer(best, not undecided)


class _PairSearch:
    """The cheapest pair so far."""

    def __init__(self, instance: Instance, price: PriceOf, below: Fraction) -> None:
        self.best: tuple[LeastChange, LeastChange] | None = None
        self._instance = instance
        self._price = price
        self._below = below

    def visit(
        self,
        pairs: Sequence[tuple[Lever, Lever]],
        decider: Decider,
        *,
        step_fraction: float = 0.25,
    ) -> list[tuple[Lever, Lever]]:
        """Visit the pairs that may be cheaper; return those that their share did not decide."""
        undecided = []
        ordered = sorted(pairs, key=self._least)
        for tried, pair in enumerate(ordered):
            if self._least(pair) >= self._below:
                break
            share = decider.until(1 / (len(ordered) - tried), step_fraction=step_fraction)
            walk = _Walk(self._instance, *_in_order(*pair), self._price, share)
            found = walk.cheapest(self._below)
            if not found.is_proven:
                undecided.append(pair)
            if found.pair is not None:
                self.best = found.pair
                self._below = sum((self._price(part.change) for part in found.pair), Fraction(0))
        return [pair for pair in undecided if self._least(pair) < self._below]

    def _least(self, pair: tuple[Lever, Lever]) -> Fraction:
        return sum((self._price(lever.change(1)) for lever in pair), Fraction(0))


def _in_order(one: Lever, other: Lever) -> tuple[Lever, Lever]:
    """Return the lever that adds nodes first: the copies are of nodes as they were."""
    return (other, one) if other.base.kind == kinds.ADD_NODES else (one, other)


class _Walk:
    """Visits the corners of two levers; the second is applied after the first."""

    def __init__(
        self, instance: Instance, first: Lever, second: Lever, price: PriceOf, decider: Decider
    ) -> None:
        self._instance = instance
        self._first, self._second = first, second
        self._price = price
        self._decider = decider
        self._is_proven = True

    def cheapest(self, below: Fraction) -> PairAnswer:
        """Return the cheapest corner below a price."""
        best: tuple[LeastChange, LeastChange] | None = None
        most = self._affordable(self._second, below - self._price(self._first.change(1)))
        while most > 0:
            change = self._second.change(most)
            reach = self._affordable(self._first, below - self._price(self._second.change(1)))
            one = self._least_first(change, reach)
            if one is None:
                break
            other = self._least_second(one.change, most)
            if other is None:
                break
            price = self._price(one.change) + self._price(other.change)
            if price < below:
                best, below = (one, other), price
            steps = int(other.change.amount / self._second.step)
            most = min(
                steps - 1,
                self._affordable(self._second, below - self._price(one.change)),
            )
        return PairAnswer(best, self._is_proven)

    def _affordable(self, lever: Lever, budget: Fraction) -> int:
        """Return the most steps that cost less than `budget`."""
        low, high = 0, lever.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._price(lever.change(middle)) < budget:
                low = middle
            else:
                high = middle
        return low

    def _least_first(self, change: Change, reach: int) -> LeastChange | None:
        def made(steps: int) -> Instance:
            return apply_change(apply_change(self._instance, self._first.change(steps)), change)

        return self._least(self._first, reach, made)

    def _least_second(self, change: Change, reach: int) -> LeastChange | None:
        base = apply_change(self._instance, change)
        return self._least(
            self._second, reach, lambda k: apply_change(base, self._second.change(k))
        )

    def _least(
        self, lever: Lever, reach: int, made: Callable[[int], Instance]
    ) -> LeastChange | None:
        """Return the least steps of a lever, at most `reach`; ``None`` = not found."""
        if reach < 1:
            return None
        answer = least_amount(
            self._instance, replace(lever, most=reach, is_exhaustive=True), self._decider, made=made
        )
        self._is_proven &= answer.is_decided
        return answer.found
