"""Means, spreads and counts over rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median

from slotwise.benchmarks.grading.rows import KILLED, Row, reason_of, term_values

TIME_SHIFT_S = 0.01
"""Shift of the geometric mean of times: exp(mean(log(t + shift))) - shift, seconds."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Number, mean, median and maximum of some gaps; all but the number ``None`` where 0."""

    count: int
    mean: float | None
    median: float | None
    most: float | None


def spread(numbers: Sequence[float]) -> Spread:
    """Return the spread of `numbers`."""
    if not numbers:
        return Spread(0, None, None, None)
    return Spread(len(numbers), mean(numbers), median(numbers), max(numbers))


def seconds_of(row: Row) -> float:
    """Return the wall-clock time of a row; a run that did not end counts at the limit, at least."""
    least = float(row["time_limit_s"]) if row["status"] in KILLED else 0.0
    return max(least, float(row["wall_s"] or 0.0))


def shifted_geometric_mean(seconds: Sequence[float], shift: float = TIME_SHIFT_S) -> float:
    """Return exp(mean(log(t + shift))) - shift; 0 for no times."""
    if not seconds:
        return 0.0
    return math.exp(mean(math.log(t + shift) for t in seconds)) - shift


def overloads(rows: Iterable[Row]) -> list[float]:
    """Return the term ``overload`` of the rows that have it."""
    return [float(values["overload"]) for values in map(term_values, rows) if "overload" in values]


def nodes_used(rows: Iterable[Row]) -> list[float]:
    """Return how many nodes hold a task, of the rows whose placement is kept."""
    return [
        len({node for node in json.loads(row["placement"])["nodes"] if node >= 0})
        for row in rows
        if row["placement"]
    ]


def reasons(rows: Iterable[Row]) -> tuple[tuple[str, int], ...]:
    """Return why there was no valid placement and how often, most frequent first."""
    counted = Counter(reason for row in rows if (reason := reason_of(row)) is not None)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
