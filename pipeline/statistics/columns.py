"""Column expressions that both kinds of lines need.

None depends on the session's time zone. Text that is not a number becomes null and never an error.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import (
    AHEAD,
    MALFORMED,
    NEGATIVE,
    PARSED,
    UNKNOWN_COMPONENT,
    names,
)

_FIRST, _LAST = 100_000_000_000, 4_102_444_800_000
_LARGEST = 9e18
FAR_AHEAD_S = 86_400
"""A line can be received no later than it is read; this much more is the clocks' and the zone's."""
_FOLDER = "/workers-artifacts/"


def is_text(line: Column) -> Column:
    """Say whether a line is whole text: UTF-8, without what stands for a byte that was not."""
    return fn.is_valid_utf8(line) & ~line.contains("\ufffd") & ~line.contains("\0")


def rounded(number: Column, scale: Column) -> Column:
    """Give a double times `scale`, rounded half up to an integer; null if it is too large."""
    scaled = number * scale
    return fn.when(fn.abs(scaled) < _LARGEST, fn.floor(scaled + 0.5)).cast("bigint")


def lookup(entries: Mapping[str, Column], key: Column, kind: str) -> Column:
    """Give the entry of a key, of type `kind`; null where there is none."""
    if not entries:
        return fn.lit(None).cast(kind)
    parts = [part for name, entry in sorted(entries.items()) for part in (fn.lit(name), entry)]
    return fn.try_element_at(fn.create_map(*parts), key)


def number_of_true(conditions: Iterable[Column]) -> Column:
    """Give how many of the conditions hold; one that is null does not."""
    ones = (fn.when(one, fn.lit(1)).otherwise(fn.lit(0)) for one in conditions)
    return reduce(operator.add, ones)


def epoch_time(number: Column) -> Column:
    """Give the timestamp of seconds or milliseconds since 1970; null outside 1973 to 2100."""
    # Not every number times 1000, which may need more than 64 bits.
    is_seconds = number.between(_FIRST // 1000, _LAST // 1000)
    millis = fn.when(is_seconds, number * 1000).otherwise(number)
    return fn.when(millis.between(_FIRST, _LAST), fn.timestamp_millis(millis))


def written_time(text: Column) -> Column:
    """Give the timestamp of a text of ISO 8601 with its zone; null outside 1973 to 2100."""
    time = text.try_cast("timestamp")
    return fn.when(fn.unix_seconds(time).between(_FIRST // 1000, _LAST // 1000), time)


def zoned_time(text: Column, zone: str) -> Column:
    """Give the timestamp of ``yyyy-MM-dd HH:mm:ss[.SSS]`` by clocks in `zone`; else null."""
    utc = written_time(fn.concat(text, fn.lit("Z")))
    return utc if zone == "UTC" else fn.to_utc_timestamp(utc, zone)


def utc_day(time: Column) -> Column:
    """Give the date of a timestamp in UTC, whatever the session's time zone."""
    return fn.date_from_unix_date(fn.floor(fn.unix_seconds(time) / 86400).cast("int"))


def folder_of(path: Column) -> Column:
    """Give the part of a path that names a topology; empty if it has none.

    Storm writes to ``workers-artifacts/NAME-NUMBER-NUMBER/PORT/worker.log.metrics``.
    """
    return fn.substring_index(after(path, _FOLDER), "/", 1)


def after(text: Column, mark: str) -> Column:
    """Give what stands behind the last `mark`; empty if there is none.

    Spark's ``split_part`` compiles a regular expression for each row.
    """
    return fn.when(text.contains(mark), fn.substring_index(text, mark, -1)).otherwise("")


def topology_of(folder: Column, default: str) -> Column:
    """Give the topology that a folder names, see `folder_of`; `default` for an empty one.

    The id of a topology is its name, a number and the time of its submission, so that one that was
    submitted again keeps its name. A folder with another name names the topology as it is.
    """
    name = fn.regexp_replace(folder, r"-\d+-\d+$", "")
    return fn.when(folder == "", fn.lit(default)).otherwise(name)


def is_unknown(topology: Column, component: Column, reading: Reading) -> Column:
    """Say whether the topologies that the reader was given have no such component.

    Storm's own (``__system``, ``__acker``) belong to every topology.
    """
    if not reading.components:
        return fn.lit(False)
    known = [f"{one}/{name}" for one, names in reading.components.items() for name in names]
    ours = fn.concat_ws("/", topology, component).isin(known)
    return ~(ours | component.startswith("__"))


def reason_of(is_whole: Column, least: Column, reading: Reading) -> Column:
    """Give why a line cannot be used; null: it can.

    Parameters
    ----------
    is_whole
        Whether the line can be read; null counts as false.
    least
        The smallest number of the line.
    reading
        What topologies have which components; the row has `topology`, `component`, `time` and
        `received`.
    """
    now = fn.unix_seconds(fn.current_timestamp())
    came = fn.unix_seconds(fn.coalesce("received", "time"))
    return (
        fn.when(~fn.coalesce(is_whole, fn.lit(False)), MALFORMED)
        .when(least < 0, NEGATIVE)
        .when(came > now + FAR_AHEAD_S, AHEAD)
        .when(is_unknown(fn.col("topology"), fn.col("component"), reading), UNKNOWN_COMPONENT)
    )


def as_parsed(samples: DataFrame) -> DataFrame:
    """Give `PARSED` from its columns without `day`, and `line` for every row."""
    is_good = fn.col("reason").isNull()
    computed = {
        "day": utc_day(fn.coalesce("received", "time")),
        "line": fn.when(~is_good, fn.col("line")),
    }
    columns = names(PARSED)
    return samples.select(*(computed.get(name, fn.col(name)).alias(name) for name in columns))
