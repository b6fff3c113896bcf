"""The Structured Streaming job: lines in, parsed lines kept, each exactly once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slotwise.benchmarks.following.checkpoint import Checkpoint
from slotwise.benchmarks.following.kept_lines import DAY
from slotwise.benchmarks.following.sources import Source
from slotwise.benchmarks.statistics.reading import Reading
from slotwise.models.errors import SlotwiseError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True)
class Trigger:
    """When the stream looks for new lines.

    Parameters
    ----------
    seconds
        From one look to the next, above 0.
    once
        Whether it ends when what is there now has been read, in as many batches as that takes.
    """

    seconds: float = 30.0
    once: bool = False


def start(
    spark: SparkSession, source: Source, reading: Reading, checkpoint: Checkpoint, trigger: Trigger
) -> StreamingQuery:
    """Start to keep the parsed lines of `source`; it runs until it is stopped.

    The watermark is the time of the latest line less the lateness; nothing is dropped for it here,
    because what is late is a rule on a line (`clock_skew`). It is shown in Spark's progress.
    """
    from slotwise.benchmarks.statistics.parsing import parsed

    lines = parsed(source.lines(spark), reading)
    marked = lines.withWatermark("time", f"{reading.lateness_s} seconds")
    writer = marked.writeStream.format("parquet").outputMode("append").partitionBy(DAY)
    writer = writer.option("checkpointLocation", str(checkpoint.spark))
    writer = writer.option("path", str(checkpoint.lines)).queryName(checkpoint.stream)
    if trigger.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{round(1000 * trigger.seconds)} milliseconds").start()


def reading_in_words(reading: Reading) -> str:
    """Return all that decides how lines are parsed; lateness and the like are judged later."""
    known = {topology: sorted(names) for topology, names in sorted(reading.components.items())}
    return json.dumps({"topology": reading.topology, "zone": reading.zone, "components": known})


def check_ended(query: StreamingQuery) -> None:
    """Raise what ended a query that has ended.

    Raises
    ------
    SlotwiseError
        One line; none where it ended by itself.
    """
    error = query.exception()
    if error is not None:
        reason = str(error).strip().splitlines()[0]
        raise SlotwiseError(f"the stream failed: {reason}")
