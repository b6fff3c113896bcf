"""The most weight that fits into a capacity: a bounded knapsack, exact in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

MOST_STATES = 1_000
"""Sums that are kept; with more the answer is a bound by the best ratio, still never too low."""

Item = tuple[int, int, int]
"""Size, weight and count, each 0 or more."""


def most_weight(items: Sequence[Item], capacity: int) -> int:
    """Return a weight that no choice of items of a total size up to `capacity` exceeds.

    The largest there is, unless more than `MOST_STATES` sums are undominated.
    """
    free = sum(weight * count for size, weight, count in items if size == 0)
    sized = [one for one in items if 0 < one[0] <= capacity and one[1] > 0 and one[2] > 0]
    states = [(0, 0)]  # (size, weight), both ascending
    for size, weight, count in sized:
        most = min(count, capacity // size)
        wider = sorted(
            (
                (used + k * size, -(reached + k * weight))
                for used, reached in states
                for k in range(min(most, (capacity - used) // size) + 1)
            )
        )
        states, best = [], -1
        for used, negative in wider:
            if -negative > best:
                best = -negative
                states.append((used, best))
        if len(states) > MOST_STATES:
            return free + _by_ratio(sized, capacity)
    return free + states[-1][1]


def _by_ratio(items: Sequence[Item], capacity: int) -> int:
    """Return the weight of the knapsack whose items can be cut, rounded down."""
    total, left = 0, capacity
    for size, weight, count in sorted(items, key=lambda one: -Fraction(one[1], one[0])):
        whole = min(count, left // size)
        total, left = total + whole * weight, left - whole * size
        if whole < count:
            return total + left * weight // size
    return total
