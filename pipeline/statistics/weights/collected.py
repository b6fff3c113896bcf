"""The small tables from which weights are made, as Spark's jobs leave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from slotwise.pipeline.statistics.weights.presence import Seen

Subject = tuple[str, str, str, str | None, str | None]
"""Subject, topology, source, `a`, `b`, as in `SERIES`."""


@dataclass(frozen=True, slots=True)
class Value:
    """A collected statistic in the units of `SERIES`; `low` and `high` as in `Weight`."""

    value: Fraction
    samples: int
    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True, slots=True)
class Overview:
    """What samples there are of a topology from one kind of lines."""

    samples: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class Moment:
    """The mean of a subject in the step of time that begins at `time`."""

    subject: Subject
    time: datetime
    value: Fraction


@dataclass(frozen=True, slots=True)
class Collected:
    """The small tables from which weights are made.

    `parts` counts the series of an edge (tasks and streams, or pairs of tasks) that are there at a
    time, on average; `interval_s` has the seconds between two samples of a task, by topology and
    source. `timeline` is in the order of time. `unreadable` says which files could not be read, and
    why. `busy` is how many samples of tasks that were busy for longer than there was time (see
    `windows.MOST_BUSY`) count for nothing.
    """

    overview: Mapping[tuple[str, str], Overview]
    interval_s: Mapping[tuple[str, str], float]
    clocks: Mapping[str, int]
    values: Mapping[Subject, Value]
    parts: Mapping[Subject, Fraction]
    seen: tuple[Seen, ...]
    timeline: tuple[Moment, ...] = ()
    unreadable: tuple[str, ...] = ()
    busy: int = 0
