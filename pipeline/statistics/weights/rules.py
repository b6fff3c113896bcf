"""What the rows that are made of windows depend on beside these, recognised in all samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.columns import utc_day
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.facts import Facts
from slotwise.pipeline.statistics.weights.presence import longest_gap_s
from slotwise.pipeline.statistics.weights.reporting import (
    DEFAULT_INTERVAL_S,
    ReportingInterval,
    ReportingIntervals,
    number_of,
    reporting_intervals,
)

ALL_DAYS = "1970-01-01"
"""Stands for all days together; no sample is of that time."""

STEPS = 240
"""Most points of a line over time."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the rows of days depend on beside their sums.

    Parameters
    ----------
    window_s
        Length of a window, seconds.
    reporting
        How often tasks report.
    hz
        Node -> clock rate.
    step_s
        Length of a step of the timeline, seconds.
    is_stated
        Whether the intervals are not recognised but stated.
    """

    window_s: int
    reporting: ReportingIntervals
    hz: Mapping[str, int]
    step_s: int
    is_stated: bool

    @property
    def interval_s(self) -> dict[tuple[str, str], float]:
        """Topology and source -> seconds between two samples of a task."""
        return {key: one.interval_s for key, one in self.reporting.items()}

    def gap_ms(self) -> Column:
        """Give the milliseconds without a sample after which a task is absent.

        They are those of the row's topology and source.
        """
        gaps = {key: round(1000 * longest_gap_s(of)) for key, of in self.interval_s.items()}
        return number_of(gaps, round(1000 * longest_gap_s(DEFAULT_INTERVAL_S)))

    def day(self, topology: str, source: str, day: str) -> str:
        """Return the day that windows are looked at together with; `ALL_DAYS` for some.

        These are windows that do not divide a day, and those of lines that do not come evenly:
        what a line covers depends on the one before it.
        """
        reporting = self.reporting.get((topology, source))
        is_even = reporting is None or reporting.is_even
        return day if is_even and w.DAY_S % self.window_s == 0 else ALL_DAYS

    def day_of(self, time: str) -> Column:
        """Give the same as a date, of the row's topology, source and column `time`."""
        all_days = fn.to_date(fn.lit(ALL_DAYS))
        if w.DAY_S % self.window_s:
            return all_days
        uneven = [f"{key[1]}/{key[0]}" for key, one in self.reporting.items() if not one.is_even]
        if not uneven:
            return utc_day(fn.col(time))
        is_uneven = fn.concat_ws("/", "source", "topology").isin(uneven)
        return fn.when(is_uneven, all_days).otherwise(utc_day(fn.col(time)))


def rules_of(
    facts: Facts, window_s: int, clocks: Mapping[str, int], interval_s: float | None
) -> Rules:
    """Return the rules by the facts of all samples.

    Parameters
    ----------
    facts
        Of all samples.
    window_s
        Length of a window, seconds.
    clocks
        Node -> Hz; what the lines say goes before.
    interval_s
        Seconds between two samples of a task; ``None`` = recognised.
    """
    reporting = (
        reporting_intervals(facts.gaps)
        if interval_s is None
        else dict.fromkeys(facts.overview, ReportingInterval(interval_s))
    )
    return Rules(
        window_s=window_s,
        reporting=reporting,
        hz={**clocks, **facts.clocks},
        # A step of one day is short enough for its own timeline, and of use for a longer one.
        step_s=min(step_s(facts, window_s), _step_s(w.DAY_S, window_s)),
        is_stated=interval_s is not None,
    )


def step_s(facts: Facts, window_s: int) -> int:
    """Return the seconds of a step with which a timeline of all samples has at most `STEPS`.

    They are a power of two of windows: a longer step is several shorter ones.
    """
    times: list[datetime] = []
    for one in facts.overview.values():
        times += one.first, one.last
    span = (max(times) - min(times)).total_seconds() if times else 0
    return _step_s(span, window_s)


def _step_s(span_s: float, window_s: int) -> int:
    least = max(1, math.ceil(span_s / window_s / STEPS))
    return int(window_s * 2 ** (least - 1).bit_length())
