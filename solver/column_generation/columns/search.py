"""The terms in order, over the columns of a `ColumnModel`.

For each term: prices bound it and give every column a loss; CP-SAT finds the best plan among the
columns of least loss; then every plan that could be better than that uses columns only whose loss
fits the difference, and if all of these were among them the plan is optimal. Terms that are proven
become limits of the later ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import BoolArray
from slotwise.solver.column_generation.columns.incumbent import Incumbent
from slotwise.solver.column_generation.columns.model import ColumnModel, Sum, Used, placement_of
from slotwise.solver.column_generation.columns.pricing import Limit, Prices, may_have_plan, prices
from slotwise.solver.column_generation.columns.restricted_ip import Closing, close
from slotwise.solver.core.result import Limits

FIRST_CHOICES = 2_000
MOST_CHOICES = 60_000
"""Columns to choose from, over all nodes: at first, and before it gets too many to close."""

GROWTH = 4


@dataclass(slots=True)
class Proven:
    """What the search proved: bounds of the terms it looked at; whether there is no placement."""

    bounds: list[int] = field(default_factory=list)
    infeasible: bool = False
    interrupted: bool = False


def search_columns(
    model: ColumnModel, proven: Sequence[int], best: Incumbent, limits: Limits, found: Proven
) -> None:
    """Solve the terms after the `proven` ones until one is not proven within the limits.

    Parameters
    ----------
    model
        All columns.
    proven
        Optima of the first terms.
    best
        The incumbent; takes placements and bounds that are found.
    limits
        Of this search alone.
    found
        Is filled; whatever ends the search, it holds what was proven.
    """
    deadline = time.perf_counter() + limits.time_s
    most: list[Limit] = list(zip(model.terms, proven, strict=False))
    if model.moves is not None:
        most.append((model.moves, model.problem.move_limit))
    for index in range(len(proven), len(model.terms)):
        known = None
        if best.values is not None and best.values[:index] == (*proven, *found.bounds):
            known = best.values[index]
        one = _Term(model, index, most, known, best, limits, deadline)
        one.run()
        if one.infeasible and best.values is not None:
            raise InternalError(f"CP-SAT calls term {index} infeasible, which has a placement")
        found.infeasible, found.interrupted = one.infeasible, one.interrupted
        if one.bound is not None:
            found.bounds.append(one.bound)
            best.prove([*proven, *found.bounds])
        if one.bound is None or one.value != one.bound or one.interrupted:
            return
        most.append((model.terms[index], one.bound))


def _budgets(priced: Prices, nodes: Sequence[int]) -> Iterator[int]:
    """Yield losses that leave the nodes more and more columns to choose from, at last all."""
    losses = np.concatenate(priced.losses)
    order = np.argsort(losses, kind="stable")
    weights = np.repeat(nodes, [len(loss) for loss in priced.losses])
    choices = np.cumsum(weights[order])
    count = FIRST_CHOICES
    while True:
        reached = min(int(np.searchsorted(choices, count)), len(order) - 1)
        yield int(losses[order[reached]])
        count *= GROWTH


class _Term:
    """The search for the best plan in one term."""

    def __init__(
        self,
        model: ColumnModel,
        index: int,
        most: Sequence[Limit],
        known: int | None,
        best: Incumbent,
        limits: Limits,
        deadline: float,
    ) -> None:
        self._model, self._index, self._most = model, index, tuple(most)
        self._best, self._limits, self._deadline = best, limits, deadline
        self.value = known
        self.bound: int | None = None
        self.infeasible = False
        self.interrupted = False

    @property
    def _term(self) -> Sum:
        return self._model.terms[self._index]

    def run(self) -> None:
        """Close over more and more columns until the plan is proven best, or time is up."""
        if self.value is None and not may_have_plan(self._model, self._most, self._deadline):
            self.infeasible = True
            return
        priced = prices(self._model, self._term, self._most, self._deadline)
        self.bound = max(0, priced.least)
        nodes = [len(kind.nodes) for kind in self._model.types]
        budgets = _budgets(priced, nodes)
        largest = max(int(loss.max()) for loss in priced.losses)
        while not self._done():
            budget = min(next(budgets), self._useful(priced, largest))
            kept = [loss <= budget for loss in priced.losses]
            left = self._deadline - time.perf_counter()
            choices = sum(n * int(k.sum()) for n, k in zip(nodes, kept, strict=True))
            if left <= 0 or choices > MOST_CHOICES:
                return
            closing = self._close(kept, left)
            self._take(closing)
            if self._learn(closing, priced, budget, largest) or not closing.complete:
                return

    def _done(self) -> bool:
        return self.value is not None and self.value == self.bound

    def _useful(self, priced: Prices, all_of_them: int) -> int:
        """Return the largest loss of a column in a plan better than the best known."""
        if self.value is None:
            return all_of_them
        return min(all_of_them, (self.value - 1) * priced.scale - priced.bound)

    def _close(self, kept: list[BoolArray], left: float) -> Closing:
        most = self._most
        if self.value is not None:
            most = (*most, (self._term, self.value - 1))
        limits = replace(self._limits, time_s=left)
        return close(self._model, self._term, most, kept, self.bound or 0, limits, self._offer)

    def _take(self, closing: Closing) -> None:
        self.interrupted |= closing.interrupted
        if closing.used is None:
            return
        values = self._offer(closing.used)
        self.value = values[self._index]

    def _offer(self, used: Used) -> tuple[int, ...]:
        """Tell of a plan; return the best values of all."""
        return self._best.offer(placement_of(self._model, used), self._index)

    def _learn(self, closing: Closing, priced: Prices, budget: int, all_of_them: int) -> bool:
        """Raise the bound by what was proven; return whether the term is settled.

        A plan of other columns has a loss above the budget; one of these columns costs at least
        the closing's bound, or the value it was asked to beat.
        """
        inside = self.value if closing.complete else closing.bound
        if not closing.complete and inside is not None and self.value is not None:
            inside = min(inside, self.value)
        outside = -(-(priced.bound + budget + 1) // priced.scale)
        everything = budget >= self._useful(priced, all_of_them)
        if everything and closing.complete and self.value is None:
            self.bound, self.infeasible = None, True
            return True
        if inside is not None:
            risen = inside if everything else min(inside, outside)
            self.bound = max(self.bound or 0, risen)
        elif closing.complete and not everything:
            self.bound = max(self.bound or 0, outside)
        return self._done() or self.infeasible
