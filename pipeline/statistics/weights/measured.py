"""What was measured: one weight per component and stream, small enough to be collected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from slotwise.models.values import MAX_DECIMALS
from slotwise.pipeline.statistics.schema import HARMLESS

SIGNIFICANT_DIGITS = 6
"""Of a measured weight."""


def rounded(value: Fraction) -> Decimal:
    """Return a measured number with 6 significant digits and at most 6 decimals (half to even)."""
    if value == 0:
        return Decimal(0)
    y, x = value.numerator, value.denominator
    places = min(MAX_DECIMALS, SIGNIFICANT_DIGITS - 1 - (Decimal(y) / Decimal(x)).adjusted())
    y, x = (y * 10**places, x) if places >= 0 else (y, x * 10**-places)
    # As `round` of a fraction does, but in half its time.
    whole, rest = divmod(y, x)
    up = 2 * rest > x or (2 * rest == x and whole % 2 == 1)
    return Decimal(whole + up).scaleb(-places).normalize() + Decimal(0)


@dataclass(frozen=True, slots=True)
class Weight:
    """One measured number.

    Parameters
    ----------
    value
        The chosen statistic, 6 significant digits.
    samples
        How many samples it rests on: one per task and interval (per worker and interval for
        memory).
    low, high
        95 % confidence interval; ``None`` where there is none (a maximum, or too few windows).
    estimated
        Whether the logs do not tell it, so that it was computed from counts, groupings and
        stated sizes.
    """

    value: Decimal
    samples: int
    low: Decimal | None = None
    high: Decimal | None = None
    estimated: bool = False

    def to_document(self) -> dict[str, Any]:
        """Return the fields, numbers as JSON has them."""
        return {
            "value": float(self.value),
            "samples": self.samples,
            "low": None if self.low is None else float(self.low),
            "high": None if self.high is None else float(self.high),
            "estimated": self.estimated,
        }


def _document(noun: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields `names` as they are, and the weights as documents (``None`` = no logs)."""
    weights = [one.name for one in fields(noun) if one.name not in names]
    return {name: getattr(noun, name) for name in names} | {
        name: None if getattr(noun, name) is None else getattr(noun, name).to_document()
        for name in weights
    }


@dataclass(frozen=True, slots=True)
class ComponentWeights:
    """What a task of a component needs; a weight is ``None`` where the logs do not tell it.

    Parameters
    ----------
    topology, component
        Ids in the topology file.
    tasks
        How many tasks the logs have.
    cost
        Computation cost: GHz times milliseconds per tuple (StroMAX, 3.3).
    cpu
        Points of one task (100 = one core of the slowest node).
    onheap_mb, offheap_mb
        Memory of one task.
    service_ms
        Milliseconds per tuple on a core of the slowest node: `cost` over its clock rate.
    """

    topology: str
    component: str
    tasks: int
    cost: Weight | None = None
    cpu: Weight | None = None
    onheap_mb: Weight | None = None
    offheap_mb: Weight | None = None
    service_ms: Weight | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the fields, JSON-ready."""
        return _document(self, ("topology", "component", "tasks"))


@dataclass(frozen=True, slots=True)
class StreamWeights:
    """What flows between two components; a weight is ``None`` where the logs do not tell it.

    Parameters
    ----------
    topology, source, target
        Ids in the topology file.
    received
        Tuples per second that all tasks of `target` together receive from `source`.
    tuple_bytes
        Mean size of a tuple.
    """

    topology: str
    source: str
    target: str
    received: Weight | None = None
    tuple_bytes: Weight | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the fields, JSON-ready."""
        return _document(self, ("topology", "source", "target"))


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Computation cost of one task, GHz times milliseconds per tuple.

    `task` is as in the logs.
    """

    topology: str
    component: str
    task: str
    cost: Weight

    def to_document(self) -> dict[str, Any]:
        """Return the fields, JSON-ready."""
        return _document(self, ("topology", "component", "task"))


@dataclass(frozen=True, slots=True)
class PairCost:
    """Communication cost from one task to another (StroMAX, 3.3), as the logs name them."""

    topology: str
    source: str
    target: str
    kib_per_tuple: Weight | None
    kib_per_second: Weight | None

    def to_document(self) -> dict[str, Any]:
        """Return the fields, JSON-ready."""
        return _document(self, ("topology", "source", "target"))


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """Where a task ran last.

    `task` is as in the logs, `node` too; `worker` is a port, ``None`` = not known.
    """

    topology: str
    component: str
    task: str
    node: str
    worker: int | None
    time: datetime


@dataclass(frozen=True, slots=True)
class Line:
    """A weight over time: cpu of a task of a component, or what a target receives from a source.

    Parameters
    ----------
    topology, name
        Of what: a component, or ``source -> target``.
    unit
        ``points`` or ``tuples/s``.
    points
        Time and value, the mean of the step of time that begins there.
    """

    topology: str
    name: str
    unit: str
    points: tuple[tuple[datetime, float], ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """Seconds that a sample of a topology covers, by kind of lines (`storm` or `json`).

    `is_stated`: with ``--interval``; else it is the commonest gap between two samples of a task.
    """

    topology: str
    source: str
    seconds: float
    is_stated: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a component one kind of lines shows.

    Parameters
    ----------
    topology, component, source
        Of what, and by which lines.
    tasks, tasks_expected
        Tasks that the logs have, and that the topology file has.
    windows, windows_expected
        Windows of all tasks with a sample, and between the first and the last sample of the
        topology. A window is as long as an interval where that is longer.
    """

    topology: str
    component: str
    source: str
    tasks: int
    tasks_expected: int
    windows: int
    windows_expected: int

    @property
    def share(self) -> float:
        """Seen of expected windows, from 0 to 1."""
        return min(1.0, self.windows / self.windows_expected)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the samples of some logs say: the small result of the pipeline.

    Parameters
    ----------
    statistic
        ``mean``, ``p50``, ``p95`` or ``max``.
    window_s
        Length of a window, seconds.
    first, last
        Times of the first and the last sample.
    samples
        How many numbers it rests on.
    components, streams
        The weights, in the order of the topology file.
    tasks, pairs
        Costs per task and per pair of tasks.
    places
        Where each task ran last.
    thrown_away
        Reason -> how many lines were kept aside.
    lines
        Demands and rates over time.
    notes
        What people should know, one line each.
    lines_read
        How many lines the files have; 0 = not counted.
    intervals, coverage
        What a sample covers, and how much of what ran was sampled.
    """

    statistic: str
    window_s: int
    first: datetime
    last: datetime
    samples: int
    components: tuple[ComponentWeights, ...]
    streams: tuple[StreamWeights, ...]
    tasks: tuple[TaskCost, ...] = ()
    pairs: tuple[PairCost, ...] = ()
    places: tuple[TaskPlace, ...] = ()
    thrown_away: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
    lines_read: int = 0
    intervals: tuple[Interval, ...] = ()
    coverage: tuple[Coverage, ...] = ()

    @property
    def damaged(self) -> int:
        """Lines kept aside because they are damaged."""
        return sum(n for reason, n in self.thrown_away.items() if reason not in HARMLESS)

    def __repr__(self) -> str:
        """One line: what there is how many of."""
        return (
            f"Measured: {self.statistic} of {self.samples} samples, "
            f"{len(self.components)} components, {len(self.streams)} streams"
        )

    def to_document(self) -> dict[str, Any]:
        """Return what ``measure --json`` prints, without the instance."""
        return {
            "statistic": self.statistic,
            "window_s": self.window_s,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "samples": self.samples,
            "components": [one.to_document() for one in self.components],
            "streams": [one.to_document() for one in self.streams],
            "tasks": [one.to_document() for one in self.tasks],
            "pairs": [one.to_document() for one in self.pairs],
            "thrown_away": dict(self.thrown_away),
            "notes": list(self.notes),
            "lines_read": self.lines_read,
            "damaged": self.damaged,
            "intervals": [asdict(one) for one in self.intervals],
            "coverage": [asdict(one) for one in self.coverage],
        }
