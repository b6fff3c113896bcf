"""Names of metrics that Storm cut, so that what belongs together has one key again.

With the stream in its name, ``__execute-count-lines:default`` is printed as
``__execute-count-lines:d``, and ``__execute-latency-lines:default`` as ``__execute-latency-lines``:
the latency has the fewest characters left, 5. A sender of that length or more may be cut in one of
the two. It is known by its component alone, where the topology has only one of which that is the
beginning; else what was cut does not tell whose tuples these are, and is joined to nothing.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.columns import lookup
from slotwise.pipeline.statistics.reading import Reading

OF_INPUTS = ("execute_count", "execute_ns", "process_ns")
"""Metrics with a sender in their name: its component, a colon, its stream."""
CUT = "*"
"""The last character of `other` in `SAMPLES` where Storm may have cut it."""
_LEFT = 23 - len("__execute-latency-")


def sender_of(suffix: Column, reading: Reading) -> Column:
    """Give ``component:stream`` of a sender from what is left of it in the name of a metric.

    Where it may be cut, the stream is what is left of it and `CUT`; without a colon: the component
    is not known either. The row has `topology`.
    """
    whole = {
        f"{topology}/{name[:length]}": fn.lit(name)
        for topology, names in reading.components.items()
        for name in names
        for length in range(_LEFT, len(name) + 1)
        if sum(other.startswith(name[:length]) for other in names) == 1
    }
    component = lookup(whole, fn.concat_ws("/", "topology", suffix), "string")
    cut = (
        fn.when(suffix.contains(":"), fn.concat(suffix, fn.lit(CUT)))
        .when(component.isNotNull(), fn.concat(component, fn.lit(f":{CUT}")))
        .otherwise(fn.concat(suffix, fn.lit(CUT)))
    )
    return fn.when(fn.length(suffix) < _LEFT, suffix).otherwise(cut)


def joined(other: Column, metric: Column) -> Column:
    """Give one key for what is left of a sender in the names of different metrics.

    ``lines:d*`` and ``lines:*`` become ``lines:*``; what is not cut stays.
    """
    is_cut = metric.isin(*OF_INPUTS) & other.endswith(CUT) & other.contains(":")
    sender = fn.concat(fn.substring_index(other, ":", 1), fn.lit(f":{CUT}"))
    return fn.when(is_cut, sender).otherwise(other)
