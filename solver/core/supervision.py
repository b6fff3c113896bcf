"""Running a search in a thread while the caller's thread watches it, Ctrl-C and the clock."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Generic, TypeVar

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.progress import OnProgress, Progress

T = TypeVar("T")

POLL_S = 0.1
"""Seconds until Ctrl-C is noticed where the system does not interrupt the wait itself."""
GRACE_S = 1.0
"""Seconds that a search may take to end after Ctrl-C; then it is abandoned."""
ASK_AFTER_S = 0.1
"""A search that has not ended this long after its time limit is asked to stop."""
LEAVE_AFTER_S, LEAVE_AFTER_SHARE = 0.5, 0.02
"""A search is abandoned this long after its time limit, plus this share of the limit."""


class Task(Generic[T]):
    """A call in a separate daemon thread, which can be asked to stop.

    Parameters
    ----------
    work
        The function to call with `token`.
    ring
        Called in the thread when the call has ended.
    token
        Asks it to stop.
    """

    def __init__(
        self, work: Callable[[RunToken], T], ring: Callable[[], None], token: RunToken
    ) -> None:
        self.token = token
        self._work = work
        self._ring = ring
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        RUNNING.add(self._thread)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work(self.token))
        except BaseException as error:  # noqa: BLE001 (raised again by `result`)
            self._errors.append(error)
        finally:
            RUNNING.discard(self._thread)
            self._ring()

    @property
    def has_ended(self) -> bool:
        """Whether there is a result, or an error."""
        return bool(self._results or self._errors)

    @property
    def has_failed(self) -> bool:
        """Whether the call raised something."""
        return bool(self._errors)

    def answer(self) -> T | None:
        """Return what the call returned; ``None`` if it still runs or stopped on request.

        Any other exception that it raised is raised here.
        """
        was_cancelled = any(isinstance(error, CancelledError) for error in self._errors)
        stopped = was_cancelled and self.token.is_cancelled
        return None if not self.has_ended or stopped else self.result()

    def result(self) -> T:
        """Return what the call returned, or raise what it raised; only after it has ended."""
        if self._errors:
            raise self._errors[0]
        return self._results[0]


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The moments (`time.perf_counter`) at which a search is asked to stop, and is abandoned."""

    ask_at: float
    leave_at: float

    @classmethod
    def of(cls, started: float, time_s: float) -> TimeLimit:
        """Return the moments for a search that has `time_s` seconds from `started` on."""
        end = started + time_s
        return cls(end + ASK_AFTER_S, end + LEAVE_AFTER_S + LEAVE_AFTER_SHARE * time_s)


NO_TIME_LIMIT = TimeLimit(math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Supervised(Generic[T]):
    """The end of a supervised search.

    Parameters
    ----------
    answer
        What it returned; ``None`` if it did not end in time or returned nothing.
    interrupted
        Whether Ctrl-C was pressed.
    """

    answer: T | None
    interrupted: bool


def supervised(
    work: Callable[[RunToken], T],
    events: SimpleQueue[Progress | None],
    on_progress: OnProgress | None,
    limit: TimeLimit = NO_TIME_LIMIT,
    parent: RunToken | None = None,
) -> Supervised[T]:
    """Return what `work` returns, if it ends in time and its memory lasts (`Memory.is_overdue`).

    Parameters
    ----------
    work
        Runs in a thread with a token, which is cancelled on Ctrl-C; abandoned `GRACE_S` later, or
        when Ctrl-C is pressed again. The same happens, sooner, at its time limit. A press that the
        caller's `counted_presses` has counted before counts, too: it was meant for this search.
    events
        Events of `work`; passed to `on_progress` in this thread.
    on_progress
        An exception that it raises ends the search and is raised here.
    limit
        Of the search.
    parent
        A token that the search also follows, and whose memory it uses; ``None`` = there is none.
    """
    token = (RunToken() if parent is None else parent).child(limit.ask_at)
    with counted_presses() as presses:
        patience = limit.leave_at
        task = Task(work, lambda: events.put(None), token)
        try:
            while not task.has_ended and time.perf_counter() < patience:
                try:
                    _hand_on(events, on_progress, POLL_S)
                except KeyboardInterrupt:  # somebody else's handler, or none
                    presses.count += 1
                if presses.count:
                    token.cancel()
                    patience = min(patience, time.perf_counter() + GRACE_S)
                if presses.count > 1 or (token.memory is not None and token.memory.is_overdue):
                    break
        finally:
            token.cancel()
        while not events.empty():
            _hand_on(events, on_progress, 0.0)
        return Supervised(task.answer(), presses.count > 0)


def _hand_on(
    events: SimpleQueue[Progress | None], on_progress: OnProgress | None, timeout_s: float
) -> None:
    """Wait for one event and pass it on."""
    try:
        event = events.get(timeout=timeout_s)
    except Empty:
        return
    if event is not None and on_progress is not None:
        on_progress(event)


# Ctrl-C while searches run: the signal becomes a request to stop (a cancelled token).
#
# Outside of searches it is handled elsewhere: `cli.exits.held` defers it while native modules load,
# `pipeline.spark.session` while Spark starts. Otherwise it raises `KeyboardInterrupt`, which
# `cli.exits.run` and the commands `grade` and `profile` catch.

RUNNING: set[threading.Thread] = set()
"""The threads of running searches: one still here when a command ends was abandoned."""


def is_any_abandoned() -> bool:
    """Return whether an abandoned search still runs.

    The interpreter must not be finalized under running native code: the process then ends by
    `os._exit`.
    """
    return bool(RUNNING)


class Presses:
    """Counts how often Ctrl-C was pressed since its creation; the first press cancels `token`."""

    def __init__(self) -> None:
        self.count = 0
        self.token = CancellationToken()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal: count one press."""
        self.count += 1
        self.token.cancel()


@contextmanager
def counted_presses() -> Iterator[Presses]:
    """Count Ctrl-C instead of raising `KeyboardInterrupt` at an arbitrary moment.

    A count that has begun continues. Where other code handles Ctrl-C, and outside the main thread,
    nothing changes and the count stays at 0.
    """
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Presses):
        yield handler
        return
    presses = Presses()
    main = threading.current_thread() is threading.main_thread()
    if not main or handler is not signal.default_int_handler:
        yield presses
        return
    signal.signal(signal.SIGINT, presses)
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, handler)
