"""What ties a process to those above and below it, where the system can (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from functools import cache

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent, `parent`, ends."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
