"""Bootstrap intervals of a mean or a quantile over instances, and Wilcoxon's signed-rank test.

Intervals are those of the percentile method. Instances are drawn again with replacement. The
numbers come sorted and the generator's seed from the names of what is asked, so an interval is the
same whatever the partitions. For a quantile only two order statistics of a resample matter; they
are drawn directly from their Beta distributions, which is the same bootstrap without drawing n
numbers each time.

The test is paired by instance, one difference each; instances on which both are equal say nothing
and are left out (Wilcoxon's own way). Of several pairs Holm's correction keeps the chance of any
false alarm below the level.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
"""Resamples of a quantile."""

MEAN_RESAMPLES = 2_000
"""Resamples of a mean."""

LEVEL = 0.95
"""Confidence of an interval."""

LEAST_INSTANCES = 5
"""Fewer give no interval."""

MOST_DRAWN = 10_000
"""A mean over more instances has the normal interval, which the bootstrap's tends to."""

_NORMAL_95 = 1.959963984540054
_BLOCK = 4_000_000

Interval = tuple[float, float]


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return a generator of random numbers that depends on `seed` and `names` alone."""
    return np.random.default_rng([seed, zlib.crc32("\0".join(map(str, names)).encode())])


def quantile_interval(
    ordered: Sequence[float] | NDArray[np.float64], share: float, random: np.random.Generator
) -> Interval | None:
    """Return the interval of a quantile (linear between neighbours), ``None`` for too few.

    Parameters
    ----------
    ordered
        One number per instance, ascending; infinity may be among them.
    share
        Which quantile, from 0 to 1.
    random
        See `generator`.
    """
    numbers = np.asarray(ordered, dtype=float)
    count = len(numbers)
    if count < LEAST_INSTANCES:
        return None
    below, weight = divmod((count - 1) * share, 1.0)
    rank = int(below) + 1
    low = random.beta(rank, count + 1 - rank, RESAMPLES)
    drawn = numbers[_positions(low, count)]
    if weight > 0:
        high = low + (1 - low) * random.beta(1, count - rank, RESAMPLES)
        above = numbers[_positions(high, count)]
        between = drawn < above
        drawn = drawn.copy()
        drawn[between] += weight * (above[between] - drawn[between])
    return _percentiles(drawn)


def _positions(uniform: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    return np.minimum((uniform * count).astype(np.intp), count - 1)


def mean_interval(
    numbers: Sequence[float] | NDArray[np.float64], random: np.random.Generator
) -> Interval | None:
    """Return the interval of the mean; ``None`` for too few numbers or an infinite one."""
    values = np.asarray(numbers, dtype=float)
    count = len(values)
    if count < LEAST_INSTANCES or not np.isfinite(values).all():
        return None
    if count > MOST_DRAWN:
        mean, error = values.mean(), values.std(ddof=1) / np.sqrt(count)
        return float(mean - _NORMAL_95 * error), float(mean + _NORMAL_95 * error)
    at_once = max(1, _BLOCK // count)
    means = [
        values[random.integers(0, count, (min(at_once, MEAN_RESAMPLES - start), count))].mean(
            axis=1
        )
        for start in range(0, MEAN_RESAMPLES, at_once)
    ]
    return _percentiles(np.concatenate(means))


def _percentiles(drawn: NDArray[np.float64]) -> Interval:
    """Return the middle `LEVEL` of what was drawn; no interpolation, for some may be infinite."""
    ordered, outside = np.sort(drawn), (1 - LEVEL) / 2
    last = len(ordered) - 1
    return float(ordered[round(outside * last)]), float(ordered[round((1 - outside) * last)])


LEAST_PAIRS = 6
"""With fewer instances that differ, even the clearest result has a p-value above 0.05."""


MOST_EXACT = 50
"""With more instances that differ, the p-value is that of the normal approximation."""


def wilcoxon_p(differences: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the two-sided p-value; ``None`` where fewer than `LEAST_PAIRS` differ.

    Exact up to `MOST_EXACT`, ties included: the share of all signs of the ranks with a sum of
    positive ranks at least as far out. SciPy's own exact test with ties flips signs one by one.
    Above it normal, without correction for continuity, as SciPy's ``method="asymptotic"`` (whose
    import takes longer than all of a summary).
    """
    # Equal differences must have equal ranks, whatever was rounded in computing them.
    numbers = np.round(np.asarray(differences, dtype=float), 12)
    numbers = numbers[numbers != 0]
    count = len(numbers)
    if count < LEAST_PAIRS:
        return None
    _, of_each, counts = np.unique(np.abs(numbers), return_inverse=True, return_counts=True)
    twice = (2 * np.cumsum(counts) - counts + 1)[of_each]  # The mean of tied ranks, times two.
    positive = int(twice[numbers > 0].sum())
    if count > MOST_EXACT:
        tied = (counts.astype(float) ** 3 - counts).sum()
        spread = math.sqrt((count * (count + 1) * (2 * count + 1) - tied / 2) / 24)
        return math.erfc(abs(positive / 2 - count * (count + 1) / 4) / spread / math.sqrt(2))
    ways = np.zeros(int(twice.sum()) + 1)
    ways[0] = 1.0
    for rank in twice.tolist():
        ways[rank:] = ways[rank:] + ways[:-rank]
    least = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return min(1.0, 2.0 * float(least) / 2.0**count)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values corrected for their number (Holm 1979); ``None`` counts not as a test."""
    tested = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    least = 0.0
    for done, (p, index) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - done)))
        corrected[index] = least
    return corrected
