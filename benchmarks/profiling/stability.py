"""Whether a trial was stable: the slope of latency over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BUCKETS = 10
"""The trial is cut into so many parts of equal length; the median latency of each counts, so that a
hiccup of the machine does not."""


def latency_slope(moments: NDArray[np.float64], latency: NDArray[np.float64]) -> float:
    """Return by how many seconds latency rises per second.

    The least-squares slope through the medians of `BUCKETS` parts (section 5.1: the slope of the
    tuples' latency after the warm-up).

    Parameters
    ----------
    moments, latency
        When each tuple was due, rising, and how long it took, s; at least 2.
    """
    parts = np.array_split(np.arange(len(moments)), min(BUCKETS, len(moments)))
    when = [float(np.median(moments[part])) for part in parts]
    long = [float(np.median(latency[part])) for part in parts]
    return float(np.polyfit(when, long, 1)[0]) if len(parts) > 1 else 0.0
