"""Calling code that may not end: after a time it is given up."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

X = TypeVar("X")


class GivenUpError(Exception):
    """A call did not end in its time."""


class _Stop(SystemExit):
    """Raised in the thread of a call that was given up; a thread that ends by it says nothing."""


def call_within(seconds: float, function: Callable[[], X]) -> X:
    """Return ``function()``, called in a thread of its own; what it raises is raised here.

    Parameters
    ----------
    seconds
        Wall-clock limit, above 0.
    function
        What to call. After the limit an exception is raised in its thread, which ends a loop in
        Python; a thread that waits in native code is left behind, and ends with the process.

    Raises
    ------
    GivenUpError
        When the limit has passed.
    """
    returned: list[X] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(function())
        except BaseException as error:  # noqa: BLE001 (it is raised again in the caller's thread)
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name="scheduler under test")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        _stop(thread)
        raise GivenUpError
    if raised:
        raise raised[0]
    return returned[0]


def _stop(thread: threading.Thread) -> None:
    if thread.ident is not None:
        ident = ctypes.c_ulong(thread.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_Stop))
