"""Storm's LoggingMetricsConsumer: its lines as samples.

A line is ``PREFIX TIME HOST:PORT TASK:COMPONENT NAME VALUE`` with tabs and padding; the prefix,
``%d %-8r`` of Storm's ``worker.xml``, is the collector's local time and its uptime, TIME the
seconds of the task's own worker. Logs that were copied by hand have blanks for tabs and often no
prefix. The name is cut to 23 characters by Storm itself.

A line that Storm does not write is malformed as a whole, such as one of two that were written into
each other: a prefix that is neither, fields too many, a map with anything but ``KEY=NUMBER``, a key
that a map has twice, a number as Java does not write it, a count that is not whole.

Two generations of metrics occur, and the name tells them apart. Built-in ones
(``__execute-count {spout:default=20}``) are reset whenever they are read. Those of
``topology.enable.v2.metrics.tick`` have the stream in the name (``__emit-count-default 20``); their
counters are running totals, their latencies rolling means. A count with a decimal point is the rate
beside such a counter.

What other workers sent stands in ``__recv-iconnection`` of the receiving worker, if the setting
``topology.serialized.message.size.metrics`` is on (from 2.0 on): ``messageBytes={3-5=360}`` are the
bytes from task 3 to task 5, on all streams together, since the line before. They are those of the
serialised tuple alone. How many tuples they are, that line does not say.

Sources: ``LoggingMetricsConsumer``, ``TaskMetrics``, ``SystemBolt``, ``CGroupCpu``, netty's
``Server``, ``DeserializingConnectionCallback``, ``log4j2/worker.xml`` of Apache Storm 1.0 to 2.8.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.columns import (
    after,
    as_parsed,
    epoch_time,
    folder_of,
    is_unknown,
    reason_of,
    rounded,
    topology_of,
    zoned_time,
)
from slotwise.pipeline.statistics.cut_names import OF_INPUTS, sender_of
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import STORM, UNKNOWN_COMPONENT

# A map of stream to number, or, with the stream in the name, one number.
_BY_STREAM = {
    "__execute-count": "execute_count",
    "__execute-latency": "execute_ns",
    "__emit-count": "emit_count",
    "__transfer-count": "transfer_count",
    "__process-latency": "process_ns",
    "__ack-count": "ack_count",
    "__fail-count": "fail_count",
    "__complete-latency": "complete_ns",
}
# Maps of which a part counts.
_USED_BYTES = {"memory/heap": "heap_bytes", "memory/nonHeap": "nonheap_bytes"}
_CPU = {"CPU": "cpu_ns", "CGroupCpu": "cgroup_cpu_ns"}
# One number, a running total.
_CPU_TOTALS = ("CGroupCpu.user-ms", "CGroupCpu.sys-ms")
# One number.
_LEVELS = {
    "CGroupMemory": "memory_bytes",
    "CGroupMemoryUsage": "memory_bytes",
    "memory.heap.used": "heap_bytes",
    "memory.non-heap.used": "nonheap_bytes",
    "uptimeSecs": "uptime_ns",
}
# Of a worker's server; without the sizes of messages nothing in it counts.
_SERVER = "__recv-iconnection"
_SIZES = "messageBytes={"
_BLANKS = r"^(.*?)\s*(\d+)\s+(\S+:\d+)\s+(-?\d+:\S+)\s+(\S+)\s+(.*)$"
# Fields of text without a byte that was none of UTF-8 (U+FFFD stands for one), and without NUL.
_FIELD = r"[^\t\ufffd\x00]"
_WHOLE_LINE = (
    r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3} ++\d++ ++)? *+\d{9,13}+ *+"
    rf"\t *+[^\s:\ufffd\x00][^\s\ufffd\x00]*:\d{{1,5}}+ *+"
    rf"\t *+-?\d{{1,9}}+:{_FIELD}++\t{_FIELD}++\t{_FIELD}*+$"
)
# As Java writes them; bounded, so that nothing overflows in nanoseconds.
_COUNT = r"-?(?:0|[1-9]\d{0,17})"
_MILLIS = r"-?(?:0|[1-9]\d{0,11})"
_MEAN = rf"(?:{_MILLIS}(?:\.\d{{1,17}})?|-?[1-9]\.\d{{1,17}}E(?:-[1-9]\d{{0,2}}|[1-9]))"
_KEY = r"[^\s=,{}][^=,{}]*"
_PAIR = rf"^-?\d{{1,9}}-\d{{1,9}}={_COUNT}$"
_KEY_TWICE = r"(?:^\{|, ?)([^=,{}]+)=(?:.*, ?)?\1="
_RATE = r"\.(?:m(?:1(?:_(?:r(?:a(?:te?)?)?)?)?)?)?$"
_PREFIX = len("2026-01-31 12:00:00,123")
_GC_RUNNING = "gc_running_ns"


def storm_samples(raw: DataFrame, reading: Reading) -> DataFrame:
    """Give `PARSED` from `RAW`; a map gives a row for each entry, an unknown metric none."""
    metric, entry, suffix = fn.col("metric"), fn.col("entry"), fn.col("suffix")
    lines = _with_metric(_fields(raw, reading))
    fault = reason_of(fn.col("is_whole"), fn.col("sign"), reading)
    exploded = lines.withColumns(
        {"reason": fault, "inner": fn.substring("text", fn.lit(2), fn.length("text") - 2)}
    ).select("*", fn.posexplode(_entries()).alias("at", "entry"))
    cut = exploded.withColumns(
        {"number": fn.trim(fn.substring_index(entry, "=", -1)), "scale": _scale(metric)}
    )
    text = fn.substring_index(entry, "=", -1)
    key = fn.substring(entry, fn.lit(1), fn.length(entry) - fn.length(text) - 1)
    counter = metric.endswith("_count") & (suffix != "")
    total = counter | (metric == _GC_RUNNING) | fn.col("name").isin(*_CPU_TOTALS)
    sender = fn.when(metric.isin(*OF_INPUTS), sender_of(suffix, reading)).otherwise(suffix)
    samples = cut.select(
        *("topology", "time", "node", "worker", "task", "component", "path", "received"),
        *("at", "reason", "line"),
        fn.when(metric == _GC_RUNNING, "gc_ns").otherwise(metric).alias("metric"),
        fn.when(entry.contains("="), fn.trim(key)).when(suffix != "", sender).alias("other"),
        rounded(fn.col("number").try_cast("double"), fn.col("scale")).alias("value"),
        fn.lit(STORM).alias("source"),
        fn.coalesce(total, fn.lit(False)).alias("running"),
    )
    value = fn.col("value")
    entry_fault = reason_of(value.isNotNull(), value, Reading())
    # Tuples of a sender that is not there would be those of one more task.
    named_sender = metric.isin(*OF_INPUTS) & ~fn.col("running") & fn.col("other").contains(":")
    stranger = is_unknown(fn.col("topology"), fn.substring_index("other", ":", 1), reading)
    sender_fault = fn.when(named_sender & stranger, UNKNOWN_COMPONENT)
    return as_parsed(
        samples.withColumn("reason", fn.coalesce(fn.col("reason"), entry_fault, sender_fault))
    )


def _fields(raw: DataFrame, reading: Reading) -> DataFrame:
    """Cut the lines at their tabs, and what identifies a sample from the parts."""
    line = fn.col("line")
    blanks = fn.regexp_replace(line, _BLANKS, "$1 $2\t$3\t$4\t$5\t$6")
    lines = raw.where(fn.trim(line) != "").select(
        *("line", "path", fn.when(line.contains("\t"), line).otherwise(blanks).alias("tabbed"))
    )
    cut = lines.select(
        *("line", "path", fn.split("tabbed", "\t").alias("f")),
        (fn.col("tabbed").rlike(_WHOLE_LINE) & fn.is_valid_utf8(line)).alias("has_form"),
    )
    part = [fn.trim(fn.get("f", fn.lit(at))) for at in range(5)]
    parts = cut.select(
        *("line", "path", "has_form"), *(one.alias(f"f{at}") for at, one in enumerate(part))
    )
    # A step of its own, because Spark computes what is used in several branches for each of them.
    pieces = parts.select(
        *("line", "path", "has_form", "f1", "f2"),
        *(fn.col("f3").alias("name"), fn.col("f4").alias("text")),
        fn.substring_index("f0", " ", -1).try_cast("bigint").alias("stamp"),
        fn.when(fn.col("f0").contains(" "), fn.substring("f0", 1, _PREFIX)).alias("local"),
        fn.substring_index("f1", ":", -1).alias("port"),
        fn.substring_index("f2", ":", 1).alias("number"),
        fn.substring_index("f3", "-", 2).alias("base"),
        folder_of(fn.col("path")).alias("folder"),
    )
    node, port, number = fn.col("f1"), fn.col("port"), fn.col("number")
    local = fn.replace("local", fn.lit(","), fn.lit("."))
    return pieces.select(
        *("line", "path", "name", "base", "text", "has_form", "local"),
        topology_of(fn.col("folder"), reading.topology).alias("topology"),
        epoch_time(fn.col("stamp")).alias("time"),
        fn.substring(node, fn.lit(1), fn.length(node) - fn.length(port) - 1).alias("node"),
        port.try_cast("int").alias("worker"),
        fn.when(number.try_cast("int").isNotNull(), number).alias("task"),
        fn.substring(fn.col("f2"), fn.length(number) + 2, fn.length("f2")).alias("component"),
        zoned_time(local, reading.zone).alias("received"),
    )


def _with_metric(fields: DataFrame) -> DataFrame:
    """Add what the name tells: `metric`, `suffix` (the stream), and whether the line is whole."""
    name, text = fn.col("name"), fn.col("text")
    base = fn.col("base")
    metric = fn.when(fn.lit(False), fn.lit(None).cast("string"))
    for word, of in _BY_STREAM.items():
        metric = metric.when(base == word, of)
    for word, of in {**_USED_BYTES, **_CPU, **_LEVELS}.items():
        metric = metric.when(name == word, of)
    metric = metric.when(name.isin(*_CPU_TOTALS), _CPU["CGroupCpu"])
    metric = metric.when((name == _SERVER) & text.contains(_SIZES), "received_bytes")
    metric = metric.when(name.startswith("GC/"), "gc_ns")
    metric = metric.when(name.startswith("GC.") & name.endswith(".time"), _GC_RUNNING)
    named = fields.withColumn("metric", metric).withColumn(
        "suffix",
        fn.when(name.startswith("__"), fn.substring(name, fn.length(base) + 2, fn.length(name))),
    )
    is_map = (fn.col("suffix") == "") | name.isin(*_USED_BYTES, *_CPU) | name.startswith("GC/")
    metric = fn.col("metric")
    is_time = metric.endswith("_ns")
    is_mean = is_time & (name.startswith("__") | (metric == "uptime_ns"))
    is_rate = _is_rate(metric)
    has_shape = (
        fn.when(metric == "received_bytes", _has_sizes(text))
        .when(
            fn.coalesce(is_map, fn.lit(False)),
            fn.when(is_mean, text.rlike(_map_of(_MEAN)))
            .when(is_time, text.rlike(_map_of(_MILLIS)))
            .otherwise(text.rlike(_map_of(_COUNT)))
            & ~(text.contains(", ") & text.rlike(_KEY_TWICE)),
        )
        .when(is_mean | is_rate, text.rlike(f"^{_MEAN}$"))
        .when(is_time, text.rlike(f"^{_MILLIS}$"))
        .otherwise(text.rlike(f"^{_COUNT}$"))
    )
    # Of the maps of a JVM's memory, not all numbers count, and some are -1.
    below = text.startswith("-") | (text.contains("=-") & ~name.isin(*_USED_BYTES))
    read = (
        fn.col("has_form")
        & fn.col("time").isNotNull()
        & (fn.col("local").isNull() | fn.col("received").isNotNull())
        & fn.col("worker").isNotNull()
        & fn.col("task").isNotNull()
        & (fn.col("component") != "")
    )
    unused = metric.isNull()
    return named.withColumns(
        {
            "is_whole": fn.coalesce(read, fn.lit(False)) & (unused | has_shape),
            "sign": fn.when(~unused & below, -1).otherwise(0),
            "suffix": fn.coalesce("suffix", fn.lit("")),
        }
    )


def _is_rate(metric: Column) -> Column:
    """Say whether a line has the rate that Storm writes beside a running total.

    Its name ends in ``.m1_rate``, or what is left of that; its number has a point.
    """
    is_named = fn.col("suffix").rlike(_RATE)
    return metric.endswith("_count") & (fn.col("text").contains(".") | is_named)


def _map_of(number: str) -> str:
    """Return the pattern of a map, as Java writes it, with such numbers."""
    entry = f"{_KEY}={number}"
    return rf"^\{{(?:{entry}(?:, {entry})*)?\}}$"


def _sizes(text: Column) -> Column:
    """Give the pairs of tasks in a line of a worker's server, as ``FROM-TO=BYTES``."""
    inner = fn.substring_index(after(text, _SIZES), "}", 1)
    return fn.filter(fn.split(inner, ", "), lambda pair: pair != "")


def _has_sizes(text: Column) -> Column:
    """Say whether a line of a worker's server is one that Storm writes.

    The sizes may be those of many thousand pairs, too many for one regular expression.
    """
    pairs = _sizes(text)
    written = fn.concat(fn.lit(_SIZES), fn.array_join(pairs, ", "), fn.lit("}"))
    around = fn.replace(text, written, fn.lit("sizes=0"))
    numbers = rf"\{{(?:{_KEY}={_COUNT}(?:, {_KEY}={_COUNT})*)?\}}"
    part = rf"{_KEY}=(?:{_COUNT}|{numbers})"
    keys = fn.transform(pairs, lambda pair: fn.substring_index(pair, "=", 1))
    return (
        around.rlike(rf"^\{{{part}(?:, {part})*\}}$")
        & ~around.contains(_SIZES)
        & fn.forall(pairs, lambda pair: pair.rlike(_PAIR))
        & (fn.size(fn.array_distinct(keys)) == fn.size(keys))
    )


def _entries() -> Column:
    """Give the entries of a line that count, as ``KEY=NUMBER`` or ``NUMBER``.

    A faulty line has one, a metric that is not used none. That is not a filter, because Spark would
    compute the parts of every line once for it and once for the rest.
    """
    name, text, metric = fn.col("name"), fn.col("text"), fn.col("metric")
    inner = fn.col("inner")

    def entry(key: str) -> Column:
        return fn.substring_index(after(fn.concat(fn.lit(" "), inner), f" {key}="), ",", 1)

    user, system = (fn.concat(fn.lit(f"{one}="), entry(f"{one}-ms")) for one in ("user", "sys"))
    collector = fn.substring(name, fn.lit(4), fn.length(name))
    running = fn.substring(name, fn.lit(4), fn.length(name) - 8)
    part = fn.substring_index(fn.substring_index(name, ".", -1), "-", 1)
    # What a worker itself sends, such as metrics, is of no task.
    sizes = fn.filter(_sizes(text), lambda pair: ~pair.startswith("-"))
    one_number, nothing = fn.array(text), fn.array().cast("array<string>")
    in_name, is_rate = fn.col("suffix") != "", _is_rate(metric)
    return (
        fn.when(fn.col("reason").isNotNull(), fn.array(fn.lit(None).cast("string")))
        .when(metric.isNull() | (in_name & is_rate), nothing)
        .when(metric == "received_bytes", sizes)
        .when(in_name, one_number)
        .when(name.startswith("__") & (inner != ""), fn.split(inner, ","))
        .when(name.startswith("__"), nothing)
        .when(name.isin(*_USED_BYTES), fn.array(entry("usedBytes")))
        .when(name.isin(*_CPU), fn.array(user, system))
        .when(name.isin(*_CPU_TOTALS), fn.array(fn.concat(part, fn.lit("="), text)))
        .when(metric == "gc_ns", fn.array(fn.concat(collector, fn.lit("="), entry("timeMs"))))
        .when(metric == _GC_RUNNING, fn.array(fn.concat(running, fn.lit("="), text)))
        .otherwise(one_number)
    )


def _scale(metric: Column) -> Column:
    """Give the integers in one unit of the log: nanoseconds of seconds and of milliseconds."""
    seconds, milliseconds = fn.lit(1e9), fn.lit(1e6)
    return (
        fn.when(metric == "uptime_ns", seconds)
        .when(metric.endswith("_ns"), milliseconds)
        .otherwise(fn.lit(1.0))
    )
