"""What samples tell beside their sums: how many, when, how often, and the clock rates of nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.schema import UNREADABLE
from slotwise.pipeline.statistics.weights.collected import Overview
from slotwise.pipeline.statistics.weights.reporting import Gap
from slotwise.pipeline.statistics.weights.windows import start_of

FACTS = (
    "topology string, source string, node string, is_pair boolean, gap_us bigint, hz bigint, "
    "start timestamp, reason string, unreadable string, samples bigint, aside bigint, "
    "first timestamp, last timestamp"
)
"""Numbers of samples, and of lines that were kept aside.

Samples are those of the window that begins at `start`. `node` and `hz` are those of lines that
state a clock rate; `gap_us` is that of samples by which tasks report, and `is_pair` says whether
two tasks do. `reason` is why the lines were kept aside, `unreadable` a file that could not be read.
"""

_PAIRS = "pair_tuples"
_REPORTS = ("execute_count", "emit_count", "cpu_ns", _PAIRS)


def facts_of(judged: DataFrame, window_s: int, *apart: str) -> DataFrame:
    """Give `FACTS` from `JUDGED`, kept apart by more columns; those of all parts are all facts."""
    metric, reason = fn.col("metric"), fn.col("reason")
    is_sample, is_aside = fn.col("is_sample"), fn.col("is_aside")
    reports = is_sample & metric.isin(*_REPORTS)
    states = is_sample & (metric == "clock_hz")
    return (
        judged.where(is_sample | is_aside)
        .groupBy(
            *("topology", "source"),
            fn.when(states, fn.col("node")).alias("node"),
            fn.when(reports, metric == _PAIRS).alias("is_pair"),
            fn.when(reports, fn.col("gap_us")).alias("gap_us"),
            fn.when(states, fn.col("value")).alias("hz"),
            fn.when(is_sample, start_of(window_s)).alias("start"),
            fn.when(is_aside, reason).alias("reason"),
            fn.when(is_aside & (reason == UNREADABLE), fn.col("line")).alias("unreadable"),
            *apart,
        )
        .agg(
            fn.count_if(is_sample).alias("samples"),
            fn.count_if(is_aside).alias("aside"),
            fn.min(fn.when(is_sample, fn.col("time"))).alias("first"),
            fn.max(fn.when(is_sample, fn.col("time"))).alias("last"),
        )
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of all samples, and of the lines that were kept aside.

    Attributes
    ----------
    overview
        Their number and times, by topology and source.
    clocks
        Node -> clock rate in Hz, where the lines say so: the commonest, of several the highest.
    gaps
        See `Gap`.
    kept_aside
        Reason -> lines, also those whose time is not known.
    unreadable
        The files that could not be read, and why.
    """

    overview: Mapping[tuple[str, str], Overview]
    clocks: Mapping[str, int]
    gaps: tuple[Gap, ...]
    kept_aside: Mapping[str, int]
    unreadable: tuple[str, ...]


def collect_facts(facts: DataFrame) -> Facts:
    """Return what several tables of `FACTS` say; runs a job."""
    keys = ("topology", "source", "node", "is_pair", "gap_us", "hz", "reason", "unreadable")
    together = facts.groupBy(*keys).agg(
        fn.sum("samples").alias("samples"),
        fn.sum("aside").alias("aside"),
        fn.unix_millis(fn.min("first")).alias("first"),
        fn.unix_millis(fn.max("last")).alias("last"),
    )
    of_all = together.collect()
    rows = [row for row in of_all if row.samples]
    kept_aside: Counter[str] = Counter()
    for row in sorted((row for row in of_all if row.aside), key=lambda row: row.reason):
        kept_aside[row.reason] += row.aside
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
        kept_aside=kept_aside,
        unreadable=tuple(sorted(row.unreadable for row in of_all if row.unreadable)),
    )


def utc(ms: int) -> datetime:
    """Return milliseconds since 1970 as a time in UTC, whatever the session's time zone."""
    return datetime.fromtimestamp(ms / 1000, UTC)
