"""The Structured Streaming job: lines in, each in the tables exactly once.

Spark delivers the lines batch by batch; after a crash it repeats the batch that it has not recorded
as done, with the same lines. The tables (`slotwise.pipeline.statistics.run`) record which batches
they hold, so that a repeated batch changes nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from slotwise.models.errors import InputError, SlotwiseError, in_file
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.text import read_text
from slotwise.pipeline.following.checkpoint import Checkpoint
from slotwise.pipeline.following.sources import LogFolder, Source
from slotwise.pipeline.spark.paths import local_address
from slotwise.pipeline.statistics.reading import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from slotwise.pipeline.statistics.run import Tables


@dataclass(frozen=True, slots=True)
class Trigger:
    """When the stream reads new lines.

    Parameters
    ----------
    seconds
        Interval, above 0.
    once
        Whether it ends when all present lines have been read, in as many batches as that takes.
    """

    seconds: float = 30.0
    once: bool = False


@dataclass(slots=True)
class Stream:
    """A stream that continues without the files that cannot be read.

    Such a file ends Spark's query. It is then identified, listed in the checkpoint, and left out as
    a whole when the query starts again, which repeats the failed batch.

    Attributes
    ----------
    lock
        Held while a batch is added to the tables, and while they are read.
    batch
        The last batch that the tables hold; -1 = none yet.
    query
        Spark's.
    """

    spark: SparkSession
    source: Source
    reading: Reading
    checkpoint: Checkpoint
    trigger: Trigger
    lock: Lock = field(default_factory=Lock)
    batch: int = field(init=False)
    query: StreamingQuery = field(init=False)

    def __post_init__(self) -> None:
        """Start it."""
        self.batch = self.tables().last_batch
        self._start()

    def tables(self) -> Tables:
        """Return the tables as they are now."""
        from slotwise.pipeline.statistics.run import read_tables

        return read_tables(self.checkpoint.tables, self.reading)

    def unreadable(self) -> dict[str, str]:
        """Return path -> what is wrong with it, of the files that were left out."""
        path = self.checkpoint.unreadable
        if not path.is_file():
            return {}
        with in_file(str(path)):
            reasons = parse_json(read_text(path))
            if not isinstance(reasons, dict):
                raise InputError("is damaged; remove it", has_value=False)
            return reasons

    def goes_on(self) -> bool:
        """Restart a query that ended because of unreadable files; false: it ended by itself.

        Raises
        ------
        SlotwiseError
            When it ended for another reason.
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
        writer = source.lines(self.spark).writeStream.foreachBatch(self._add)
        writer = writer.option("checkpointLocation", local_address(self.checkpoint.spark))
        writer = writer.queryName(self.checkpoint.stream)
        if self.trigger.once:
            self.query = writer.trigger(availableNow=True).start()
        else:
            ms = round(1000 * self.trigger.seconds)
            self.query = writer.trigger(processingTime=f"{ms} milliseconds").start()

    def _add(self, raw: DataFrame, batch: int) -> None:
        from slotwise.pipeline.statistics.run import add_batch

        with self.lock:
            add_batch(raw.sparkSession, raw, batch, self.checkpoint.tables, self.reading)
            self.batch = batch


def reading_in_words(reading: Reading) -> str:
    """Return the settings that decide how lines are parsed; lateness and so on is judged later."""
    known = {topology: sorted(names) for topology, names in sorted(reading.components.items())}
    return json.dumps({"topology": reading.topology, "zone": reading.zone, "components": known})


def failure(query: StreamingQuery) -> SlotwiseError | None:
    """Return the error that ended a query, in one line; ``None`` where it ended by itself."""
    error = query.exception()
    if error is None:
        return None
    reason = str(error).strip().splitlines()[0]
    return SlotwiseError(f"the stream failed: {reason}")
