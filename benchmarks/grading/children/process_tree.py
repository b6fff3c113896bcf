"""A process and what it has started: who they are, and how much memory they hold."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil

MB = 2**20

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, FileNotFoundError, ProcessLookupError)

_LISTED = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()
"""Whether the system lists the children of a thread: then no look at all processes is needed."""


def children(pid: int) -> list[int]:
    """Return the process ids of the children of a process; none where it has gone."""
    if not _LISTED:
        with suppress(*_GONE):
            return [one.pid for one in psutil.Process(pid).children()]
        return []
    found: list[int] = []
    with suppress(*_GONE):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def tree(pid: int) -> list[int]:
    """Return the process ids of a process and of all below it."""
    found = [pid]
    for one in found:  # grows while it is read
        found += children(one)
    return found


def held_mb(pid: int, enough_mb: float) -> float:
    """Return the memory that a process and all below it hold, in units of 2^20 bytes.

    Resident memory. Where the sum for several processes is above `enough_mb`, it is taken again
    with shared pages divided among those that share them, where the system tells.
    """
    processes = tree(pid)
    resident = sum(map(_resident, processes)) / MB
    if resident <= enough_mb or len(processes) == 1:
        return resident
    return sum(map(_proportional, processes)) / MB


def _resident(pid: int) -> int:
    with suppress(*_GONE):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def _proportional(pid: int) -> int:
    if sys.platform != "linux":
        return _resident(pid)
    with suppress(*_GONE):
        return int(psutil.Process(pid).memory_full_info().pss)
    return 0
