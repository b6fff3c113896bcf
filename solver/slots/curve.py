"""The curve of slots against rates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.packing import Packing
from slotwise.solver.slots.result import Answer, SlotResult
from slotwise.solver.slots.solve import SlotSolver, check_above_0

SHARES = 4
"""Equal shares of the time left that a rate may take; few need one."""


def slots_curve(
    solver: SlotSolver, rates: Sequence[Fraction], *, token: CancellationToken
) -> list[SlotResult]:
    """Return the fewest slots for each of the rates, in their order.

    Bisection: where two rates need the same slots, so do all between them, with the plan of the
    higher one. `SlotResult.seconds` is the time spent on the rate itself.

    Raises
    ------
    InputError
        As `SlotSolver.fewest_slots`.
    """
    for rate in rates:
        check_above_0(rate, "rate")
    if not rates:
        return []
    curve = _Curve(solver, sorted(set(rates)), token)
    curve.fill(0, len(curve.rates) - 1)
    curve.share()
    return [solver.result(rate, *curve.answers[rate]) for rate in rates]


@dataclass(slots=True)
class _Curve:
    """Rates, rising, and the answers so far with their seconds."""

    solver: SlotSolver
    rates: Sequence[Fraction]
    token: CancellationToken
    answers: dict[Fraction, tuple[Answer, float]] = field(default_factory=dict)

    def fill(self, low: int, high: int) -> None:
        """Answer the rates from index `low` to index `high`."""
        lower, higher = self._answer(low), self._answer(high)
        same = higher.packing is not None and higher.packing.slots == lower.bound
        if same or self.token.is_cancelled:  # late: bounds from both ends, no search of each rate
            for rate in self.rates[low + 1 : high]:
                self.answers[rate] = higher.at(rate / self.rates[high], lower.bound), 0.0
        elif high - low > 1:
            middle = (low + high) // 2
            self.fill(low, middle)
            self.fill(middle, high)

    def _answer(self, index: int) -> Answer:
        rate = self.rates[index]
        if rate not in self.answers:
            begun = time.perf_counter()
            shares = min(1.0, SHARES / (len(self.rates) - len(self.answers)))
            token = self.token.child(begun + max(self.token.remaining, 0.0) * shares)
            result = self.solver.pack(rate, token)
            self.answers[rate] = result, time.perf_counter() - begun
        return self.answers[rate][0]

    def share(self) -> None:
        """Give each rate the bounds of lower rates and the packings of higher ones, if better."""
        bound = 0
        for rate in self.rates:
            answer, seconds = self.answers[rate]
            bound = max(bound, answer.bound)
            self.answers[rate] = replace(answer, bound=bound), seconds
        best: tuple[Fraction, Answer] | None = None
        for rate in reversed(self.rates):
            answer, seconds = self.answers[rate]
            if best is not None and _smaller(best[1].packing, answer.packing):
                answer = best[1].at(rate / best[0], answer.bound)
                self.answers[rate] = answer, seconds
            best = rate, answer


def _smaller(first: Packing | None, second: Packing | None) -> bool:
    return first is not None and (second is None or first.slots < second.slots)
