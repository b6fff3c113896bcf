"""How much memory a process and what it has started hold, and whether the system kills for it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import psutil

from slotwise.processes.reaper import tree

MB = 2**20

_COUNTERS = Path("/proc/vmstat")


def held_mb(pid: int, enough_mb: float) -> float:
    """Return the memory that a process and all below it hold, in units of 2^20 bytes.

    Resident memory. Where the sum for several processes is above `enough_mb`, it is taken again
    with shared pages divided among those that share them, where the system tells.
    """
    processes = tree(pid)
    resident = sum(map(_resident, processes)) / MB
    if resident <= enough_mb or len(processes) == 1 or sys.platform != "linux":
        return resident
    return sum(map(_proportional, processes)) / MB


def _resident(pid: int) -> int:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def _proportional(pid: int) -> int:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return int(psutil.Process(pid).memory_full_info().pss)
    return 0


def kernel_kills() -> int:
    """Return how many processes the system has killed for lack of memory; 0 where it hides that."""
    with suppress(OSError):
        for line in _COUNTERS.read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
