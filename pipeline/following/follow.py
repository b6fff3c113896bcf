"""``slotwise follow``: the loop from stored lines to advice.

The stream stores lines by itself. Here, after each batch it has stored, weights are computed from
all lines so far, the instance of the weights is solved, and one line of advice is written. Every
step is a function of the batch's number and the advice before it; a crash between any two of them
leaves a batch without advice, which the next run gives first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.pipeline.following import advice_file
from slotwise.pipeline.following.advice import Advice, Batch, advise, time_ms
from slotwise.pipeline.following.checkpoint import open_checkpoint
from slotwise.pipeline.following.hysteresis import State
from slotwise.pipeline.following.measuring import Measuring
from slotwise.pipeline.following.saving import saving
from slotwise.pipeline.following.settings import Following
from slotwise.pipeline.following.sources import Source
from slotwise.pipeline.following.stream import Stream, reading_in_words
from slotwise.pipeline.spark.session import job_errors
from slotwise.solver.core.supervision import Presses, counted_presses

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slotwise.pipeline.statistics.weights.measured import Measured

POLL_S = 0.1
"""Seconds between two checks for a new batch or Ctrl-C."""

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Followed:
    """The result of a run.

    Parameters
    ----------
    advices
        Number of lines of advice written.
    file
        The file of advice.
    interrupted
        Whether Ctrl-C ended it; the next run continues.
    refused
        Number of batches without advice because their lines are not credible.
    unreadable
        Path -> what is wrong with it, of the files that are left out, in earlier runs too.
    """

    advices: int
    file: Path
    interrupted: bool
    refused: int = 0
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the fields, JSON-ready."""
        return {
            "advices": self.advices,
            "file": str(self.file),
            "interrupted": self.interrupted,
            "refused": self.refused,
            "unreadable": dict(self.unreadable),
        }


def follow(
    spark: SparkSession,
    source: Source,
    measuring: Measuring,
    settings: Following,
    keep: Callable[[Instance], None],
    tell: Callable[[Advice], None],
    warn: Callable[[str], None],
) -> Followed:
    """Store the lines of `source` and give advice on them, batch by batch, until it is stopped.

    Ctrl-C ends it in the main thread: stored lines are kept, and the next run continues.

    Parameters
    ----------
    spark
        A session.
    source, measuring
        The source of lines, how they are read, and how weights are computed from them.
    settings
        The settings of the run.
    keep
        Called with the instance of each batch's weights, before its advice; after a crash perhaps
        once more.
    tell
        Called with each advice, once it is in the file.
    warn
        Called with the reason why there is no advice on a batch, because lines are not credible.

    Raises
    ------
    InputError
        When the checkpoint or the file of advice belongs to another stream.
    SlotwiseError
        When the stream fails.
    """
    made_of = {"source": source.describe(), "reading": reading_in_words(measuring.reading)}
    checkpoint = open_checkpoint(settings.checkpoint, made_of)
    file = settings.advice or checkpoint.advice
    written = advice_file.mend(file, checkpoint.stream)
    advised, state = (-1, State()) if written is None else (written.batch, written.state)
    count = refused = 0

    def refuse(reason: str) -> None:
        nonlocal refused
        refused += 1
        warn(reason)

    stream = Stream(spark, source, measuring.reading, checkpoint, settings.trigger)
    with counted_presses() as presses, stopping(stream):
        while _wait_for_batch(stream, advised, presses):
            work = partial(_measured, stream, measuring, refuse)
            result = _unless_pressed(presses, work)
            if result is None:  # Ctrl-C
                break
            advised, measured = result
            if measured is None:
                continue
            instance = measuring.instance_of(measured)
            saved = saving(instance, settings.search)
            if is_pressed(presses):  # the search was cut short
                break
            batch = Batch(checkpoint.stream, advised, _ms(measured.last), measured.samples)
            advice = advise(batch, saved, state, settings.thresholds)
            keep(instance)
            advice_file.append(file, advice)
            tell(advice)
            state, count = advice.state, count + 1
        return Followed(count, file, is_pressed(presses), refused, stream.unreadable())


def _wait_for_batch(stream: Stream, advised: int, presses: Presses) -> bool:
    """Wait until there is a batch after `advised`; false: the query has ended, or Ctrl-C."""
    while not is_pressed(presses):
        ended = not stream.query.isActive  # asked first: what ended keeps nothing afterwards
        if stream.batch > advised:
            return True
        if not ended:
            time.sleep(POLL_S)
        elif not stream.goes_on():
            return False
    return False


def _measured(
    stream: Stream, measuring: Measuring, refuse: Callable[[str], None]
) -> tuple[int, Measured | None]:
    """Return the last batch and the weights of all lines up to it; ``None`` = there are none."""
    with stream.lock:
        try:
            return stream.batch, measuring.measured(stream.spark, stream.tables())
        except InputError as error:
            refuse(f"no advice on batch {stream.batch}: {error}")
            return stream.batch, None


def _unless_pressed(presses: Presses, work: Callable[[], Done]) -> Done | None:
    """Return what `work` returns; ``None`` as soon as Ctrl-C is pressed, without waiting for it."""
    with job_errors():
        pool = ThreadPoolExecutor(1)
        future = pool.submit(work)
        pool.shutdown(wait=False)
        while not is_pressed(presses):
            try:
                return future.result(POLL_S)
            except NotYet:  # also what the system says of a disk that does not answer
                if future.done():
                    return future.result()
    return None


def is_pressed(presses: Presses) -> bool:
    """Whether Ctrl-C was pressed; it may be at any moment."""
    return presses.count > 0


def _ms(time: datetime) -> int:
    return time_ms(time.isoformat())


@contextmanager
def stopping(stream: Stream) -> Iterator[None]:
    """Stop its query, whatever happens inside."""
    try:
        yield
    finally:
        stream.query.stop()
