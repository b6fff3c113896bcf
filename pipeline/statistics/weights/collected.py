"""The small tables from which weights are made, as Spark's jobs leave them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import TypeVar

from slotwise.pipeline.statistics.weights.presence import Presence

Item = TypeVar("Item")

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
class Covered:
    """How much of a component the logs show.

    `tasks` and `windows` have reports; `windows_of_task` is how many windows each task would have
    if none was lost. Of a topology that was submitted several times, `tasks` is the most at once.
    """

    topology: str
    source: str
    component: str
    tasks: int
    windows: int
    windows_of_task: int


@dataclass(frozen=True, slots=True)
class Signs:
    """What reports of a topology and source say of the time that each covers.

    Parameters
    ----------
    gaps
        Seconds between two reports of a task -> how often.
    amounts
        The same -> what was handled in all.
    phases
        Worker -> its commonest time within the interval, seconds.
    uptimes
        Worker -> its commonest uptime within the interval, seconds; none: not known.
    """

    gaps: Mapping[int, int]
    amounts: Mapping[int, int] = field(default_factory=dict)
    phases: Mapping[str, int] = field(default_factory=dict)
    uptimes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimelinePoint:
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
    why. `lines` is how many lines the files have (0: not counted); `is_stated` whether the interval
    was not recognised but stated; `signs` are those that one which was recognised is held against.
    """

    overview: Mapping[tuple[str, str], Overview]
    interval_s: Mapping[tuple[str, str], float]
    clocks: Mapping[str, int]
    values: Mapping[Subject, Value]
    parts: Mapping[Subject, Fraction]
    presences: tuple[Presence, ...]
    timeline: tuple[TimelinePoint, ...] = ()
    unreadable: tuple[str, ...] = ()
    covered: tuple[Covered, ...] = ()
    signs: Mapping[tuple[str, str], Signs] = field(default_factory=dict)
    lines: int = 0
    is_stated: bool = False

    def by_topology(self, topologies: Iterable[str]) -> dict[str, Collected]:
        """Return topology -> its own rows of all tables; what is of no topology is in each.

        Whoever reads one topology after the other would else search the rows of all for each.
        """
        overview = _grouped(self.overview.items(), lambda row: row[0][0])
        interval_s = _grouped(self.interval_s.items(), lambda row: row[0][0])
        signs = _grouped(self.signs.items(), lambda row: row[0][0])
        values = _grouped(self.values.items(), lambda row: row[0][1])
        parts = _grouped(self.parts.items(), lambda row: row[0][1])
        presences = _grouped(self.presences, lambda one: one.topology)
        covered = _grouped(self.covered, lambda one: one.topology)
        timeline = _grouped(self.timeline, lambda one: one.subject[1])
        return {
            topology: replace(
                self,
                overview=dict(overview[topology]),
                interval_s=dict(interval_s[topology]),
                signs=dict(signs[topology]),
                values=dict(values[topology]),
                parts=dict(parts[topology]),
                presences=tuple(presences[topology]),
                covered=tuple(covered[topology]),
                timeline=tuple(timeline[topology]),
            )
            for topology in topologies
        }


def _grouped(items: Iterable[Item], topology_of: Callable[[Item], str]) -> dict[str, list[Item]]:
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[topology_of(item)].append(item)
    return groups
