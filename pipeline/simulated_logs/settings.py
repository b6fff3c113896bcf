"""What can be chosen about simulated logs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from slotwise.models.errors import InputError
from slotwise.models.values import one_of, whole

KINDS = ("storm", "json", "both")
METRICS = ("v1", "v2")
MOST_LINES = 10**10
MOST_SECONDS = 10**6
LAST_START, LAST_TIME = 10**11, 253_402_300_799
"""In seconds since 1970; dates end with the year 9999."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How much is simulated, and what goes wrong.

    Parameters
    ----------
    lines
        Least number of lines in all, before faults; whole buckets are written.
    seed
        Of every random choice, 0 or more.
    kind
        ``storm`` (lines of ``LoggingMetricsConsumer``), ``json`` or ``both``.
    metrics
        Of the Storm lines: ``v1`` (counts of a bucket, in maps) or ``v2`` (counts since the
        worker's start, names cut at 23 characters), as `storm_lines` explains.
    files
        Files of a topology and kind; Storm's is the parallelism of the consumer.
    gzip
        Whether files are compressed.
    bucket_seconds
        Seconds between two reports of a task.
    start
        When the topologies start, seconds since 1970.
    rate
        Tuples per second of each component without input, where streams have no rates.
    tuple_bytes
        Size of a tuple where a stream has none.
    ghz
        Clock rates of the nodes in GHz, in the cluster's order, repeated as needed. Demands of
        the instance hold at the first.
    noise
        Standard deviation of the logarithm of latencies and sizes, whose mean stays the truth;
        counts are then Poisson. 0 = everything is exact.
    faults
        Share of lines with a fault; each kind of `faults.FAULTS` is as frequent as the others.
    late_by
        Least delay of a late line, seconds; the most is twice that. Lines out of order are delayed
        by 1.25 to 2.5 buckets, so it must be at least 3.
    skew
        Most seconds by which a node's clock is wrong, either way.
    restarts
        How many times a worker restarts; its cumulative counters fall.
    scale
        Component (``topology/component`` with several topologies) -> factor of its cost per tuple.
    scale_from
        Seconds after the start from which `scale` holds.
    """

    lines: int
    seed: int = 0
    kind: str = "both"
    metrics: str = "v1"
    files: int = 1
    gzip: bool = False
    bucket_seconds: int = 60
    start: int = 1_700_000_040
    rate: float = 1000.0
    tuple_bytes: float = 1.0
    ghz: tuple[float, ...] = (2.0,)
    noise: float = 0.05
    faults: float = 0.0
    late_by: int = 900
    skew: int = 0
    restarts: int = 0
    scale: Mapping[str, float] = field(default_factory=dict)
    scale_from: int = 0

    def __post_init__(self) -> None:
        """Check each field."""
        one_of(self.kind, KINDS, "kind")
        one_of(self.metrics, METRICS, "metrics")
        _within(self.lines, "lines", 1, MOST_LINES)
        _within(self.files, "files", 1, 1000)
        _within(self.bucket_seconds, "bucket_seconds", 1, 86_400)
        _within(self.late_by, "late_by", 10, MOST_SECONDS)
        _within(self.skew, "skew", 0, MOST_SECONDS)
        _within(self.start, "start", 0, LAST_START)
        for key in ("seed", "restarts", "scale_from"):
            whole(getattr(self, key), key)
        _number(self.rate, "rate", 1e-6, 1e9)
        _number(self.tuple_bytes, "tuple_bytes", 1e-6, 1e9)
        _number(self.noise, "noise", 0, 1)
        _number(self.faults, "faults", 0, 0.5)
        if self.faults and self.late_by < 3 * self.bucket_seconds:
            raise InputError("must be 3 buckets or more", field="late_by", value=self.late_by)
        if not self.ghz:
            raise InputError("must name at least one clock rate", field="ghz", has_value=False)
        for value in self.ghz:
            _number(value, "ghz", 0.1, 100)
        for key, value in self.scale.items():
            _number(value, f"scale.{key}", 1e-6, 1e6)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of lines that are written."""
        return ("storm", "json") if self.kind == "both" else (self.kind,)


def _within(value: int, field_name: str, least: int, most: int) -> None:
    whole(value, field_name, least=least)
    if value > most:
        raise InputError(f"must be at most {most}", field=field_name, value=value)


def _number(value: object, field_name: str, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("must be a finite number", field=field_name, value=value)
    if not least <= value <= most:
        raise InputError(f"must be from {least:g} to {most:g}", field=field_name, value=value)
