"""The tables of the statistics pipeline: columns, metrics, reasons.

Every number is an integer in the smallest useful unit (tuples, nanoseconds, bytes, hertz): sums of
integers do not depend on the order of Spark's partitions, sums of doubles do.
"""

from __future__ import annotations

from pyspark.sql.types import StructType

RAW = "line string, path string"
"""What is read: a line of a log, and the file it came from."""

PARSED = (
    "topology string, day date, time timestamp, node string, worker int, task string, "
    "component string, metric string, other string, value bigint, source string, path string, "
    "received timestamp, running boolean, at int, reason string, line string"
)
"""`SAMPLES` before duplicates, lateness, clocks and running totals are judged.

`time` is by the node's clock; `received` by the collector's (null: not known), and `day` that of
`received`, or else of `time`. `running` says that
`value` is a running total since the worker started, not what happened since the last sample.
`at` is the place of the sample in its line, from 0: a faulty line has one row, or one for each of
its faulty samples.
`reason` is why the line cannot be used, `line` the line itself; both are null for a good one.
"""

PLACE = ("topology", "node", "worker", "task")
"""What samples are spread over processes by where they are summed by time: that needs rows of one
place only."""

SERIES_OF = (*PLACE, "component", "metric", "other", "source")
"""The series of a sample; two of one series and of the same time by the node's clock are the same
sample."""

SAMPLES = (
    "topology string, day date, time timestamp, node string, worker int, task string, "
    "component string, metric string, other string, value bigint, source string, path string, "
    "span_us bigint, gap_us bigint"
)
"""Clean samples, one number a row.

`time` is the end of the interval that the sample is about, UTC, by the collector's clock where
that is known (a node's skew is taken off); `day` its date in UTC. `worker` is the port of a
worker (null: not known). `task` is Storm's task id (``"-1"``: the worker itself) or a task's name
in JSON lines; `component` ``__system`` for a worker itself. `other`, by metric: the emitting
``component:stream`` (`execute_count`, `execute_ns`, `process_ns`, `ack_count` of bolts; with ``*``
at the end what is left of it where Storm cut it, see `cut_names`), the stream
(`emit_count`, `transfer_count`, `complete_ns`, `ack_count` of spouts), the receiving task
(`pair_tuples`, `pair_bytes`), sender and receiver as ``3-5`` (`received_bytes`), else null.
`source` is `STORM` or `JSON`. `span_us` is what an
increment of a running total covers, microseconds; null for all else. `gap_us` is the time since
the sample before of the same series, microseconds; null for the first.
"""

JUDGED = (
    "topology string, day date, time timestamp, node string, worker int, task string, "
    "component string, metric string, other string, value bigint, source string, path string, "
    "span_us bigint, gap_us bigint, is_sample boolean, is_aside boolean, reason string, line string"
)
"""`PARSED` after that: `is_sample` marks the rows of `SAMPLES`, `is_aside` those of `QUARANTINE`.

`time` is corrected; `day` is as in `PARSED`.
"""

QUARANTINE = (
    "topology string, day date, time timestamp, line string, path string, reason string, "
    "used boolean"
)
"""Lines with a fault and its `reason`, one of `REASONS`: the first sample of a line stands for all.

`used`: their numbers count nevertheless. `topology`, `day` and `time` are null where the line does
not tell. `line` is the raw line, or the sample in words where the line is good in itself (a
duplicate, a late one).
"""

CLOCKS = "topology string, day date, node string, skew_s bigint, lines bigint"
"""Seconds by which the collector's clock is ahead of a node's (negative: behind) on a day by the
collector's, over `lines` samples; 0 within the tolerance. A sample's time is corrected by it."""

STORM = "storm"
JSON = "json"

# What happened in the interval that ends at `time`.
COUNTS = ("execute_count", "emit_count", "transfer_count", "ack_count", "fail_count")
"""Tuples; of Storm they are multiples of the inverse of its sample rate (20 by default)."""
LATENCIES = ("execute_ns", "process_ns", "complete_ns")
"""Mean nanoseconds per tuple in the interval; a total is the mean times the count beside it."""
TOTALS = (
    *("cpu_ns", "cgroup_cpu_ns", "gc_ns", "tuples", "pair_tuples", "pair_bytes"),
    "received_bytes",
)
"""CPU time of a task (JSON lines) or of a worker (Storm: `CPU`; `CGroupCpu`; `other` is ``user`` or
``sys``, which add up); garbage collection of a worker (`other`: the collector); tuples that a task
executed; tuples and bytes from `task` to the task `other`; bytes that a worker received from a task
in another worker."""
# A level at `time`.
LEVELS = ("memory_bytes", "heap_bytes", "nonheap_bytes", "clock_hz", "uptime_ns")
"""Memory of a worker's control group; used heap and other memory of its JVM; the clock rate of the
node as a JSON line states it; time since the worker started."""
METRICS = (*COUNTS, *LATENCIES, *TOTALS, *LEVELS)
"""The values of the column `metric`."""

MALFORMED = "malformed"
NEGATIVE = "negative"
UNKNOWN_COMPONENT = "unknown component"
DUPLICATE = "duplicate"
CONTRADICTORY = "contradictory"
LATE = "late"
OUT_OF_ORDER = "out of order"
RESET = "reset"
AHEAD = "ahead"
IMPOSSIBLE = "impossible"
UNREADABLE = "unreadable file"
REASONS: dict[str, str] = {
    MALFORMED: "not a line of either kind, or a value that is not a number",
    NEGATIVE: "a count, time or size below zero",
    UNKNOWN_COMPONENT: "a component that the topology does not have",
    DUPLICATE: "the same sample once more; the first that was received counts",
    CONTRADICTORY: "the same sample with another value; the first that was received counts",
    LATE: "received too long after, or before, its time",
    OUT_OF_ORDER: "received after the next sample was due, but not late; it counts",
    RESET: "a running total below the last one: its worker was restarted; it counts from zero",
    AHEAD: "stamped more than a day after the time at which it was read: a clock is wrong",
    IMPOSSIBLE: "a value that cannot be, such as more time of a processor than there was",
    UNREADABLE: "a .gz or .zst file that cannot be decompressed; it is left out as a whole",
}
"""Why a line is in `QUARANTINE`, and what that means."""
USED = (OUT_OF_ORDER, RESET)
"""The reasons with which a line's numbers count nevertheless."""
HARMLESS = (*USED, DUPLICATE, LATE, UNKNOWN_COMPONENT, UNREADABLE)
"""The reasons that are not damage of the line itself.

A line that came twice or late is whole, one of another topology is right; of a file that cannot be
read, no line is known, and `Coverage` has what it lacks.
"""


def names(ddl: str) -> list[str]:
    """Give the names of a schema's columns, in order."""
    return [column.split()[0] for column in ddl.split(", ")]


def struct(ddl: str) -> StructType:
    """Give one of this module's schemas as Spark's type; needs no session."""
    kind = StructType.fromDDL(ddl)
    assert isinstance(kind, StructType)
    return kind
