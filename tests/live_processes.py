"""Whether processes of a test have ended."""

from __future__ import annotations

import time

import psutil


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a child of nobody may stay as a zombie for a moment."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end_in_time(*pids: int, seconds: float = 20) -> bool:
    """Return whether all processes end within some seconds."""
    deadline = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
