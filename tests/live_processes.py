"""Whether a process of a test has ended."""

from __future__ import annotations

import psutil


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a child of nobody may stay as a zombie for a moment."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
