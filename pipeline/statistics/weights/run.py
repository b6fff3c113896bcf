"""The module that starts the jobs for weights: samples in, the small tables out."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from sys import intern
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.spark.scratch import Store
from slotwise.pipeline.spark.session import aggregated_once
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.collected import (
    Collected,
    Overview,
    Subject,
    TimelinePoint,
    Value,
)
from slotwise.pipeline.statistics.weights.facts import Facts, utc
from slotwise.pipeline.statistics.weights.presence import (
    Presence,
    Span,
    generations,
    longest_gap_s,
    mean_parts,
)
from slotwise.pipeline.statistics.weights.reporting import (
    DEFAULT_INTERVAL_S,
    ReportingInterval,
    reporting_intervals,
    with_covered_time,
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

RARE = 0.05
"""Share of the windows of its edge below which a series counts for no task."""


def collect_sums(
    windows: DataFrame,
    facts: Facts,
    statistic: str,
    window_s: int,
    clocks: Mapping[str, int],
    interval_s: float | None,
    stored: Store,
) -> Collected:
    """Run the jobs that make the small tables of `WINDOWS`.

    Parameters
    ----------
    windows
        `WINDOWS`, of `by_window`.
    facts
        Of the same samples.
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
    overviews = facts.overview
    reporting = (
        reporting_intervals(facts.gaps)
        if interval_s is None
        else dict.fromkeys(overviews, ReportingInterval(interval_s))
    )
    hz = {**clocks, **facts.clocks}
    covered = with_covered_time(w.clocked(windows, hz), reporting, stored)
    samples = _samples_of(covered, w.BUSY, w.FROM_OUTSIDE)
    # Few logs have message sizes, and they take joins.
    with aggregated_once(windows.sparkSession):
        rows = stored(series(covered, has_message_sizes=samples[w.FROM_OUTSIDE] > 0))
    intervals = {key: one.interval_s for key, one in reporting.items()}
    presences = collect_presences(covered, intervals)
    return Collected(
        overview=overviews,
        interval_s=intervals,
        clocks=hz,
        values=collect_values(rows, statistic),
        parts=collect_parts(covered, presences, intervals),
        presences=presences,
        timeline=collect_timeline(rows, overviews, window_s),
        busy=samples[w.BUSY],
    )


def _samples_of(windows: DataFrame, *kinds: str) -> Counter[str]:
    """Return kind -> number of samples, for some kinds."""
    counted = windows.where(fn.col("kind").isin(*kinds)).groupBy("kind").agg(fn.sum("n").alias("n"))
    return Counter({row.kind: row.n for row in counted.collect()})


def collect_values(rows: DataFrame, statistic: str) -> dict[Subject, Value]:
    """Return the statistic of each subject of `SERIES`."""
    percent = STATISTICS[statistic]
    statistics = means(rows) if percent is None else percentiles(rows, percent)
    read = _mean if percent is None else _percentile
    with aggregated_once(rows.sparkSession):
        # Not all rows at once: a hundred thousand tasks have two million pairs.
        return {_subject(row): read(row) for row in statistics.toLocalIterator()}


def collect_parts(
    windows: DataFrame, presences: Iterable[Presence], interval_s: Mapping[tuple[str, str], float]
) -> dict[Subject, Fraction]:
    """Return how many series add up to each edge: the sum is the mean times this.

    A series with less than `RARE` of the windows that another one of the edge has is not counted:
    a task number that was damaged in a line or two would be one more task.
    """
    spans = generations(presences, interval_s, DEFAULT_INTERVAL_S)
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
    edge = ("subject", "topology", "source", "a", "b", "generation")
    series = edges.groupBy(*edge, "task", "other").agg(fn.count(fn.lit(1)).alias("windows"))
    most = fn.max("windows").over(Window.partitionBy(*edge))
    lasting = series.withColumn("most", most).where(fn.col("windows") >= RARE * fn.col("most"))
    counted = lasting.groupBy(*edge).agg(fn.count(fn.lit(1)).alias("parts"))
    counts: dict[Subject, dict[int, int]] = defaultdict(dict)
    for row in counted.collect():
        counts[_subject(row)][row.generation] = row.parts
    return {
        subject: mean_parts(
            parts, spans[subject[1:3]], interval_s.get(subject[1:3], DEFAULT_INTERVAL_S)
        )
        for subject, parts in counts.items()
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


def collect_presences(
    windows: DataFrame, interval_s: Mapping[tuple[str, str], float]
) -> tuple[Presence, ...]:
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
    spans = runs.groupBy(*keys, "run").agg(
        fn.min("first").alias("first"), fn.max("last").alias("last")
    )
    rows = sorted(spans.collect(), key=lambda row: tuple(str(row[key]) for key in (*keys, "first")))
    return tuple(
        Presence(
            *(row.topology, row.source, row.component, row.task, row.node or "", row.worker),
            submission=row.submission,
            first=utc(row.first),
            last=utc(row.last),
        )
        for row in rows
    )


def collect_timeline(
    rows: DataFrame, overviews: Mapping[tuple[str, str], Overview], window_s: int
) -> tuple[TimelinePoint, ...]:
    """Return cpu and flow of `SERIES` over time, in at most `STEPS` steps of whole windows."""
    if not overviews:
        return ()
    first = min(one.first for one in overviews.values())
    span = max(one.last for one in overviews.values()) - first
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
    points = [
        TimelinePoint(_subject(row), utc(int(row.step)), Fraction(int(row.y), int(row.x)))
        for row in sums.collect()
    ]
    return tuple(sorted(points, key=lambda one: one.time))


def _subject(row: Any) -> Subject:
    """Return the subject of a row, its names once in memory however many rows have them."""
    a, b = (None if name is None else intern(name) for name in (row.a, row.b))
    return (intern(row.subject), intern(row.topology), intern(row.source), a, b)


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
