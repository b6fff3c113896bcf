"""One point of a front: the best placement with limited moves, and what is proven about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.verdict import Verdict
from slotwise.solver.core.result import Status

Bounds = tuple[int | None, ...]
"""Per term, in integer steps; a bound holds where those before it are reached, ``None`` = none."""


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """The best cost with at most `max_moves` moves.

    Parameters
    ----------
    max_moves
        Most tasks that may move from where they run now.
    status
        ``optimal`` where every term of the placement is proven, otherwise as in `Status`.
    placement, verdict
        The best placement found, and what the judge says of it; ``None`` without one.
    bounds
        In integer steps; no placement with at most `max_moves` moves is better in lexicographic
        order.
    how
        What proves it, or found it, in words.
    seconds
        Of its own run; 0 without one.
    """

    max_moves: int
    status: Status
    placement: Placement | None
    verdict: Verdict | None
    bounds: Bounds
    how: str
    seconds: float = 0.0

    @property
    def is_proven(self) -> bool:
        """Whether it is the best with its moves, or proven that there is none."""
        return self.status in (Status.OPTIMAL, Status.INFEASIBLE)

    @property
    def moves(self) -> int | None:
        """Tasks that the placement moves; ``None`` without one."""
        return None if self.verdict is None else int(self.verdict.parts["moved"])

    @property
    def values(self) -> tuple[int, ...] | None:
        """Value of each term in integer steps; ``None`` without a placement."""
        return None if self.verdict is None else self.verdict.scaled

    @property
    def open_bounds(self) -> Bounds:
        """The bounds up to the first term that is not proven; ``None`` after it."""
        values, shown = self.values, []
        for index, bound in enumerate(self.bounds):
            shown.append(bound)
            if values is None or values[index] != bound:
                break
        return tuple(shown + [None] * (len(self.bounds) - len(shown)))


def with_bound(point: FrontPoint, bounds: Bounds) -> FrontPoint:
    """Return a point with the higher of its own bound and another one that holds for it."""
    best = max(point.bounds, bounds, key=_rank)
    if point.values is None:
        return replace(point, bounds=best)
    is_met = all(value == bound for value, bound in zip_longest(point.values, best))
    return replace(point, bounds=best, status=Status.OPTIMAL if is_met else Status.FEASIBLE)


def _rank(bounds: Sequence[int | None]) -> tuple[int, ...]:
    """Return what bounds are compared by: no value is below 0."""
    return tuple(-1 if bound is None else bound for bound in bounds)
