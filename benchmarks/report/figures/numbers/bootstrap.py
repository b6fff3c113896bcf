"""The mean of distances over instances, with its confidence interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from slotwise.benchmarks.aggregation.intervals import generator, mean_interval
from slotwise.benchmarks.analysis.cases import Case
from slotwise.benchmarks.report.figures.numbers.panels import Excess


def mean_with_interval(
    excess: Excess, cases: Iterable[Case], *names: str
) -> tuple[float, float | None, float | None]:
    """Return the mean over `cases`, at least one, and its 95 % interval by the bootstrap.

    The seeds of an instance are averaged first: they are no independent instances. There is no
    interval for fewer than `aggregation.intervals.LEAST_INSTANCES`. `names` seed what is drawn.
    """
    by_instance: dict[str, list[float]] = defaultdict(list)
    for case in sorted(cases):
        by_instance[case[0]].append(excess[case])
    means = [fmean(some) for some in by_instance.values()]
    low, high = mean_interval(means, generator(0, *names)) or (None, None)
    return fmean(means), low, high
