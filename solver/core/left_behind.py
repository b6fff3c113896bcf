"""The threads of searches that run: one still here when a command ends was left behind.

The interpreter must not be torn down below native code: the process leaves by `os._exit` then.
"""

from __future__ import annotations

import threading

RUNNING: set[threading.Thread] = set()


def is_any_left_behind() -> bool:
    """Return whether a search that was told to stop still runs."""
    return bool(RUNNING)
