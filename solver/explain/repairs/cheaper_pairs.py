"""The cheapest pair of changes below a price, by branch and bound.

More of a change never takes a placement away, so that the pairs of amounts that suffice are bounded
by a staircase: of a pair of levers every corner of it below the price is visited, and a pair of
which even the most that the price allows does not suffice is left out by one solve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from slotwise.models.instance.instance import Instance
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.repairs.application import applied
from slotwise.solver.explain.repairs.least_amount import Found, least_amount
from slotwise.solver.explain.repairs.levers import Lever

PriceOf = Callable[[Change], Fraction]


@dataclass(frozen=True, slots=True)
class Cheaper:
    """The cheapest pair, if there is one, and whether that is proven."""

    pair: tuple[Found, Found] | None
    is_proven: bool


def cheapest_pair(
    instance: Instance,
    pairs: Sequence[tuple[Lever, Lever]],
    below: Fraction,
    price: PriceOf,
    decider: Decider,
) -> Cheaper:
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
    return Cheaper(best, not undecided)


class _PairSearch:
    """The cheapest pair so far."""

    def __init__(self, instance: Instance, price: PriceOf, below: Fraction) -> None:
        self.best: tuple[Found, Found] | None = None
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

    def cheapest(self, below: Fraction) -> Cheaper:
        """Return the cheapest corner below a price."""
        best: tuple[Found, Found] | None = None
        most = self._affordable(self._second, below - self._price(self._first.change(1)))
        while most > 0:
            given = self._second.change(most)
            reach = self._affordable(self._first, below - self._price(self._second.change(1)))
            one = self._least_first(given, reach)
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
        return Cheaper(best, self._is_proven)

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

    def _least_first(self, given: Change, reach: int) -> Found | None:
        def made(steps: int) -> Instance:
            return applied(applied(self._instance, self._first.change(steps)), given)

        return self._least(self._first, reach, made)

    def _least_second(self, given: Change, reach: int) -> Found | None:
        base = applied(self._instance, given)
        return self._least(self._second, reach, lambda k: applied(base, self._second.change(k)))

    def _least(self, lever: Lever, reach: int, made: Callable[[int], Instance]) -> Found | None:
        """Return the least steps of a lever, at most `reach`; ``None`` = not found."""
        if reach < 1:
            return None
        answer = least_amount(
            self._instance, replace(lever, most=reach, is_exhaustive=True), self._decider, made=made
        )
        self._is_proven &= answer.is_decided
        return answer.found
