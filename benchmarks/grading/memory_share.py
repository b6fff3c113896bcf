"""How much memory a run may take, and how that is said."""

from __future__ import annotations

import os

from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.solver.core.memory import default_limit_mb


def memory_limit_of(run: PlannedRun) -> int:
    """Return the limit of `run`, in units of 2^20 bytes.

    Its own, else its share of the machine's default limit where each core has runs of its own.
    """
    at_once = max(1, (os.cpu_count() or 1) // run.workers)
    return run.memory_limit_mb or max(1, default_limit_mb() // at_once)


def limit_in_words(limit_mb: int) -> str:
    """Name the limit, for a run that ran out of memory below it; what it held is a column."""
    return f"its memory limit is {limit_mb:,} MB"
