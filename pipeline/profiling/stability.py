"""Whether a trial was stable: every tuple was answered, and latency did not rise.

The one place where that is decided; `trial` measures what it is decided by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BUCKETS = 10
"""The trial is cut into so many parts of equal length; the median latency of each counts, so that a
hiccup of the machine does not."""
NO_ANSWERS = 1.0
"""Slope where fewer than two tuples come back: the latency of one that waits rises by 1 s per s."""


def is_stable(slope: float, *, sent: int, answered: int, max_slope: float) -> bool:
    """Return whether a trial was stable: the task keeps up with the rate.

    Parameters
    ----------
    slope
        See `latency_slope`.
    sent, answered
        Tuples after the warm-up; of these, those that were answered before the trial was cut off.
    max_slope
        Most seconds by which latency may rise per second (`Settings.max_slope`).
    """
    return answered == sent and slope <= max_slope


def latency_slope(moments: NDArray[np.float64], latency: NDArray[np.float64]) -> float:
    """Return by how many seconds latency rises per second.

    The least-squares slope through the medians of `BUCKETS` parts (section 5.1: the slope of the
    tuples' latency after the warm-up).

    Parameters
    ----------
    moments, latency
        When each tuple was due, rising, and how long it took, s; `NO_ANSWERS` for fewer than 2.
    """
    if len(moments) < 2:
        return NO_ANSWERS
    parts = np.array_split(np.arange(len(moments)), min(BUCKETS, len(moments)))
    when = [float(np.median(moments[part])) for part in parts]
    long = [float(np.median(latency[part])) for part in parts]
    return float(np.polyfit(when, long, 1)[0])
