"""What samples tell beside their sums: how many, when, how often, and the clock rates of nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.weights.collected import Overview
from slotwise.pipeline.statistics.weights.reporting import Gap
from slotwise.pipeline.statistics.weights.windows import start_of

FACTS = (
    "topology string, source string, node string, is_pair boolean, gap_us bigint, hz bigint, "
    "start timestamp, samples bigint, first timestamp, last timestamp"
)
"""Counts of samples of the window that begins at `start`. `node` and `hz` are those of lines that
state a clock rate; `gap_us` is that of samples by which tasks report, and `is_pair` says whether
two tasks do."""

_PAIRS = "pair_tuples"
_REPORTS = ("execute_count", "emit_count", "cpu_ns", _PAIRS)


def facts_of(samples: DataFrame, window_s: int, *apart: str) -> DataFrame:
    """Give `FACTS` from `SAMPLES`, kept apart by more columns; those of all parts are all facts."""
    metric = fn.col("metric")
    reports, states = metric.isin(*_REPORTS), metric == "clock_hz"
    return samples.groupBy(
        *("topology", "source"),
        fn.when(states, fn.col("node")).alias("node"),
        fn.when(reports, metric == _PAIRS).alias("is_pair"),
        fn.when(reports, fn.col("gap_us")).alias("gap_us"),
        fn.when(states, fn.col("value")).alias("hz"),
        start_of(window_s).alias("start"),
        *apart,
    ).agg(
        fn.count(fn.lit(1)).alias("samples"),
        fn.min("time").alias("first"),
        fn.max("time").alias("last"),
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of all samples.

    Attributes
    ----------
    overview
        Their number and times, by topology and source.
    clocks
        Node -> clock rate in Hz, where the lines say so: the commonest, of several the highest.
    gaps
        See `Gap`.
    """

    overview: Mapping[tuple[str, str], Overview]
    clocks: Mapping[str, int]
    gaps: tuple[Gap, ...]


def collect_facts(facts: DataFrame) -> Facts:
    """Return what several tables of `FACTS` say; runs a job."""
    keys = ("topology", "source", "node", "is_pair", "gap_us", "hz")
    together = facts.groupBy(*keys).agg(
        fn.sum("samples").alias("samples"),
        fn.unix_millis(fn.min("first")).alias("first"),
        fn.unix_millis(fn.max("last")).alias("last"),
    )
    rows = together.collect()
    by_key: dict[tuple[str, str], list[Any]] = defaultdict(list)
    rates: dict[str, Counter[int]] = defaultdict(Counter)
    for row in rows:
        by_key[row.topology, row.source].append(row)
        if row.hz is not None:
            rates[row.node][row.hz] += row.samples
    return Facts(
        overview={
            key: Overview(
                sum(row.samples for row in several),
                utc(min(row["first"] for row in several)),
                utc(max(row["last"] for row in several)),
            )
            for key, several in sorted(by_key.items())
        },
        clocks={node: max(of, key=lambda hz: (of[hz], hz)) for node, of in sorted(rates.items())},
        gaps=tuple(
            Gap(row.topology, row.source, row.is_pair, row.gap_us, row.samples)
            for row in rows
            if row.gap_us is not None
        ),
    )


def utc(ms: int) -> datetime:
    """Return milliseconds since 1970 as a time in UTC, whatever the session's time zone."""
    return datetime.fromtimestamp(ms / 1000, UTC)
