"""Telling a search to stop, from Ctrl-C or from another thread.

Searches run in threads of their own. Python delivers Ctrl-C to the main thread alone, so a search
asks now and then whether its thread was told to stop (`check_stop`), and then ends as if Ctrl-C
had been pressed there: by a `KeyboardInterrupt` that it catches itself to keep what it found.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_here = threading.local()


class Stop:
    """A wish to stop; any thread may express it, once and for all.

    Parameters
    ----------
    around
        Of the search that this is a part of: its end is the end of the part, too.
    """

    def __init__(self, around: Stop | None = None) -> None:
        self._requested = False
        self._around = around

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop, this search or one around it."""
        return self._requested or (self._around is not None and self._around.requested)

    def request(self) -> None:
        """Ask to stop."""
        self._requested = True


@contextmanager
def heeding(stop: Stop) -> Iterator[None]:
    """Let the searches of this thread heed `stop`."""
    before = this_stop()
    _here.stop = stop
    try:
        yield
    finally:
        _here.stop = before


def this_stop() -> Stop | None:
    """Return what the searches of this thread heed; ``None`` = nothing."""
    stop: Stop | None = getattr(_here, "stop", None)
    return stop


def is_stop_requested() -> bool:
    """Return whether this thread was told to stop."""
    stop = this_stop()
    return stop is not None and stop.requested


def check_stop() -> None:
    """Raise `KeyboardInterrupt` where this thread was told to stop; costs next to nothing."""
    if is_stop_requested():
        raise KeyboardInterrupt


class Presses:
    """How often Ctrl-C was pressed since we listen."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Count one, as the handler of the signal."""
        self.count += 1


@contextmanager
def counted_presses() -> Iterator[Presses]:
    """Count Ctrl-C instead of raising `KeyboardInterrupt`, so that no moment is a wrong one.

    Where we count already, that count goes on; where somebody else handles Ctrl-C, or in another
    thread than the main one, nothing changes and the count stays at 0.
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
