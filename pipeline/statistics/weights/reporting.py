"""How much time lines cover: how often tasks report, and when a pair of tasks is silent.

Storm's counts are of one interval each, and an increment of a running total says itself what it
covers (`span_us`). A JSON line is since the line before. Where lines come evenly, a longer gap is a
line that was lost, and each line covers one interval; where they do not, a line covers the gap
before it, which is not known of the first. A pair of tasks that often has no line on a day on which
its tasks have some is silent, and that is time without tuples; one that seldom lacks a line has
lost it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.pipeline.spark.scratch import Store
from slotwise.pipeline.statistics.columns import lookup
from slotwise.pipeline.statistics.schema import JSON, names
from slotwise.pipeline.statistics.weights import windows as w

US = 1_000_000
DEFAULT_INTERVAL_S = 60.0
"""Of Storm's metrics (``topology.builtin.metrics.bucket.size.secs``)."""
CLOSE = 0.1
"""Gaps that differ by at most this share from the commonest one are as long as it."""
DIGITS = 5
"""Significant digits of the interval of JSON lines: a new day seldom changes what is made of the
others."""
EVEN = 2 / 3
"""Least share of such gaps with which lines come evenly."""
LONGEST_US, LONGEST_GAPS = 600 * US, 10
"""A line after a gap that is longer than both begins a new series: an absolute length, and a number
of the commonest gaps."""
REPORTED = 0.9
"""Least share of its tasks' lines with which a pair is not silent: the others were lost."""

_SERIES = ("kind", "topology", "source", "component", "task", "other", "day")
_TASK, _RECEIVER = ("topology", "source", "day", "task"), ("topology", "source", "day", "other")


@dataclass(frozen=True, slots=True)
class ReportingInterval:
    """The seconds between two lines of a task, and whether they are (nearly) always the same."""

    interval_s: float
    is_even: bool = True


ReportingIntervals = Mapping[tuple[str, str], ReportingInterval]
"""By topology and source."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How often a sample came that many microseconds after the one before of its series."""

    topology: str
    source: str
    is_pair: bool
    us: int
    count: int


def reporting_intervals(gaps: Iterable[Gap]) -> dict[tuple[str, str], ReportingInterval]:
    """Return how often tasks report, from the gaps between their samples.

    Those of pairs of tasks count where there are no others. The interval is the commonest gap (of
    several the smallest); of JSON lines the mean of all that are close to it, in `DIGITS` digits.
    """
    several: dict[tuple[str, str], dict[bool, Counter[int]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for one in gaps:
        several[one.topology, one.source][one.is_pair][one.us] += one.count
    return {key: _reporting_interval(key[1], of[min(of)]) for key, of in sorted(several.items())}


def _reporting_interval(source: str, gaps: Counter[int]) -> ReportingInterval:
    commonest = max(gaps, key=lambda us: (gaps[us], -us))
    if source != JSON:
        return ReportingInterval(commonest / US)
    close = {us: n for us, n in gaps.items() if abs(us - commonest) <= commonest * CLOSE}
    number = sum(close.values())
    mean = Fraction(sum(us * n for us, n in close.items()), number)
    seconds = float(f"{float(mean) / US:.{DIGITS}g}")
    return ReportingInterval(seconds, number >= EVEN * gaps.total())


def with_covered_time(
    windows: DataFrame, reporting: ReportingIntervals, stored: Store
) -> DataFrame:
    """Give `WINDOWS` with the time that is covered in `x` of all rates, microseconds.

    They have a `day`; those of one day are looked at together. Pairs have a row of 0 tuples for
    windows in which they were silent. The frame is `stored` where it is more than a projection.
    """
    covered = _covered_by_lines(windows, reporting).withColumn("open", fn.lit(0).cast("bigint"))
    if not _all_even(reporting):
        covered = stored(covered)
    if not any(source == JSON for _, source in reporting):
        return covered
    silent = stored(_silent(covered))
    return covered if silent.isEmpty() else stored(_with_silence(covered, silent))


def _covered_by_lines(windows: DataFrame, reporting: ReportingIntervals) -> DataFrame:
    lengths = {key: max(1, round(one.interval_s * US)) for key, one in reporting.items()}
    us = number_of(lengths, round(DEFAULT_INTERVAL_S * US))
    is_rate = fn.col("kind").isin(*w.RATES)
    added = fn.when(is_rate, fn.col("open") * us).otherwise(fn.lit(0))
    even = fn.col("x") + added
    if _all_even(reporting):
        return windows.withColumn("x", even.cast("decimal(38,0)"))
    is_even = ~is_rate | (
        number_of({key: int(one.is_even) for key, one in reporting.items()}, 1) == 1
    )
    before = fn.lag("last").over(Window.partitionBy(*_SERIES).orderBy("start", "first", "node"))
    gap = fn.unix_micros("first") - fn.unix_micros(before)
    longest = fn.greatest(fn.lit(LONGEST_US), LONGEST_GAPS * us)
    inner = fn.unix_micros("last") - fn.unix_micros("first")
    # What the first line of all covers is not known.
    begins = fn.coalesce((gap > longest) | (gap < 0), fn.lit(True)) & ~is_even
    x = fn.when(is_even, even).when(begins, inner).otherwise(gap + inner)
    y = fn.when(begins, fn.col("y") - fn.col("head")).otherwise(fn.col("y"))
    n = fn.when(begins, fn.col("n") - 1).otherwise(fn.col("n"))
    numbers = {name: number.cast("decimal(38,0)") for name, number in (("x", x), ("y", y))}
    spans = windows.withColumns({**numbers, "n": n, "even": is_even})
    return spans.where("even or x > 0").drop("even")


def _all_even(reporting: ReportingIntervals) -> bool:
    return all(one.is_even for one in reporting.values())


def number_of(numbers: Mapping[tuple[str, str], int], default: int) -> Column:
    """Give the number of the row's topology and source, 64 bits; `default` where there is none."""
    entries = {
        f"{source}/{topology}": fn.lit(number).cast("bigint")
        for (topology, source), number in numbers.items()
    }
    number = lookup(entries, fn.concat_ws("/", "source", "topology"), "bigint")
    return fn.coalesce(number, fn.lit(default).cast("bigint"))


def _with_silence(windows: DataFrame, silent: DataFrame) -> DataFrame:
    """Let the time of silent pairs be that in which their tasks were observed."""
    pairs, tasks = _pairs_and_tasks(windows)
    of_silent = pairs.join(silent.select(*_SERIES), [*_SERIES], "left_semi")
    own = of_silent.groupBy(*_SERIES, "start").agg(
        *(fn.max(name).alias(name) for name in ("node", "worker", "submission", "last", "head")),
        *(fn.sum(name).alias(name) for name in ("y", "x", "n", "open")),
        fn.min("first").alias("first"),
    )
    numbers = {
        "y": fn.coalesce("y", fn.lit(0)).cast("decimal(38,0)"),
        "x": fn.greatest("x", "observed").cast("decimal(38,0)"),
        "n": fn.coalesce("n", fn.lit(0)).cast("bigint"),
        # Says to which generation of tasks a window without a line belongs.
        "first": fn.coalesce("first", "observed_first"),
    }
    observed = _observed(silent, tasks)
    filled = own.join(observed, [*_SERIES, "start"], "full").withColumns(numbers)
    rest = windows.join(silent.select(*_SERIES), [*_SERIES], "left_anti")
    return rest.unionByName(filled.select(*names(w.WINDOWS), "day"))


def _pairs_and_tasks(windows: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Give the rows of JSON lines that pairs of tasks, and that tasks have."""
    is_task = (fn.col("kind") == w.CPU) & (fn.col("source") == JSON)
    return windows.where(fn.col("kind").isin(w.SENT, w.VOLUME)), windows.where(is_task)


def _silent(windows: DataFrame) -> DataFrame:
    """Give the silent pairs, and in `ends` how many of their two tasks have lines."""
    pairs, tasks = _pairs_and_tasks(windows)
    lines = tasks.groupBy(*_TASK).agg(fn.sum("n").alias("sent"))
    heard = lines.withColumnsRenamed({"task": "other", "sent": "heard"})
    counted = pairs.groupBy(*_SERIES).agg(fn.sum("n").alias("n"))
    known = counted.join(lines, [*_TASK], "left").join(heard, [*_RECEIVER], "left")
    of_both = fn.when(fn.col("sent").isNotNull() & fn.col("heard").isNotNull(), 2).otherwise(1)
    is_silent = fn.col("n") < REPORTED * fn.least("sent", "heard")
    return known.where(is_silent).select(*_SERIES, of_both.alias("ends"))


def _observed(silent: DataFrame, tasks: DataFrame) -> DataFrame:
    """Give how long, and from when, the tasks of each silent pair were observed, by window."""
    seen = tasks.groupBy(*_TASK, "start").agg(
        fn.sum("x").alias("observed"), fn.min("first").alias("observed_first")
    )
    sender = silent.join(seen, [*_TASK])
    receiver = silent.join(seen.withColumnRenamed("task", "other"), [*_RECEIVER])
    times = sender.unionByName(receiver).groupBy(*_SERIES, "start", "ends")
    observed = times.agg(
        fn.min("observed").alias("observed"),
        fn.max("observed_first").alias("observed_first"),
        fn.count(fn.lit(1)).alias("known"),
    )
    return observed.where(fn.col("known") == fn.col("ends")).drop("ends", "known")
