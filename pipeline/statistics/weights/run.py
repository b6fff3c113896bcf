"""From the sums of windows to the small tables of weights and of coverage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from sys import intern
from typing import Any
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.spark.scratch import Store
from slotwise.pipeline.spark.session import aggregated_once
from slotwise.pipeline.statistics.columns import lookup
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.collected import (
    Collected,
    Covered,
    Signs,
    Subject,
    TimelinePoint,
    Value,
)
from slotwise.pipeline.statistics.weights.coverage import (
    REPORTED,
    SIGNS,
    collect_covered,
    collect_signs,
    reported,
    signs,
)
from slotwise.pipeline.statistics.weights.days import DayTables
from slotwise.pipeline.statistics.weights.facts import Facts, utc
from slotwise.pipeline.statistics.weights.message_sizes import message_sizes
from slotwise.pipeline.statistics.weights.presence import (
    Presence,
    Span,
    generations,
    mean_parts,
)
from slotwise.pipeline.statistics.weights.reporting import (
    DEFAULT_INTERVAL_S,
    with_covered_time,
)
from slotwise.pipeline.statistics.weights.rules import Rules, step_s
from slotwise.pipeline.statistics.weights.series import SERIES, ends, series
from slotwise.pipeline.statistics.weights.statistic import (
    MEANS,
    STATISTICS,
    means,
    means_of_days,
    percentiles,
    step_of,
    t_quantile,
    table_of,
)

RARE = 0.05
"""Share of the windows of its edge below which a series counts for no task."""


def collect_sums(
    windows: DataFrame,
    facts: Facts,
    rules: Rules,
    statistic: str,
    tables: DayTables,
    stored: Store,
    *,
    has_message_sizes: bool,
) -> Collected:
    """Run the jobs that make the small tables of `WINDOWS`.

    Parameters
    ----------
    windows
        `WINDOWS` of the new days of `tables`, with their `day`.
    facts
        Of all samples.
    rules
        Of `rules_of`.
    statistic
        A name of `STATISTICS`.
    tables
        They get what is made of the new days.
    stored
        Of `scratch`, for tables between jobs.
    has_message_sizes
        Whether there are windows of ``from outside``: few logs have them, and they take joins.
    """
    if tables.new:
        mine = {unquote(topology) for topology, _ in tables.new}
        reporting = {key: one for key, one in rules.reporting.items() if key[0] in mine}
        covered = with_covered_time(w.scale_by_clock(windows, rules.hz), reporting, stored)
        with aggregated_once(windows.sparkSession):
            sizes = message_sizes(covered) if has_message_sizes else None
            values = series(covered, tables.together, sizes)
            apart = ["bucket"]
            if table_of(statistic) == "series":
                values, apart = tables.add("series", SERIES, values, is_read_again=True), []
            of_days = means_of_days(values, rules.step_s, *apart)
            tables.add("means", MEANS, of_days, is_read_again=True)
        tables.add("presences", PRESENCES, presences_of_days(covered, rules.gap_ms()))
    presences = collect_presences(tables.rows("presences", PRESENCES), rules.gap_ms())
    spans = generations(presences, rules.interval_s, DEFAULT_INTERVAL_S)
    if tables.new:
        tables.add("edges", EDGES, edges(covered, spans))
    return Collected(
        overview=facts.overview,
        interval_s=rules.interval_s,
        clocks=rules.hz,
        values=collect_values(tables, statistic),
        parts=collect_parts(tables.rows("edges", EDGES), spans, rules.interval_s),
        presences=presences,
        timeline=collect_timeline(tables.rows("means", MEANS), step_s(facts, rules.window_s)),
    )


def collect_values(tables: DayTables, statistic: str) -> dict[Subject, Value]:
    """Return the statistic of each subject."""
    percent = STATISTICS[statistic]
    if percent is None:
        rows, read = means(tables.rows("means", MEANS)), _mean
    else:
        rows, read = percentiles(tables.rows("series", SERIES), percent), _percentile
    with aggregated_once(rows.sparkSession):
        # Not all rows at once: a hundred thousand tasks have two million pairs.
        return {_subject(row): read(row) for row in rows.toLocalIterator()}


def collect_coverage(
    reports: DataFrame,
    facts: Facts,
    rules: Rules,
    tables: DayTables,
) -> tuple[tuple[Covered, ...], dict[tuple[str, str], Signs]]:
    """Return how much of the components the reports show, and the signs of thinned series.

    See `collect_sums`; `reports` are `REPORTS` of the new days. Intervals that are stated need no
    signs.
    """
    if tables.new:
        windows = reported(reports, rules.interval_s, rules.window_s)
        tables.add("reported", REPORTED, windows)
        if not rules.is_stated:
            tables.add("signs", SIGNS, signs(reports, rules.interval_s))
    covered = collect_covered(
        tables.rows("reported", REPORTED), facts.overview, rules.interval_s, rules.window_s
    )
    if rules.is_stated:
        return covered, {}
    return covered, collect_signs(tables.rows("signs", SIGNS))


EDGES = (
    "subject string, topology string, source string, a string, b string, task string, "
    "other string, first bigint, windows bigint, day date"
)
"""How many windows each series of an edge has on a day while a generation of tasks was there.

`first` is a time of this generation on this day, milliseconds since 1970: when it began may be on
another day, which does not count now or is read later.
"""

_EDGE = ("subject", "topology", "source", "a", "b", "begin")


def edges(windows: DataFrame, spans: Mapping[tuple[str, str], Sequence[Span]]) -> DataFrame:
    """Give `EDGES` from `WINDOWS` with their `day`, and the spans of generations."""
    source, target = ends()
    emitted = fn.col("kind") == w.EMITTED
    rows = windows.where(fn.col("kind").isin(w.RECEIVED, w.SENT, w.EMITTED)).withColumns(
        {
            "subject": fn.col("kind"),
            "a": fn.when(emitted, fn.col("component")).otherwise(source),
            "b": fn.when(emitted, fn.col("other")).otherwise(target),
            "begin": _begin(spans, fn.unix_millis("first")),
        }
    )
    counted = rows.groupBy(*_EDGE, "task", "other", "day").agg(
        fn.unix_millis(fn.min("first")).alias("first"), fn.count(fn.lit(1)).alias("windows")
    )
    return counted.drop("begin")


def collect_parts(
    edges: DataFrame,
    spans: Mapping[tuple[str, str], Sequence[Span]],
    interval_s: Mapping[tuple[str, str], float],
) -> dict[Subject, Fraction]:
    """Return how many series add up to each edge: the sum is the mean times this.

    A series with less than `RARE` of the windows that another one of the edge has is not counted:
    a task number that was damaged in a line or two would be one more task.
    """
    rows = edges.withColumn("begin", _begin(spans, fn.col("first")))
    series = rows.groupBy(*_EDGE, "task", "other").agg(fn.sum("windows").alias("windows"))
    most = fn.max("windows").over(Window.partitionBy(*_EDGE))
    lasting = series.withColumn("most", most).where(fn.col("windows") >= RARE * fn.col("most"))
    counted = lasting.groupBy(*_EDGE).agg(fn.count(fn.lit(1)).alias("parts"))
    counts: dict[Subject, dict[int, int]] = defaultdict(dict)
    for row in counted.collect():
        counts[_subject(row)][row.begin] = row.parts
    return {
        subject: mean_parts(
            parts,
            {_ms(span[0]): span for span in spans[subject[1:3]]},
            interval_s.get(subject[1:3], DEFAULT_INTERVAL_S),
        )
        for subject, parts in counts.items()
    }


def _begin(spans: Mapping[tuple[str, str], Sequence[Span]], time_ms: Column) -> Column:
    """Give when the generation began, in ms, that is there at a time."""
    begins = {
        f"{source}/{topology}": fn.array(
            *(fn.lit(_ms(begin)).cast("bigint") for begin, _ in several)
        )
        for (topology, source), several in spans.items()
    }
    mine = lookup(begins, fn.concat_ws("/", "source", "topology"), "array<bigint>")
    return fn.array_max(fn.filter(mine, lambda begin: begin <= time_ms))


def _ms(time_s: float) -> int:
    return round(time_s * 1000)


PRESENCES = (
    "topology string, source string, component string, task string, node string, worker int, "
    "submission string, first bigint, last bigint, day date"
)
"""Tasks in workers, and workers themselves (task ``-1``), from `first` to `last` (ms) on a day."""

_PRESENT = ("topology", "source", "component", "task", "node", "worker", "submission")


def presences_of_days(windows: DataFrame, gap_ms: Column) -> DataFrame:
    """Give `PRESENCES` from `WINDOWS` with their `day`."""
    sampled = windows.where(fn.col("last").isNotNull())  # silent windows of a pair have no sample
    times = {"first": fn.unix_millis(fn.min("first")), "last": fn.unix_millis(fn.max("last"))}
    there = sampled.groupBy(*_PRESENT, "day", "start").agg(
        *(one.alias(name) for name, one in times.items())
    )
    return _without_gaps(there, gap_ms, *_PRESENT, "day")


def _without_gaps(times: DataFrame, gap_ms: Column, *keys: str) -> DataFrame:
    """Give, by `keys`, each `first` and `last` of times with no longer gap between them."""
    order = Window.partitionBy(*keys).orderBy("first")
    is_new = (fn.col("first") - fn.lag("last").over(order) > gap_ms).cast("int")
    runs = times.withColumn("new", fn.coalesce(is_new, fn.lit(0)))
    runs = runs.withColumn("run", fn.sum("new").over(order))
    spans = runs.groupBy(*keys, "run").agg(
        fn.min("first").alias("first"), fn.max("last").alias("last")
    )
    return spans.drop("run")


def collect_presences(presences: DataFrame, gap_ms: Column) -> tuple[Presence, ...]:
    """Return which tasks were in which workers, the workers themselves too, from `PRESENCES`."""
    spans = _without_gaps(presences, gap_ms, *_PRESENT)
    rows = sorted(
        spans.collect(), key=lambda row: tuple(str(row[key]) for key in (*_PRESENT, "first"))
    )
    return tuple(
        Presence(
            *(row.topology, row.source, row.component, row.task, row.node or "", row.worker),
            submission=row.submission,
            first=utc(row.first),
            last=utc(row.last),
        )
        for row in rows
    )


def collect_timeline(means: DataFrame, step_s: int) -> tuple[TimelinePoint, ...]:
    """Return cpu and flow over time, from `MEANS` of steps that are not longer."""
    steps = means.where("step is not null").withColumn("step", step_of(fn.col("step"), step_s))
    sums = (fn.sum(name).cast("decimal(38,0)").alias(name) for name in ("y", "x"))
    rows = steps.groupBy("subject", "topology", "source", "a", "b", "step").agg(*sums)
    points = [
        TimelinePoint(_subject(row), utc(int(row.step)), Fraction(int(row.y), int(row.x)))
        for row in rows.collect()
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
