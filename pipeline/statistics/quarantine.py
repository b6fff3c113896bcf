"""From parsed lines to clean samples and the lines that are kept aside.

The rows of a series (a metric of a task in a worker) are brought together and sorted once, by time;
everything that samples say about each other is said by neighbours in that order. Of several samples
of one time the first that was received counts. A running total that falls was reset: its worker was
restarted and counts from zero again. So does a worker's uptime. What happened before the first
reading, or since one long ago, is not known and not a sample. A value that cannot have come about
in the time since the sample before is kept aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as fn

from slotwise.models.formats.text import csv_lines
from slotwise.pipeline.statistics.clock_skew import mark_late
from slotwise.pipeline.statistics.columns import number_of_true, utc_day
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import (
    CONTRADICTORY,
    COUNTS,
    DUPLICATE,
    IMPOSSIBLE,
    JUDGED,
    QUARANTINE,
    RESET,
    SAMPLES,
    SERIES_OF,
    USED,
    names,
)
from slotwise.pipeline.statistics.unreadable import file_of

MOST_TUPLES_PER_US = 10
"""No task handles more: that is above what any engine is known to pass through one thread."""
MOST_PROCESSORS = 1024
"""No worker, and no task of another system than Storm, uses more at once."""
MOST_BYTES = 1 << 50
"""No worker has more memory."""
MOST_RECEIVED_PER_US = 100_000
"""No worker receives more bytes: that is 800 Gbit/s."""
MISREAD = 100
"""How many times a running total with digits too many is above those that follow; of counts of an
interval, the square: some do grow a hundredfold for a minute."""
NEIGHBOURS = 3
"""Rows of a series on either side that a value is compared with; damaged ones may be next to each
other."""
_DAY_US = 86_400_000_000
_TUPLES = (*COUNTS, "tuples", "pair_tuples")
_CPU = ("cpu_ns", "cgroup_cpu_ns")
_MEMORY = ("memory_bytes", "heap_bytes", "nonheap_bytes")


def judge_lines(parsed: DataFrame, nodes: DataFrame, reading: Reading) -> DataFrame:
    """Give `JUDGED` from `PARSED` and the `CLOCKS` of its nodes."""
    reason = fn.col("reason")
    good, bad = parsed.where(reason.isNull()), parsed.where(reason.isNotNull())
    rows = pack_series(mark_late(good, nodes, reading)).repartition("series")
    rows = mark_misread(mark_duplicates(rows))
    rows = unpack_series(mark_impossible(take_differences(rows, reading)))
    seconds = fn.timestamp_seconds(fn.unix_seconds("time") + fn.col("skew_s"))
    time = fn.when(fn.col("skew_s") == 0, fn.col("time")).otherwise(seconds)
    aside = fn.coalesce("reason", "note")
    # A line has one fault for all its samples, but a value is impossible by itself.
    stands = (fn.col("at") == 0) | reason.eqNullSafe(IMPOSSIBLE)
    corrected = rows.withColumn("time", time).withColumns(
        {
            "is_sample": reason.isNull() & fn.col("is_sample"),
            "is_aside": aside.isNotNull() & stands,
            "reason": aside,
        }
    )
    worded = corrected.withColumn("line", fn.when(fn.col("is_aside"), _in_words()))
    nothing = fn.lit(None).cast("bigint")
    faulty = bad.withColumns(
        {
            "is_sample": fn.lit(False),
            "is_aside": fn.lit(True),
            "span_us": nothing,
            "gap_us": nothing,
        }
    )
    columns = names(JUDGED)
    return worded.select(*columns).unionByName(faulty.select(*columns))


def samples_of(rows: DataFrame) -> DataFrame:
    """Give `SAMPLES` from `JUDGED`."""
    samples = rows.where("is_sample").withColumn("day", utc_day(fn.col("time")))
    return samples.select(*names(SAMPLES))


def quarantine_of(rows: DataFrame) -> DataFrame:
    """Give `QUARANTINE` from `JUDGED`."""
    aside = rows.where("is_aside").withColumn("used", fn.col("reason").isin(*USED))
    return aside.select(*names(QUARANTINE))


def as_csv(kept_aside: DataFrame) -> Iterator[str]:
    """Yield `QUARANTINE` as CSV: file, reason, whether the line counts, line; runs a job."""
    counts = fn.when(fn.col("used"), "yes").otherwise("no").alias("counts")
    rows = kept_aside.select(file_of(fn.col("path")).alias("file"), "reason", counts, "line")
    in_order = rows.orderBy("file", "reason", "line")
    yield from csv_lines(chain([rows.columns], in_order.toLocalIterator()))


def _in_words() -> Column:
    """Give a sample as text, for lines that are good in themselves and therefore not kept."""
    worker = fn.concat_ws(":", "node", fn.col("worker").cast("string"))
    task = fn.concat_ws(":", "task", "component")
    metric = fn.concat(
        fn.col("metric"), fn.coalesce(fn.concat(fn.lit("{"), "other", fn.lit("}")), fn.lit(""))
    )
    number = fn.concat(metric, fn.lit("="), fn.col("value").cast("string"))
    return fn.concat_ws(" ", fn.unix_seconds("time").cast("string"), worker, task, number)


def pack_series(good: DataFrame) -> DataFrame:
    """Put what identifies a series into one column, which each step copies as a whole.

    A good line has no `line`, which is left out.
    """
    rest = (one for one in good.columns if one not in (*SERIES_OF, "line"))
    return good.select(fn.struct(*SERIES_OF).alias("series"), *rest)


def unpack_series(rows: DataFrame) -> DataFrame:
    """Undo `pack_series`."""
    return rows.select("series.*", *(one for one in rows.columns if one != "series"))


def _in_order(value: str = "value") -> WindowSpec:
    """Return the rows of a series by time, those of one time as they were received."""
    order = ("time", fn.asc_nulls_last("received"), value, "path")
    return Window.partitionBy("series").orderBy(*order)


def mark_duplicates(good: DataFrame) -> DataFrame:
    """Set `reason` to duplicate or contradictory in all but one row of a series and a time.

    The one that stays is the one received first; if that is not known or the same, the one of the
    smallest value, then of the first path.
    """
    order = _in_order()
    again = fn.lag("time").over(order) == fn.col("time")
    marked = good.withColumn("first", ~fn.coalesce(again, fn.lit(False)))
    to_here = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    firsts = fn.last(fn.when(fn.col("first"), fn.col("value")), ignorenulls=True)
    compared = marked.withColumn("kept", firsts.over(to_here))
    name = fn.when(fn.col("value") == fn.col("kept"), DUPLICATE).otherwise(CONTRADICTORY)
    reason = fn.when(fn.col("first"), fn.col("reason")).otherwise(name)
    return compared.withColumn("reason", reason).drop("first", "kept")


def _before(name: str, rows: int, order: WindowSpec) -> Column:
    """Give what stands some rows earlier, on the same day or the one before: none else is read."""
    is_near = fn.date_diff("day", fn.lag("day", rows).over(order)) <= 1
    return fn.when(is_near, fn.lag(name, rows).over(order))


def _after(name: str, rows: int, order: WindowSpec) -> Column:
    """Give what stands some rows later, on the same day: a day is not judged again for the next."""
    is_same_day = fn.lead("day", rows).over(order).eqNullSafe(fn.col("day"))
    return fn.when(is_same_day, fn.lead(name, rows).over(order))


def mark_misread(good: DataFrame) -> DataFrame:
    """Set `reason` to impossible where the neighbours of a value show that it was misread.

    A reading of a running total whose last digits were cut off is below the readings before and
    after it, which do not fall, and its digits are the first ones of a number between these. One
    with digits too many is `MISREAD` times above those that follow, which are not below those
    before it. A worker that was restarted would leave either by chance only. A count of an interval
    is misread where it is `MISREAD` ** 2 times above most of its neighbours, and these above 0.
    """
    order = _in_order()
    near = {}
    for rows in range(1, NEIGHBOURS + 1):
        near[f"before{rows}"] = _before("value", rows, order)
        near[f"after{rows}"] = _after("value", rows, order)
    value, before, after = fn.col("value"), fn.col("before1"), fn.col("after1")
    # Without zeros at the end, for milliseconds became nanoseconds.
    digits = fn.rtrim(value.cast("string"), fn.lit("0"))

    def filled(long: Column, digit: str) -> Column:
        return fn.rpad(digits, fn.length(long.cast("string")), fn.lit(digit)).cast("decimal(20,0)")

    def is_prefix(long: Column) -> Column:
        return (filled(long, "9") >= before) & (filled(long, "0") <= after)

    fell = (value > 0) & (value < before) & (before <= after)
    is_cut = fell & (is_prefix(before) | is_prefix(after))
    names = {way: [one for one in near if one.startswith(way)] for way in ("before", "after")}
    lowest_before, lowest_after = (fn.least(*some) for some in names.values())
    # A double, for the product may need more than 64 bits.
    rose = (lowest_after >= lowest_before) & (lowest_after > 0)
    is_long = rose & (value >= fn.lit(float(MISREAD)) * lowest_after)
    level = fn.lit(float(MISREAD**2))
    others = number_of_true(fn.col(one).isNotNull() for one in near)
    below = number_of_true((fn.col(one) > 0) & (value >= level * fn.col(one)) for one in near)
    is_spike = (value >= level) & (below >= 2) & (3 * below >= 2 * others)
    is_misread = (
        fn.when(fn.col("running"), is_cut | is_long)
        .when(fn.col("series.metric").isin(*_TUPLES, "pair_bytes", "received_bytes"), is_spike)
        .otherwise(fn.lit(False))
    )
    unless = fn.coalesce(is_misread, fn.lit(False)) & fn.col("reason").isNull()
    reason = fn.when(unless, IMPOSSIBLE).otherwise(fn.col("reason"))
    return good.withColumns(near).withColumn("reason", reason).drop(*near)


def is_reading() -> Column:
    """Say whether a row is a reading of a running total, or of the uptime."""
    return fn.col("running") | (fn.col("series.metric") == "uptime_ns")


def take_differences(good: DataFrame, reading: Reading) -> DataFrame:
    """Turn running totals into increments; set `note` where a worker was restarted.

    Adds `is_sample`, false for the first reading of a running total; `gap_us`, the time since the
    row before, and of readings also as `span_us`, for one that was lost leaves an increment of two
    intervals; and `read`, the value before. Rows with a `reason` count for nothing here.
    """
    taken = fn.col("reason").isNull()
    before_here = _in_order().rowsBetween(Window.unboundedPreceding, -1)

    def last(name: str) -> Column:
        return fn.last(fn.when(taken, fn.col(name)), ignorenulls=True).over(before_here)

    readings = good.withColumns({"before": last("value"), "since": last("time")})
    since = fn.unix_micros("time") - fn.unix_micros("since")
    # A day is judged with the day before alone.
    gap = fn.when(since <= _DAY_US, since)
    near = fn.coalesce(gap <= reading.longest_gap_s * 1_000_000, fn.lit(False))
    is_lower = gap.isNotNull() & (fn.col("value") < fn.col("before"))
    fell = taken & is_reading() & fn.coalesce(is_lower, fn.lit(False))
    step = fn.when(fell, fn.col("value")).otherwise(fn.col("value") - fn.col("before"))
    counts = taken & fn.col("running")
    return readings.select(
        *(one for one in good.columns if one not in ("value", "note")),
        fn.col("value").alias("read"),  # the rows are in order by it, so Spark need not sort again
        fn.when(counts & near, step).otherwise(fn.col("value")).alias("value"),
        fn.when(fell, RESET).otherwise(fn.col("note")).alias("note"),
        (~counts | near).alias("is_sample"),
        fn.when(counts & near, gap).alias("span_us"),
        fn.when(taken, gap).alias("gap_us"),
    )


def mark_impossible(rows: DataFrame) -> DataFrame:
    """Set `reason` to impossible where a sample has more than the time since the last one allows.

    The first sample of a series has the time to the next one of its day, which may have come twice;
    if there is none, only memory is judged.
    """
    value, metric = fn.col("value"), fn.col("series.metric")
    order = _in_order("read")
    after = (_after("gap_us", rows, order) for rows in (1, 2))
    gap = fn.coalesce("gap_us", *after).cast("decimal(19,0)")
    most = (
        fn.when(metric.isin(*_TUPLES), gap * MOST_TUPLES_PER_US)
        .when(metric == "received_bytes", gap * MOST_RECEIVED_PER_US)
        .when(metric.isin(*_CPU), gap * 1000 * MOST_PROCESSORS)
        .when(metric.isin(*_MEMORY), MOST_BYTES)
    )
    taken = fn.col("reason").isNull() & fn.col("is_sample")
    is_impossible = taken & (value > most)
    return rows.withColumn("reason", fn.when(is_impossible, IMPOSSIBLE).otherwise(fn.col("reason")))
