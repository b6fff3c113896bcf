"""Settings of profiling a task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from slotwise.models.errors import InputError
from slotwise.models.values import whole


class Parallel(StrEnum):
    """Threads or processes run in parallel on the slot."""

    THREADS = "threads"
    PROCESSES = "processes"
    """For a task that Python's lock would slow down."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of Algorithm 1.

    Parameters
    ----------
    parallel
        Threads of one process, or processes; commands are processes always.
    threads
        Numbers of threads to try, rising, from 1 on: the steps of tau.
    seconds, warm_up
        A trial measures for `seconds` after `warm_up`, s; longer where that is less than
        `least_tuples`.
    least_tuples
        Fewest tuples for judging a trial.
    first_rate, max_rate
        First and highest rate, tuples/s. If the first is too high, lower ones follow.
    resolution
        Relative precision of the peak rate; peak rates that differ less count as equal.
    max_slope
        A trial is stable where latency rises by at most this many seconds per second. The article
        uses 0.001 on trials of 12 minutes; shorter ones are noisier. An input rate p % above what
        a task supports makes latency rise by p / 100.
    window
        The sweep ends when this many of the last peak rates are flat or fall.
    memory_mb
        Memory of a slot; the article's is 3.5 GiB.
    core
        Number of the core that the task runs on; ``None`` = the last one of this process.
    """

    parallel: Parallel = Parallel.THREADS
    threads: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    seconds: float = 2.0
    warm_up: float = 0.5
    least_tuples: int = 20
    first_rate: float = 10.0
    max_rate: float = 1_000_000.0
    resolution: float = 0.05
    max_slope: float = 0.02
    window: int = 3
    memory_mb: int = 3584
    core: int | None = None

    def __post_init__(self) -> None:
        """Raise `InputError` for values out of range."""
        if (
            not self.threads
            or self.threads[0] != 1
            or list(self.threads) != sorted(set(self.threads))
        ):
            raise InputError(
                "must be increasing and start with 1", field="threads", value=list(self.threads)
            )
        for name in ("seconds", "first_rate", "max_rate", "resolution", "max_slope"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(
                    "must be above 0 and finite", field=name, value=getattr(self, name)
                )
        if not 0 <= self.warm_up < math.inf:
            raise InputError("must be 0 or more and finite", field="warm_up", value=self.warm_up)
        if self.resolution > 0.5:
            raise InputError("must be at most 0.5", field="resolution", value=self.resolution)
        if self.first_rate > self.max_rate:
            raise InputError(
                f"must be at most the highest rate, {self.max_rate:g}",
                field="first_rate",
                value=self.first_rate,
            )
        for name, least in (("window", 2), ("least_tuples", 5), ("memory_mb", 1)):
            whole(getattr(self, name), name, least=least)
