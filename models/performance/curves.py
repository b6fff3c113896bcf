"""The functions I, C, M and T of the article: a performance model read between its points.

Section 6 names them: I(q), C(q), M(q) are peak rate, CPU and memory of q threads on one slot,
T(w) the smallest number of threads whose peak rate is at least w. Between measured counts I, C
and M are interpolated linearly; beyond the last one they keep its value. T looks at measured
counts only. This reading reproduces the article's figures.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from fractions import Fraction

from slotwise.models.performance.model import Measurement, PerformanceModel


class Interpolation(StrEnum):
    """How a model is read between two measured thread counts."""

    LINEAR = "linear"
    NEAREST = "nearest"
    """The values of the nearest measured count; halfway, of the smaller one."""


def measured_at(
    model: PerformanceModel, threads: int, how: Interpolation = Interpolation.LINEAR
) -> Measurement:
    """Return I, C and M of `threads` (1 or more) on one slot."""
    points = model.measurements
    above = bisect_right(points, threads, key=lambda point: point.threads)
    low, high = points[above - 1], points[min(above, len(points) - 1)]
    if low.threads == threads or low is high:
        return Measurement(threads, low.peak_rate, low.cpu, low.memory, low.source)
    part = Fraction(threads - low.threads, high.threads - low.threads)
    if how is Interpolation.NEAREST:
        part = Fraction(2 * part > 1)
    return Measurement(
        threads,
        low.peak_rate + part * (high.peak_rate - low.peak_rate),
        low.cpu + part * (high.cpu - low.cpu),
        low.memory + part * (high.memory - low.memory),
        "interpolated",
    )


def full_bundle(model: PerformanceModel) -> Measurement:
    """Return the measurement of the highest peak rate, with the fewest threads that reach it."""
    return max(model.measurements, key=lambda point: (point.peak_rate, -point.threads))


def best_rate(model: PerformanceModel) -> Fraction:
    """Return the highest peak rate of one slot, tuples/s: max over q of I(q)."""
    return full_bundle(model).peak_rate


def threads_for(model: PerformanceModel, rate: Fraction) -> int:
    """Return T(rate): the fewest measured threads that support `rate` on one slot.

    Raises
    ------
    ValueError
        Where `rate` is above `best_rate`.
    """
    for point in model.measurements:
        if point.peak_rate >= rate:
            return point.threads
    raise ValueError(f"{model.name}: no number of threads supports {float(rate):g} tuples/s")
