"""The parent of the processes that run solvers and methods: whatever happens there becomes a row.

A batch of runs goes to one child process, which answers one line per run. When the child dies or
is killed, the run it was at gets a row that says so, and a new child takes the remaining runs.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from slotwise.benchmarks.child_process import command_of
from slotwise.benchmarks.grading.children import child
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.rows import RunOutcome, RunStatus
from slotwise.heuristics.external.stderr_tail import STDERR_BYTES, STDERR_TAIL
from slotwise.models.one_line import one_line

GRACE_S = 15.0
"""A run is killed this long after its limit: compiling, judging and late stopping need time."""

STARTUP_S = 120.0
"""Most seconds from one answer of the child to the start of its next run."""


def answers(runs: Sequence[PlannedRun], grace_s: float = GRACE_S) -> Iterator[RunOutcome]:
    """Run `runs` in child processes and give the outcome columns of each, in order."""
    waiting = list(runs)
    while waiting:
        done = 0
        for answer in _one_child(waiting, grace_s):
            done += 1
            yield answer
        waiting = waiting[done:]


def _one_child(runs: Sequence[PlannedRun], grace_s: float) -> Iterator[RunOutcome]:
    """Give at least one answer: those of a child, then that of its end if it ended early."""
    with tempfile.TemporaryFile() as stderr, _Child(runs, stderr) as started:
        for run in runs:
            answer = started.answer(run, grace_s)
            yield answer if answer is not None else started.last_words()
            if answer is None:
                return


@dataclass(frozen=True, slots=True)
class _End:
    """How a child ended: exit code, whether by our kill, and what it used."""

    code: int
    killed: bool
    cpu_s: float
    peak_memory_mb: float


class _Child:
    """One child process in a process group of its own.

    Its stdin stays open as a lifeline: when this process dies, however it dies, the child reads
    the end of the file and kills its group.
    """

    def __init__(self, runs: Sequence[PlannedRun], stderr: IO[bytes]) -> None:
        self._stderr = stderr
        self._buffer = b""
        self._started = time.monotonic()
        self._killed = False
        self._process = subprocess.Popen(
            command_of(child.main),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            cwd=runs[0].folder,
            env=_environment(),
        )
        self._send([run.to_document() for run in runs])

    def _send(self, documents: list[dict[str, Any]]) -> None:
        assert self._process.stdin is not None
        # If it died at once, reading its answer finds out how.
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(documents).encode() + b"\n")
            self._process.stdin.flush()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                _close(pipe)

    def answer(self, run: PlannedRun, grace_s: float) -> RunOutcome | None:
        """Return the answer to `run`, or ``None`` when the child ended or was killed before."""
        begun = self._line(STARTUP_S)
        if begun is None:
            return None
        self._started = time.monotonic()
        line = self._line(run.time_limit_s + grace_s)
        if line is None:
            return None
        answer: RunOutcome = json.loads(line)
        return answer

    def _line(self, seconds: float) -> bytes | None:
        """Return the next line; ``None`` at the end of the stream, or killed after `seconds`."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self._killed = True
                    return None
                piece = os.read(self._process.stdout.fileno(), 1 << 16)
                if not piece:
                    return None
                self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def last_words(self) -> RunOutcome:
        """Return the outcome of the run at which the child ended."""
        seconds = time.monotonic() - self._started
        end = self._wait()
        status, error = _verdict_on(end, self._last_line())
        return {
            "status": str(status),
            "error": error,
            "wall_s": seconds,
            "cpu_s": end.cpu_s,
            "peak_memory_mb": end.peak_memory_mb,
        }

    def _last_line(self) -> str:
        """Return the last line on its stderr, empty where there is none."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - STDERR_BYTES))
        said = self._stderr.read().decode(errors="replace").strip().splitlines()
        return one_line(said[-1], STDERR_TAIL) if said else ""

    def _wait(self) -> _End:
        if self._killed:
            self._kill_group()
        _, wait_status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(wait_status)
        # What a dead child started must not outlive it.
        self._kill_group()
        unit = 1 if sys.platform == "darwin" else 1024
        return _End(
            code=self._process.returncode,
            killed=self._killed,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_memory_mb=usage.ru_maxrss * unit / 2**20,
        )

    def _kill(self) -> None:
        if self._process.returncode is None:
            self._killed = True
            self._wait()

    def _kill_group(self) -> None:
        # Nobody may be left in it; macOS says so by EPERM.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _verdict_on(end: _End, said: str) -> tuple[RunStatus, str]:
    if end.killed:
        return RunStatus.TIMEOUT, "killed: still running some seconds after the time limit"
    if "MemoryError" in said or "bad_alloc" in said:
        return RunStatus.OUT_OF_MEMORY, said
    if end.code >= 0:
        return RunStatus.CRASHED, said or f"the process exited early with code {end.code}"
    name = signal.Signals(-end.code).name
    hint = ", possibly for lack of memory" if name == "SIGKILL" else ""
    return RunStatus.CRASHED, f"died by {name}{hint}" + (f": {said}" if said else "")


def _environment() -> dict[str, str]:
    """Hash strings the same way every time; let commands in Python find what lies beside them."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    return {**inherited, "PYTHONHASHSEED": "0"}


def _close(pipe: IO[bytes]) -> None:
    with suppress(BrokenPipeError):  # The list of runs was never read.
        pipe.close()
