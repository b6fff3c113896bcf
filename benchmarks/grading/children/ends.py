"""How a process ended, and what that says about the run it was at."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

from slotwise.benchmarks.grading.memory_share import limit_in_words
from slotwise.benchmarks.grading.rows import RunOutcome, RunStatus
from slotwise.heuristics.external.exchange import MOST_BYTES


class Stopped(StrEnum):
    """Why we ended a process."""

    TIME = "time"
    """It did not answer in time."""
    OUTPUT = "output"
    """It printed more than `MOST_BYTES`."""
    ANSWER = "answer"
    """What came through its connection is no answer."""
    CONNECTION = "connection"
    """It closed its connection and went on."""


@dataclass(frozen=True, slots=True)
class End:
    """What is known of a process that has ended.

    Parameters
    ----------
    code
        Exit code; below 0: the signal that ended it.
    cpu_s, peak_memory_mb
        What it used; memory in units of 2^20 bytes.
    held_mb
        What it held, with all it had started, when it was ended for that; ``None`` = it was not.
    """

    code: int
    cpu_s: float
    peak_memory_mb: float
    held_mb: float | None = None


def outcome_of(
    end: End,
    stopped: Stopped | None,
    said: str,
    *,
    seconds: float,
    memory_limit_mb: int,
    kernel_killed: bool,
) -> RunOutcome:
    """Return the outcome columns of the run at which a process ended.

    Parameters
    ----------
    end
        How it ended.
    stopped
        Why we ended it; ``None`` = we did not, or for memory (`End.held_mb`).
    said
        The last line that it printed; empty = none.
    seconds
        Wall clock of the run.
    memory_limit_mb
        Of the run.
    kernel_killed
        Whether the system has killed a process of this machine for lack of memory meanwhile.
    """
    status, error = _verdict(end, stopped, said, memory_limit_mb, kernel_killed)
    return {
        "status": str(status),
        "error": error,
        "wall_s": seconds,
        "cpu_s": end.cpu_s,
        "peak_memory_mb": max(end.peak_memory_mb, end.held_mb or 0.0),
    }


def _verdict(
    end: End, stopped: Stopped | None, said: str, limit_mb: int, kernel_killed: bool
) -> tuple[RunStatus, str]:
    tail = f": {said}" if said else ""
    if end.held_mb is not None:
        return RunStatus.OUT_OF_MEMORY, f"ended: it held more than {limit_mb:,} MB, its limit"
    if stopped is Stopped.TIME:
        return RunStatus.TIMEOUT, _WHY[stopped]
    if stopped is not None:
        return RunStatus.CRASHED, f"{_WHY[stopped]}{tail}"
    limit = limit_in_words(limit_mb)
    if "MemoryError" in said or "bad_alloc" in said:
        return RunStatus.OUT_OF_MEMORY, f"{said}; {limit}"
    if end.code == -signal.SIGKILL and kernel_killed:
        return RunStatus.OUT_OF_MEMORY, f"killed by the system for lack of memory; {limit}"
    if end.code >= 0:
        return RunStatus.CRASHED, said or f"the process exited early with code {end.code}"
    name = signal.Signals(-end.code).name
    hint = ", possibly for lack of memory" if name == "SIGKILL" else ""
    return RunStatus.CRASHED, f"died by {name}{hint}{tail}"


_WHY = {
    Stopped.TIME: "killed: still running some seconds after the time limit",
    Stopped.OUTPUT: f"killed: it printed more than {MOST_BYTES >> 20} MiB",
    Stopped.ANSWER: "killed: its answer cannot be read",
    Stopped.CONNECTION: "killed: it closed its connection and went on",
}
