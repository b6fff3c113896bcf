"""JSON lines of any system: tasks, and pairs of tasks, as samples.

``{"time": ..., "task": ..., "node": ..., "cpu_ms": ..., "ghz": ..., "tuples": ...}`` is what a task
used for that many tuples since its last line; ``{"time": ..., "from": ..., "to": ...,
"tuples": ..., "bytes": ...}`` what went from one task to another. `time` is in seconds or
milliseconds since 1970 or ISO 8601 (UTC, unless it says otherwise); `received`, optional, when the
collector got the line: without it a line is never late. `topology`, `component` (else a task's name
without ``[0]`` or ``/0``), `ghz`, `worker` (a port) and the `node` of a pair are optional; other
keys are ignored.
A line is malformed as a whole where a key stands twice, something follows the object, a number is
text or not finite, tuples or bytes are not whole, or an optional key holds what it cannot.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.columns import (
    as_parsed,
    epoch_time,
    folder_of,
    is_text,
    is_unknown,
    number_of_true,
    reason_of,
    rounded,
    topology_of,
    written_time,
)
from slotwise.pipeline.statistics.reading import MOST_GHZ, Reading
from slotwise.pipeline.statistics.schema import JSON, UNKNOWN_COMPONENT

_TEXTS = ("time", "received", "topology", "task", "component", "node", "worker", "from", "to")
_SCALES = {"cpu_ms": 1e6, "ghz": 1e9, "tuples": 1.0, "bytes": 1.0}
_OF_TASK = {"cpu_ns": "cpu_ms", "tuples": "tuples", "clock_hz": "ghz"}
_OF_PAIR = {"pair_tuples": "tuples", "pair_bytes": "bytes"}
_BAD = "_bad"
_OPTIONS = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": _BAD,
    "allowNonNumericNumbers": "false",
}
# Without a byte that was none of UTF-8 (U+FFFD stands for one), and without NUL.
_ONE_OBJECT = r"^\s*\{[^{}\ufffd\x00]*\}\s*$"
_TIME = r'"time"\s*:'


def json_samples(raw: DataFrame, reading: Reading) -> DataFrame:
    """Give `PARSED` from `RAW`; a line gives a row for each of its numbers, or one if it is faulty.

    One wrong number makes the line faulty: tuples without their CPU time would be cheap ones.
    """
    texts, numbers = (*_TEXTS, _BAD), tuple(_SCALES)
    keys = ", ".join([*(f"`{key}` string" for key in texts), *(f"{key} double" for key in numbers)])
    read = raw.where(fn.trim("line") != "").select(
        *("line", "path", fn.from_json("line", keys, _OPTIONS).alias("k"))
    )
    is_pair = fn.coalesce("k.from", "k.to").isNotNull()
    # A step of its own, because Spark computes what is used in several branches for each of them.
    pieces = read.select(
        *("line", "path", "k.*", is_pair.alias("is_pair"), _is_whole(is_pair).alias("is_whole")),
        fn.when(is_pair, fn.col("k.from")).otherwise(fn.col("k.task")).alias("sender"),
        fn.col("k.time").try_cast("bigint").alias("stamp"),
        fn.col("k.received").try_cast("bigint").alias("received_stamp"),
        folder_of(fn.col("path")).alias("folder"),
    )
    is_of_pair, named = fn.col("is_pair"), fn.nullif("topology", fn.lit(""))
    lines = pieces.select(
        *("line", "path", "node", "is_pair", fn.col("sender").alias("task")),
        (fn.col("is_whole") & _are_possible()).alias("is_whole"),
        *(fn.col(key).isNotNull().alias(f"has_{key}") for key in ("received", "worker")),
        fn.coalesce(named, topology_of(fn.col("folder"), reading.topology)).alias("topology"),
        _time(fn.col("stamp"), fn.col("time")).alias("time"),
        _time(fn.col("received_stamp"), fn.col("received")).alias("received"),
        fn.col("worker").try_cast("int").alias("worker"),
        fn.when(~is_of_pair & fn.col("component").isNotNull(), fn.col("component"))
        .otherwise(_component(fn.col("sender")))
        .alias("component"),
        fn.when(is_of_pair, fn.col("to")).alias("other"),
        *(rounded(fn.col(key), fn.lit(scale)).alias(key) for key, scale in _SCALES.items()),
    )
    whole = fn.col("is_whole") & fn.col("time").isNotNull()
    for key in ("received", "worker"):
        whole &= ~fn.col(f"has_{key}") | fn.col(key).isNotNull()
    to = _component(fn.col("other"))
    is_stranger = fn.col("is_pair") & is_unknown(fn.col("topology"), to, reading)
    fault = reason_of(whole, fn.least(*_SCALES), reading)
    reason = fn.coalesce(fault, fn.when(is_stranger, UNKNOWN_COMPONENT))
    samples = lines.withColumn("reason", reason).select("*", fn.posexplode(_numbers()))
    return as_parsed(
        samples.withColumns(
            {
                "metric": fn.col("col.metric"),
                "value": fn.col("col.value"),
                "at": fn.col("pos"),
                "source": fn.lit(JSON),
                "running": fn.lit(False),
            }
        )
    )


def _is_whole(is_pair: Column) -> Column:
    """Say whether a line has all keys of its kind, and numbers where they belong."""
    of_pair = ("k.from", "k.to", "k.tuples", "k.bytes")
    of_task = ("k.task", "k.node", "k.tuples", "k.cpu_ms")
    whole = fn.col("k").isNotNull() & fn.col(f"k.{_BAD}").isNull()
    return (
        whole
        & _is_one_object(fn.col("line"))
        & fn.when(is_pair, _are_there(of_pair)).otherwise(_are_there(of_task))
    )


def _is_one_object(line: Column) -> Column:
    """Say whether a line is one object, no key of which stands twice; Spark itself reads on.

    An object has at most as many keys as colons. Where as many of our keys have a value, each of
    them stands there once, and no other. Reading all keys again takes as long as reading the line.
    """
    known = number_of_true(fn.col(f"k.{key}").isNotNull() for key in (*_TEXTS, *_SCALES))
    colons = _number_of(":", line)
    keys = fn.json_object_keys(line)
    # Not by `|`, for Spark would compute all keys of every line.
    is_once = fn.when(colons == known, fn.lit(True)).otherwise(
        fn.size(keys) == fn.size(fn.array_distinct(keys))
    )
    nested = (
        (_number_of("{", line) == _number_of("}", line))
        & is_text(line)
        & fn.rtrim(line).endswith("}")
        & (fn.regexp_count(line, fn.lit(_TIME)) == 1)
    )
    return fn.coalesce(is_once & (line.rlike(_ONE_OBJECT) | nested), fn.lit(False))


def _number_of(mark: str, line: Column) -> Column:
    """Give how often a character of ASCII stands in a line."""
    return fn.octet_length(line) - fn.octet_length(fn.replace(line, fn.lit(mark)))


def _are_possible() -> Column:
    """Say whether each number has a value that it can have, negative ones aside."""
    possible = fn.lit(True)
    for key, scale in _SCALES.items():
        number = fn.col(key)
        fits = rounded(number, fn.lit(scale)).isNotNull()
        if scale == 1.0:
            fits &= fn.floor(number) == number
        possible &= number.isNull() | fits
    ghz = fn.col("ghz")
    return possible & (ghz.isNull() | ((ghz != 0) & (ghz <= MOST_GHZ)))


def _are_there(keys: tuple[str, ...]) -> Column:
    there = fn.lit(True)
    for key in keys:
        there &= fn.col(key).isNotNull()
        if key.removeprefix("k.") in _TEXTS:
            there &= fn.col(key) != ""
    return there


def _numbers() -> Column:
    """Give the samples of a line: those of its numbers that are there; a faulty line has one."""

    def samples(metrics: dict[str, str]) -> Column:
        structs = (
            fn.struct(fn.lit(metric).alias("metric"), fn.col(key).alias("value"))
            for metric, key in metrics.items()
        )
        return fn.array(*structs)

    pair, task = samples(_OF_PAIR), samples(_OF_TASK)
    unclocked = samples({metric: key for metric, key in _OF_TASK.items() if key != "ghz"})
    of_kind = (
        fn.when(fn.col("is_pair"), pair).when(fn.col("ghz").isNull(), unclocked).otherwise(task)
    )
    return fn.when(fn.col("reason").isNotNull(), fn.slice(of_kind, 1, 1)).otherwise(of_kind)


def _component(task: Column) -> Column:
    """Give a task's name without its index, such as ``[0]`` or ``/0``."""
    index = fn.when(task.endswith("]"), fn.substring_index(task, "[", -1)).otherwise(
        fn.substring_index(task, "/", -1)
    )
    named = fn.substring(task, fn.lit(1), fn.length(task) - fn.length(index) - 1)
    has_index = fn.rtrim(index, fn.lit("]")).try_cast("bigint").isNotNull()
    return fn.when(has_index & (named != ""), named).otherwise(task)


def _time(number: Column, text: Column) -> Column:
    """Give a timestamp from `text`, or from the number that it is."""
    zone = fn.substring(text, 20, 20)
    zoned = text.endswith("Z") | zone.contains("+") | zone.contains("-")
    iso = written_time(fn.when(zoned, text).otherwise(fn.concat(text, fn.lit("Z"))))
    return fn.when(number.isNotNull(), epoch_time(number)).when(text.contains("-"), iso)
