"""Ctrl-C while searches run in threads; how these are told to stop is in `models.cancellation`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from slotwise.models.cancellation import (
    Stop,
    check_stop,
    current_deadline,
    heeding,
    is_stop_requested,
    this_stop,
    until,
)

__all__ = [
    "RUNNING",
    "Presses",
    "Stop",
    "check_stop",
    "counted_presses",
    "current_deadline",
    "heeding",
    "is_any_left_behind",
    "is_stop_requested",
    "this_stop",
    "until",
]


RUNNING: set[threading.Thread] = set()
"""The threads of searches that run: one still here when a command ends was left behind."""


def is_any_left_behind() -> bool:
    """Return whether a search that was told to stop still runs.

    The interpreter must not be torn down below native code: the process leaves by `os._exit` then.
    """
    return bool(RUNNING)


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
