"""When tasks were there: by the first and the last of their samples, not by each of them.

A task whose line is lost for a while, or whose running total has its first reading, is there all
the same. A topology that was submitted again has other tasks, perhaps under other numbers: at any
time, those of one generation are there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

LONGEST_GAP_S = 600
"""Seconds without a sample of a task beyond which it is taken as absent."""
INTERVALS = 3
"""Intervals between samples that a gap may have nevertheless."""


@dataclass(frozen=True, slots=True)
class Presence:
    """A task in a worker from the `first` to the `last` of its samples, without a long gap.

    `submission` is the id under which its topology was submitted; empty: not known. `node` is
    empty for what a JSON line says of a pair of tasks without their node.
    """

    topology: str
    source: str
    component: str
    task: str
    node: str
    worker: int | None
    submission: str
    first: datetime
    last: datetime


Span = tuple[float, float]
"""From and to, seconds since 1970."""


def longest_gap_s(interval_s: float) -> float:
    """Return the seconds without a sample after which a task is absent."""
    return max(LONGEST_GAP_S, INTERVALS * interval_s)


def generations(
    presences: Iterable[Presence], interval_s: Mapping[tuple[str, str], float], default: float
) -> dict[tuple[str, str], list[Span]]:
    """Return topology and source -> the times in which some of its tasks were there together."""
    spans: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for one in presences:
        spans[one.topology, one.source].append((one.first.timestamp(), one.last.timestamp()))
    # The samples of different workers are not of the same second.
    return {
        key: merged(several, interval_s.get(key, default) / 2) for key, several in spans.items()
    }


def merged(spans: Iterable[Span], near: float = 0) -> list[Span]:
    """Return the union of spans, in order; those at most `near` apart become one."""
    union: list[Span] = []
    for begin, end in sorted(spans):
        if union and begin <= union[-1][1] + near:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((begin, end))
    return union


def mean_parts(counts: Mapping[int, int], spans: Mapping[int, Span], interval_s: float) -> Fraction:
    """Return how many parts an edge has, on average over the generations that have any.

    `counts` is when a generation begins, ms -> how many parts it has. Raises `KeyError` for a
    generation that is not among `spans`.
    """
    lengths = {}
    for at in counts:
        begin, end = spans[at]
        lengths[at] = Fraction(end - begin + interval_s).limit_denominator(1000)
    total = sum(lengths.values())
    return Fraction(sum(number * lengths[at] for at, number in counts.items())) / total


def shares(
    presences: Sequence[Presence], interval_s: float
) -> dict[tuple[str, str], dict[str, float]]:
    """Return (node, worker) -> component -> number of its tasks there, on average over time.

    All are tasks of one topology. A task that moved is in its new worker from the time on at which
    it was last seen in the old one.
    """
    of_task: dict[tuple[str, str, str], list[Presence]] = defaultdict(list)
    for one in presences:
        of_task[one.submission, one.component, one.task].append(one)
    spans: dict[tuple[str, str], dict[tuple[str, str, str], list[Span]]]
    spans = defaultdict(lambda: defaultdict(list))
    for task, several in of_task.items():
        left = None
        for one in sorted(several, key=lambda one: (one.first, one.last)):
            first, last = one.first.timestamp(), one.last.timestamp()
            is_move = left is not None and left <= first <= left + longest_gap_s(interval_s)
            begin = min(left, first - interval_s) if is_move and left else first - interval_s
            spans[one.node, str(one.worker)][task].append((begin, last))
            left = last
    shares: dict[tuple[str, str], dict[str, float]] = {}
    for place, tasks in spans.items():
        whole = _length(span for several in tasks.values() for span in several)
        counts: dict[str, float] = defaultdict(float)
        for (_, component, _), mine in tasks.items():
            counts[component] += _length(mine) / whole
        shares[place] = dict(counts)
    return shares


def _length(spans: Iterable[Span]) -> float:
    return sum(end - begin for begin, end in merged(spans))
