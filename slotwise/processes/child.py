"""A command with a reaper beside it: when it ends, or is ended, nothing of it stays.

The reaper (`reaper`) is a process between this one and the command, so that nothing in this
process changes for the sake of it: no signal handler, no children of others. It also ends the
command when this process dies, however it dies.
"""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from slotwise.processes.ending import end_process
from slotwise.processes.pipes import Overrun, PipeIO

REAPER = Path(__file__).with_name("reaper.py")

LEAVE_S = 2.0
"""Seconds that a killed command is waited for, and what it wrote last."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command left.

    Parameters
    ----------
    code
        Exit code; below 0: the signal that ended it; ``None`` = not known, or we ended it.
    stdout, stderr
        What it wrote; of stderr the end.
    overrun
        The limit for which we ended it; ``None`` = it ended by itself.
    cpu_s, peak_memory_mb
        What it used, with those of its children that it waited for; 0 where `code` is ``None``.
        Memory in units of 2^20 bytes.
    """

    code: int | None
    stdout: bytes
    stderr: bytes
    overrun: Overrun | None = None
    cpu_s: float = 0.0
    peak_memory_mb: float = 0.0

    @property
    def timed_out(self) -> bool:
        """Whether it was ended at its time limit."""
        return self.overrun is Overrun.TIME


def exchange(
    words: Sequence[str],
    question: bytes = b"",
    environment: Mapping[str, str] | None = None,
    time_limit_s: float = math.inf,
) -> Finished:
    """Run a command from its start to its end, and end all that it has started.

    Parameters
    ----------
    words, environment
        See `Child`.
    question
        What its stdin holds; it need not read it.
    time_limit_s
        Wall-clock seconds after which it is ended.

    Raises
    ------
    OSError
        When the command cannot be started.
    """
    deadline = time.monotonic() + time_limit_s
    with Child(words, environment) as child:
        child.pipes.send(question, is_last=True)
        child.wait(deadline)
        return child.end()


class Child:
    """A running command; a context manager, which ends it and closes its pipes.

    Parameters
    ----------
    words
        The program, looked up on the PATH, and its arguments; no shell reads them.
    environment
        Of the command; ``None`` = this process's.

    Attributes
    ----------
    pipes
        To talk with it.

    Raises
    ------
    OSError
        When the command cannot be started.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._socket, other = socket.socketpair()
        self._news = self._socket.makefile("rb", buffering=0)  # else lines wait unseen in a buffer
        self._pid: int | None = None
        self._has_ended = False
        self._end: tuple[int | None, float, float] = None, 0.0, 0.0
        with other:
            self._reaper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(REAPER), str(other.fileno()), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                pass_fds=(other.fileno(),),
                start_new_session=True,
            )
        stdin, stdout, stderr = self._files = self._open_files()
        self.pipes = PipeIO(stdout.fileno(), stderr.fileno(), stdin)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        self.pipes.watch(self._news.fileno(), self._learn_end)

    def _open_files(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        reaper = self._reaper
        assert reaper.stdin is not None
        assert reaper.stdout is not None
        assert reaper.stderr is not None
        return reaper.stdin, reaper.stdout, reaper.stderr

    def _start(self) -> None:
        word, number = self._news.readline().split() or (b"errno", b"0")
        if word == b"errno":
            code = int(number)
            raise OSError(code, os.strerror(code) if code else "its reaper ended early")
        self._pid = int(number)

    def _learn_end(self) -> None:
        self.pipes.ignore(self._news.fileno())
        self._has_ended = True
        if line := self._news.readline():  # else its reaper was killed
            _, code, cpu_s, peak_mb = line.split()
            self._end = int(code), float(cpu_s), float(peak_mb)

    def wait(self, deadline: float = math.inf) -> None:
        """Talk with the command until it ends, or runs over a limit."""
        self.pipes.run_until(lambda: self._has_ended, deadline)

    def end(self) -> Finished:
        """End the command with all it has started; return what it left. Once is enough."""
        self._kill()
        self.pipes.drain(time.monotonic() + LEAVE_S)
        said = bytes(self.pipes.stdout), bytes(self.pipes.stderr)
        code, *used = self._end
        return Finished(None if self.pipes.overrun else code, *said, self.pipes.overrun, *used)

    def _kill(self) -> None:
        """Have the reaper end all; where it cannot do its work, the process group is ended here."""
        if end_process(self._reaper, LEAVE_S, self._hang_up) and self._pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    def _hang_up(self) -> None:
        with suppress(OSError):  # the reaper has gone
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End what is left and close the pipes; once is enough."""
        self._kill()
        self.pipes.close()
        for file in self._files:
            with suppress(BrokenPipeError):
                file.close()
        self._news.close()
        self._socket.close()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# How a Python process of ours is started that can import what this one can, and how it answers.

START = """\
import json, sys
from importlib import import_module
module, function, path = json.loads(sys.argv[1])
sys.path.extend(folder for folder in path if folder not in sys.path)
getattr(import_module(module), function)()
"""
"""What the child runs: it imports nothing from the current folder."""


def command_of(main: Callable[[], None]) -> list[str]:
    """Return the command that calls `main`, a function of a module, in a new interpreter."""
    called = json.dumps([main.__module__, main.__name__, sys.path])
    return [sys.executable, "-P", "-c", START, called]


def take_stdout() -> IO[str]:
    """Keep stdout for answers; what solvers and methods print there goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers
