"""The performance model of a task: what one slot supports with a number of threads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from slotwise.models.errors import InputError, at
from slotwise.models.nouns import SPARSE, Exact, Noun, Positive
from slotwise.models.values import name, plain


@dataclass(frozen=True, slots=True)
class Measurement(Noun):
    """What one slot supports with a number of threads of one task.

    Parameters
    ----------
    threads
        Threads of the task on one slot.
    peak_rate
        Highest stable input rate, tuples/s.
    cpu
        CPU used at that rate, % of the slot above its base load; above 100 where the task was
        measured on more than its slot.
    memory
        Memory used, % of the slot above its base load.
    source
        Where the figures come from.
    """

    threads: Positive
    peak_rate: Exact
    cpu: Exact
    memory: Exact
    source: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class PerformanceModel:
    """The measurements of one task, by threads.

    Parameters
    ----------
    name
        Name of the kind of task, for example ``blob``.
    measurements
        In the order of their threads, each count once, from 1 thread on; the peak rates rise or
        stay up to the highest one (`curves.best_rate`).

    Raises
    ------
    InputError
        Where a rule above is broken.
    """

    name: str
    measurements: tuple[Measurement, ...]

    def __post_init__(self) -> None:
        """Refuse what no interpolation can use."""
        counts = [one.threads for one in self.measurements]
        if not counts:
            raise InputError("a model needs at least one measurement", field="measurements")
        if counts[0] != 1:
            raise InputError(
                "the measurement of 1 thread is missing: every allocation starts from it",
                field="measurements[0].threads",
                value=counts[0],
            )
        for index, (before, here) in enumerate(pairwise(counts), 1):
            if here <= before:
                raise InputError(
                    f"must be above {before}, the number before it: each number of threads is "
                    "measured once, in increasing order",
                    field=f"measurements[{index}].threads",
                    value=here,
                )
        self._check_rising_to_peak()

    def _check_rising_to_peak(self) -> None:
        rates = [one.peak_rate for one in self.measurements]
        peak = rates.index(max(rates))
        for index in range(1, peak):
            if rates[index] < rates[index - 1]:
                raise InputError(
                    f"must be at least {float(rates[index - 1]):g}, the rate with fewer threads: a "
                    "curve falls only beyond its highest rate; measure this point again "
                    "(docs/methods/sam.md, Performance models)",
                    field=f"measurements[{index}].peak_rate",
                    value=plain(rates[index]),
                )


# The functions I, C, M and T of the article: a performance model read between its points.
#
# Section 6 names them: I(q), C(q), M(q) are peak rate, CPU and memory of q threads on one slot,
# T(w) the smallest number of threads whose peak rate is at least w. Between measured counts I, C
# and M are interpolated linearly; beyond the last one they keep its value. T looks at measured
# counts only. This reading reproduces the article's figures.


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


# The rows of performance model files: one measurement each, and how they become models.

COLUMNS = ("task", "threads", "peak_rate", "cpu", "memory", "source")
"""Of CSV and Parquet files; ``source`` may be left out."""

UNITS = {"peak_rate": "tuples/s", "cpu": "%", "memory": "%"}
"""The units of all our files: rates per second; shares of one slot above its base load."""

Models = dict[str, PerformanceModel]
"""Name of a kind of task -> its model."""


def models_of(rows: Mapping[str, Iterable[Measurement]], field: str) -> Models:
    """Return name -> model; `field` precedes the name of a model in messages.

    Raises
    ------
    InputError
        For a file without models, or one whose measurements break a rule of `PerformanceModel`.
    """
    if not rows:
        raise InputError("has no models", field=field, has_value=False)
    models = {}
    for task, measured in rows.items():
        with at(f"{field}.{task}"):
            models[task] = PerformanceModel(name(task, ""), tuple(measured))
    return models
