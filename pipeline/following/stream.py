"""The Structured Streaming job: lines in, parsed lines kept, each exactly once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slotwise.models.errors import InputError, SlotwiseError, in_file
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.pipeline.following.checkpoint import Checkpoint
from slotwise.pipeline.following.kept_lines import DAY
from slotwise.pipeline.following.sources import LogFolder, Source
from slotwise.pipeline.statistics.reading import Reading

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
    from slotwise.pipeline.statistics.parsing import parsed

    lines = parsed(source.lines(spark), reading)
    marked = lines.withWatermark("time", f"{reading.lateness_s} seconds")
    writer = marked.writeStream.format("parquet").outputMode("append").partitionBy(DAY)
    writer = writer.option("checkpointLocation", str(checkpoint.spark))
    writer = writer.option("path", str(checkpoint.lines)).queryName(checkpoint.stream)
    if trigger.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{round(1000 * trigger.seconds)} milliseconds").start()


@dataclass(slots=True)
class Stream:
    """A stream that goes on without the files that cannot be read.

    Such a file ends Spark's query. It is then looked for, named in the checkpoint, and left out as
    a whole when the query starts again, which repeats the batch that failed.
    """

    spark: SparkSession
    source: Source
    reading: Reading
    checkpoint: Checkpoint
    trigger: Trigger
    query: StreamingQuery = field(init=False)

    def __post_init__(self) -> None:
        """Start it."""
        self._start()

    def unreadable(self) -> dict[str, str]:
        """Return path -> what is wrong with it, of the files that were left out."""
        path = self.checkpoint.unreadable
        if not path.is_file():
            return {}
        with in_file(str(path)):
            found = parse_json(path.read_text("utf-8"))
            if not isinstance(found, dict):
                raise InputError("is damaged; remove it", has_value=False)
            return found

    def goes_on(self) -> bool:
        """Start again a query that ended by unreadable files; false: it ended by itself.

        Raises
        ------
        SlotwiseError
            When it ended by something else.
        """
        failed = failure(self.query)
        if failed is None:
            return False
        source, known = self.source, self.unreadable()
        faults = source.unreadable() if isinstance(source, LogFolder) else {}
        new = {path: fault for path, fault in faults.items() if path not in known}
        if not new:
            raise failed
        text = json.dumps({**known, **new}, indent=1, ensure_ascii=False)
        write_atomically(self.checkpoint.unreadable, text + "\n")
        self._start()
        return True

    def _start(self) -> None:
        source = self.source
        if isinstance(source, LogFolder):
            source = replace(source, left_out=tuple(self.unreadable()))
        self.query = start(self.spark, source, self.reading, self.checkpoint, self.trigger)


def reading_in_words(reading: Reading) -> str:
    """Return all that decides how lines are parsed; lateness and the like are judged later."""
    known = {topology: sorted(names) for topology, names in sorted(reading.components.items())}
    return json.dumps({"topology": reading.topology, "zone": reading.zone, "components": known})


def failure(query: StreamingQuery) -> SlotwiseError | None:
    """Return what ended a query, in one line; ``None`` where it ended by itself."""
    error = query.exception()
    if error is None:
        return None
    reason = str(error).strip().splitlines()[0]
    return SlotwiseError(f"the stream failed: {reason}")
