"""Confidence intervals of a mean over instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from slotwise.benchmarks.analysis.cases import Case
from slotwise.benchmarks.report.figures.numbers.panels import Excess

RESAMPLES = 2000
MOST_RESAMPLED = 1000
"""With more instances the normal approximation is used; it is as good there and costs nothing."""

LEVEL = 0.95
NORMAL_QUANTILE = 1.959964


def mean_interval(excess: Excess, cases: Iterable[Case]) -> tuple[float, float, float]:
    """Return the mean over `cases` and its 95 % interval, of instances drawn with replacement.

    The seeds of an instance are averaged first: they are no independent instances. There must be
    at least one case.
    """
    by_instance: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        by_instance[case[0]].append(excess[case])
    means = np.array([np.mean(by_instance[key]) for key in sorted(by_instance)])
    centre = float(means.mean())
    if len(means) > MOST_RESAMPLED:
        half = NORMAL_QUANTILE * float(means.std(ddof=1)) / len(means) ** 0.5
        return centre, centre - half, centre + half
    drawn = np.random.default_rng(0).integers(len(means), size=(RESAMPLES, len(means)))
    low, high = np.quantile(means[drawn].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return centre, float(low), float(high)
