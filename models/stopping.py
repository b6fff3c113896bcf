"""Telling a search to stop: at a deadline, from Ctrl-C, or from another thread.

Searches run in threads of their own. Python delivers Ctrl-C to the main thread alone, so a loop
that may take long asks now and then whether its thread should stop (`check_stop`), and then ends
as if Ctrl-C had been pressed there: by a `KeyboardInterrupt` that the search catches to keep what
it found. A deadline of the thread is heeded in the same way, so no loop needs to be handed one.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()


class Stop:
    """A wish to stop; any thread may express it, once and for all.

    Parameters
    ----------
    deadline
        Moment (`time.perf_counter`) from which on the wish is there by itself.
    outer
        A wish that this one follows, too.
    """

    def __init__(self, deadline: float = math.inf, outer: Stop | None = None) -> None:
        self.deadline: float = deadline if outer is None else min(deadline, outer.deadline)
        self._outer = outer
        self._requested = False

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop, or the deadline has passed."""
        asked = self._requested or (self._outer is not None and self._outer.requested)
        return asked or time.perf_counter() >= self.deadline

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


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let the searches of this thread stop at `deadline` (`time.perf_counter`), if not before."""
    with heeding(Stop(deadline, this_stop())):
        yield


def this_stop() -> Stop | None:
    """Return what the searches of this thread heed; ``None`` = nothing."""
    stop: Stop | None = getattr(_here, "stop", None)
    return stop


def current_deadline() -> float:
    """Return the deadline that this thread heeds (`time.perf_counter`); infinite = none."""
    stop = this_stop()
    return math.inf if stop is None else stop.deadline


def is_stop_requested() -> bool:
    """Return whether this thread was told to stop, or its deadline has passed."""
    stop = this_stop()
    return stop is not None and stop.requested


def check_stop() -> None:
    """Raise `KeyboardInterrupt` where this thread should stop; costs next to nothing."""
    if is_stop_requested():
        raise KeyboardInterrupt
