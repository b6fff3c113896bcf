"""How far the mean of a simulated run can be trusted: batch means.

What follows each other closely in a run is correlated; the means of a few long batches hardly are.
They are treated as independent and normal, so that Student's t gives the interval (A. M. Law,
Simulation Modeling and Analysis, 5th edition, section 9.5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

CONFIDENCE = 0.95
BATCHES = 20
"""Law advises against more than 30 and fewer than 10."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and how far from it the true one is with a confidence of 95 %.

    Parameters
    ----------
    mean
        Of the run.
    half_width
        The true mean is within `mean` plus or minus this.
    """

    mean: float
    half_width: float

    def holds(self, value: float) -> bool:
        """Return whether a value is inside."""
        return abs(value - self.mean) <= self.half_width


def interval(amounts: Sequence[float], sizes: Sequence[float]) -> Interval | None:
    """Return the mean of amounts over sizes, of batches of unequal sizes.

    With equal sizes that is the mean of the batches' means; else the ratio of the sums, with its
    linear approximation for the variance (the same book, section 9.5.3, regenerative method).

    Parameters
    ----------
    amounts, sizes
        Of each batch: for a rate tuples and seconds, for a latency seconds and tuples.

    Returns
    -------
    Interval | None
        ``None`` where fewer than two sizes are above 0: batches without any say nothing.
    """
    from scipy.special import stdtrit

    count, total = sum(size > 0 for size in sizes), sum(sizes)
    if count < 2:
        return None
    mean = sum(amounts) / total
    squares = sum((a - mean * s) ** 2 for a, s in zip(amounts, sizes, strict=True))
    deviation = sqrt(squares / (count - 1) / count) / (total / count)
    return Interval(mean, float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * deviation)
