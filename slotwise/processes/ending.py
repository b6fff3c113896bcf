"""The one way to end a process that we started in a session of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from subprocess import TimeoutExpired
from typing import Protocol

from slotwise.processes.reaper import tree


class Process(Protocol):
    """A `subprocess.Popen`, or a `psutil.Process` that is a child of this one."""

    @property
    def pid(self) -> int:
        """Its id."""

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end; return its exit code."""


def end_process(
    process: Process, patience_s: float = 0.0, ask: Callable[[], object] | None = None
) -> int:
    """End a process that leads a session of its own, with what it has started.

    What has left its session is found while the process itself runs; see `reaper` for a process
    of which nothing may stay.

    Parameters
    ----------
    process
        Running or not.
    patience_s
        Seconds that it may take to end once it was asked to; 0 = it is killed at once.
    ask
        Asks it to; ``None`` = SIGTERM does.

    Returns
    -------
    int
        Its exit code; below 0: the signal that ended it.
    """
    has_ended = getattr(process, "returncode", None) is not None
    if patience_s and not has_ended:
        if ask is None:
            _signal_session(process.pid, signal.SIGTERM)
        else:
            ask()
        with suppress(TimeoutExpired):
            process.wait(patience_s)
            has_ended = True
    if not has_ended:
        for pid in tree(process.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    _signal_session(process.pid, signal.SIGKILL)
    return process.wait() or 0


def _signal_session(leader: int, number: signal.Signals) -> None:
    """Send a signal to those that are still in the process group with which the session began."""
    with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM for nobody
        os.killpg(leader, number)
