"""How much memory a run may take, and how that is said."""

from __future__ import annotations

import os

from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.solver.core.memory_reading import default_limit_mb


def memory_limit_of(run: PlannedRun) -> int:
    """Return the limit of `run`, in units of 2^20 bytes.

    Its own, else its share of the machine's default limit where each core has runs of its own.
    """
    at_once = max(1, (os.cpu_count() or 1) // run.workers)
    return run.memory_limit_mb or max(1, default_limit_mb() // at_once)


def held_under(held_mb: float, limit_mb: int) -> str:
    """Say how much a run held that ran out of memory below its limit."""
    return f"it held {held_mb:,.0f} MB under the memory limit of {limit_mb:,} MB"
