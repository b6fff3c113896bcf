"""The module that starts the jobs for weights: samples in, the small tables out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.spark.scratch import Store
from slotwise.pipeline.statistics.schema import UNREADABLE
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.collected import (
    Collected,
    Moment,
    Overview,
    Subject,
    Value,
)
from slotwise.pipeline.statistics.weights.presence import (
    Seen,
    Span,
    generations,
    longest_gap_s,
    mean_parts,
)
from slotwise.pipeline.statistics.weights.rhythm import (
    DEFAULT_INTERVAL_S,
    Rhythm,
    Rhythms,
    rhythms,
    timed,
)
from slotwise.pipeline.statistics.weights.series import REST_CPU, ends, series
from slotwise.pipeline.statistics.weights.statistic import (
    STATISTICS,
    means,
    percentiles,
    t_quantile,
)

STEPS = 240
"""Most points of a line over time."""


def overview(samples: DataFrame) -> dict[tuple[str, str], Overview]:
    """Count the samples by topology and source."""
    counted = samples.groupBy("topology", "source").agg(
        fn.count(fn.lit(1)).alias("samples"),
        fn.unix_millis(fn.min("time")).alias("first"),
        fn.unix_millis(fn.max("time")).alias("last"),
    )
    return {
        (row.topology, row.source): Overview(row.samples, _time(row.first), _time(row.last))
        for row in counted.collect()
    }


def clock_rates(samples: DataFrame) -> dict[str, int]:
    """Return node -> clock rate in Hz, where the lines say so (the highest)."""
    stated = samples.where(fn.col("metric") == "clock_hz")
    rows = stated.groupBy("node").agg(fn.max("value").alias("hz")).collect()
    return {row.node: row.hz for row in rows}


def collect_weights(
    samples: DataFrame,
    statistic: str,
    window_s: int,
    clocks: Mapping[str, int],
    interval_s: float | None,
    stored: Store,
) -> Collected:
    """Run the jobs that make the small tables of `samples`.

    Parameters
    ----------
    samples
        `SAMPLES`.
    statistic
        A name of `STATISTICS`.
    window_s
        Length of a window, seconds.
    clocks
        Node -> Hz; what the lines say goes before.
    interval_s
        Seconds between two samples of a task; ``None`` = recognised.
    stored
        Of `scratch`, for tables between jobs.
    """
    found = overview(samples)
    beats = rhythms_of(samples, found, interval_s)
    known = {**clocks, **clock_rates(samples)}
    sums = stored(w.by_window(w.by_interval(samples), f"{window_s} seconds", known))
    windows = stored(timed(sums, beats))
    rows = stored(series(windows))
    found_weights = collect_windows(windows, rows, found, beats, known, statistic)
    return replace(found_weights, timeline=collect_timeline(rows, found, window_s))


def collect_windows(
    windows: DataFrame,
    rows: DataFrame,
    found: Mapping[tuple[str, str], Overview],
    beats: Rhythms,
    clocks: Mapping[str, int],
    statistic: str,
) -> Collected:
    """Run the jobs that make the small tables of `WINDOWS` and their `SERIES`: not the timeline."""
    intervals = {key: one.interval_s for key, one in beats.items()}
    seen = collect_seen(windows, intervals)
    return Collected(
        overview=found,
        interval_s=intervals,
        clocks=clocks,
        values=collect_values(rows, statistic),
        parts=collect_parts(windows, seen, intervals),
        seen=seen,
    )


def rhythms_of(
    samples: DataFrame, found: Mapping[tuple[str, str], Overview], interval_s: float | None
) -> Rhythms:
    """Return how often tasks report; as asked for, else recognised (``None``)."""
    if interval_s is None:
        return rhythms(samples)
    return dict.fromkeys(found, Rhythm(interval_s))


def collect_values(rows: DataFrame, statistic: str) -> dict[Subject, Value]:
    """Return the statistic of each subject of `SERIES`."""
    percent = STATISTICS[statistic]
    found = means(rows) if percent is None else percentiles(rows, percent)
    read = _mean if percent is None else _percentile
    return {_subject(row): read(row) for row in found.collect()}


def collect_parts(
    windows: DataFrame, seen: Iterable[Seen], interval_s: Mapping[tuple[str, str], float]
) -> dict[Subject, Fraction]:
    """Return how many series add up to each edge: the sum is the mean times this."""
    spans = generations(seen, interval_s, DEFAULT_INTERVAL_S)
    source, target = ends()
    emitted = fn.col("kind") == w.EMITTED
    edges = windows.where(fn.col("kind").isin(w.RECEIVED, w.SENT, w.EMITTED)).withColumns(
        {
            "subject": fn.col("kind"),
            "a": fn.when(emitted, fn.col("component")).otherwise(source),
            "b": fn.when(emitted, fn.col("other")).otherwise(target),
            "generation": _generation(spans),
        }
    )
    counted = edges.groupBy("subject", "topology", "source", "a", "b", "generation").agg(
        fn.count_distinct("task", "other").alias("parts")
    )
    counts: dict[Subject, dict[int, int]] = defaultdict(dict)
    for row in counted.collect():
        counts[_subject(row)][row.generation] = row.parts
    return {
        subject: mean_parts(
            found, spans[subject[1:3]], interval_s.get(subject[1:3], DEFAULT_INTERVAL_S)
        )
        for subject, found in counts.items()
    }


def _generation(spans: Mapping[tuple[str, str], Sequence[Span]]) -> Column:
    """Give the number of the generation that a row of `WINDOWS` belongs to, from 0."""
    begins = [
        part
        for (topology, source), several in sorted(spans.items())
        for part in (
            fn.lit(f"{source}/{topology}"),
            fn.array(*(fn.lit(round(begin * 1000)) for begin, _ in several)),
        )
    ]
    if not begins:
        return fn.lit(0)
    mine = fn.try_element_at(fn.create_map(*begins), fn.concat_ws("/", "source", "topology"))
    return fn.size(fn.filter(mine, lambda begin: begin <= fn.unix_millis("first"))) - 1


def collect_seen(
    windows: DataFrame, interval_s: Mapping[tuple[str, str], float]
) -> tuple[Seen, ...]:
    """Return which tasks were in which workers, the workers themselves (task ``-1``) too."""
    keys = ("topology", "source", "component", "task", "node", "worker", "submission")
    times = {"first": fn.unix_millis(fn.min("first")), "last": fn.unix_millis(fn.max("last"))}
    sampled = windows.where(fn.col("last").isNotNull())  # silent windows of a pair have no sample
    there = sampled.groupBy(*keys, "start").agg(*(one.alias(k) for k, one in times.items()))
    order = Window.partitionBy(*keys).orderBy("start")
    gap_ms = round(1000 * longest_gap_s(interval_s.values()))
    is_new = (fn.col("first") - fn.lag("last").over(order) > gap_ms).cast("int")
    runs = there.withColumn("new", fn.coalesce(is_new, fn.lit(0)))
    runs = runs.withColumn("run", fn.sum("new").over(order))
    found = runs.groupBy(*keys, "run").agg(
        fn.min("first").alias("first"), fn.max("last").alias("last")
    )
    rows = sorted(found.collect(), key=lambda row: tuple(str(row[key]) for key in (*keys, "first")))
    return tuple(
        Seen(
            *(row.topology, row.source, row.component, row.task, row.node or "", row.worker),
            submission=row.submission,
            first=_time(row.first),
            last=_time(row.last),
        )
        for row in rows
    )


def collect_reasons(quarantine: DataFrame) -> dict[str, int]:
    """Return reason -> number of lines of `QUARANTINE`."""
    rows = quarantine.groupBy("reason").count().collect()
    return {row["reason"]: row["count"] for row in sorted(rows, key=lambda row: row["reason"])}


def collect_unreadable(quarantine: DataFrame) -> tuple[str, ...]:
    """Return the files that could not be read, each with what is wrong with it."""
    rows = quarantine.where(fn.col("reason") == UNREADABLE).select("line").collect()
    return tuple(sorted(row.line for row in rows))


def collect_timeline(
    rows: DataFrame, found: Mapping[tuple[str, str], Overview], window_s: int
) -> tuple[Moment, ...]:
    """Return cpu and flow of `SERIES` over time, in at most `STEPS` steps of whole windows."""
    if not found:
        return ()
    first = min(one.first for one in found.values())
    span = max(one.last for one in found.values()) - first
    step_ms = 1000 * window_s * max(1, math.ceil(span.total_seconds() / window_s / STEPS))
    shown = rows.where(fn.col("subject").isin(w.CPU, REST_CPU, w.RECEIVED, w.SENT))
    step = fn.floor(fn.unix_millis("start") / step_ms) * step_ms
    keys = ("subject", "topology", "source", "a", "b", "step")
    sums = (
        shown.withColumn("step", step)
        .groupBy(*keys)
        .agg(
            fn.sum("y").cast("decimal(38,0)").alias("y"),
            fn.sum("x").cast("decimal(38,0)").alias("x"),
        )
    )
    moments = [
        Moment(_subject(row), _time(int(row.step)), Fraction(int(row.y), int(row.x)))
        for row in sums.collect()
    ]
    return tuple(sorted(moments, key=lambda one: one.time))


def _time(ms: int) -> datetime:
    """Return milliseconds since 1970 as a time in UTC, whatever the session's time zone."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def _subject(row: Any) -> Subject:
    return (row.subject, row.topology, row.source, row.a, row.b)


def _mean(row: Any) -> Value:
    value = Fraction(int(row.y), int(row.x))
    if row.error is None:
        return Value(value, row.n, None, None)
    spread = Fraction(t_quantile(row.blocks - 1) * row.error)
    return Value(value, row.n, max(Fraction(0), value - spread), value + spread)


def _percentile(row: Any) -> Value:
    low, high = (
        None if one is None else Fraction(int(one.y), int(one.x)) for one in (row.low, row.high)
    )
    return Value(Fraction(int(row.y), int(row.x)), row.n, low, high)
