"""Ctrl-C while searches run: the signal becomes a wish to stop (a cancelled token).

Outside of searches others handle it: `cli.exits.held` puts it off while native modules load,
`pipeline.spark.session` while Spark starts. Whatever is left raises `KeyboardInterrupt`, which
`cli.exits.run` and the commands `grade` and `profile` catch.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from slotwise.models.cancellation import CancellationToken

RUNNING: set[threading.Thread] = set()
"""The threads of searches that run: one still here when a command ends was left behind."""


def is_any_left_behind() -> bool:
    """Return whether a search that was told to stop still runs.

    The interpreter must not be torn down below native code: the process leaves by `os._exit` then.
    """
    return bool(RUNNING)


class Presses:
    """How often Ctrl-C was pressed since we listen; the first press cancels `token`."""

    def __init__(self) -> None:
        self.count = 0
        self.token = CancellationToken()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Count one, as the handler of the signal."""
        self.count += 1
        self.token.cancel()


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
