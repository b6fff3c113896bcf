"""One process that does runs: what it is asked, what it answers, and which row its end becomes."""

from __future__ import annotations

import json
import pickle
import signal
import time
from collections.abc import Sequence
from typing import cast

from slotwise.benchmarks.grading.memory_share import limit_in_words
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.rows import Kind, RunOutcome, RunStatus
from slotwise.processes.fork_server import End
from slotwise.processes.forked import ForkedProcess, Server
from slotwise.processes.memory import kernel_kills
from slotwise.processes.pipes import MOST_BYTES, Overrun, last_line

UNREADABLE = "its answer cannot be read"

LEFT = "it closed its connection and went on"

OVERRUNS = {
    Overrun.TIME: "still running some seconds after the time limit",
    Overrun.STDOUT: UNREADABLE,
    Overrun.STDERR: f"it printed more than {MOST_BYTES >> 20} MiB",
}
"""Why a process was killed that ran over a limit."""


class RunProcess(ForkedProcess):
    """A process that a server has forked.

    Parameters
    ----------
    server
        Which one.
    kind, folder
        Of the runs.
    memory_limit_mb, memory_mb
        What a run shall not exceed; what the process is ended for.

    Raises
    ------
    ServerError
        When the server cannot fork; any other method may raise it, too.
    """

    def __init__(
        self, server: Server, kind: Kind, folder: str | None, memory_limit_mb: int, memory_mb: float
    ) -> None:
        self._memory_limit_mb = memory_limit_mb
        self._why_killed = ""
        self._kernel_kills = kernel_kills()
        super().__init__(server, kind, folder, memory_mb)

    def ask_for(self, runs: Sequence[PlannedRun]) -> None:
        """Ask for `runs`; only once those asked for before have been answered."""
        self.send(pickle.dumps(tuple(runs)))

    def answer(self, seconds: float) -> RunOutcome | None:
        """Return the next answer; ``None`` where there will be none: see `last_words`."""
        line = self.pipes.read_line(time.monotonic() + seconds)
        if line is None:
            return None
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "status" not in answer:
            self._why_killed = UNREADABLE
            return None
        return cast(RunOutcome, answer)

    def end(self) -> End:
        """End it with all it has started; return how it ended."""
        if self.pipes.is_silent and not self.has_ended():
            self._why_killed = LEFT
        return super().end()

    def last_words(self, seconds: float) -> RunOutcome:
        """End it, and return the outcome of the run at which it was, which took `seconds`."""
        end = self.end()
        status, error = self._verdict(end, last_line(bytes(self.pipes.stderr)))
        return {
            "status": str(status),
            "error": error,
            "wall_s": seconds,
            "cpu_s": end.cpu_s,
            "peak_memory_mb": max(end.peak_memory_mb, end.held_mb or 0.0),
        }

    def _verdict(self, end: End, printed: str) -> tuple[RunStatus, str]:
        tail = f": {printed}" if printed else ""
        overrun, limit_mb = self.pipes.overrun, self._memory_limit_mb
        if end.held_mb is not None:
            return RunStatus.OUT_OF_MEMORY, f"ended: it held more than {limit_mb:,} MB, its limit"
        if overrun is Overrun.TIME:
            return RunStatus.TIMEOUT, f"killed: {OVERRUNS[overrun]}"
        if overrun or self._why_killed:
            why = OVERRUNS[overrun] if overrun else self._why_killed
            return RunStatus.CRASHED, f"killed: {why}{tail}"
        limit = limit_in_words(limit_mb)
        if "MemoryError" in printed or "bad_alloc" in printed:
            return RunStatus.OUT_OF_MEMORY, f"{printed}; {limit}"
        if end.code == -signal.SIGKILL and kernel_kills() > self._kernel_kills:
            return RunStatus.OUT_OF_MEMORY, f"killed by the system for lack of memory; {limit}"
        if end.code >= 0:
            return RunStatus.CRASHED, printed or f"the process exited early with code {end.code}"
        name = signal.Signals(-end.code).name
        hint = ", possibly for lack of memory" if name == "SIGKILL" else ""
        return RunStatus.CRASHED, f"died by {name}{hint}{tail}"
