"""A command with a reaper beside it: when it ends, or is ended, nothing of it stays.

The reaper (`reaper`) is a process between this one and the command, so that nothing in this
process changes for the sake of it: no signal handler, no children of others. It also ends the
command when this process dies, however it dies.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

REAPER = Path(__file__).with_name("reaper.py")

LEAVE_S = 2.0
"""So many seconds a killed command is waited for, and what it wrote last."""


class CommandProcess:
    """A running command; a context manager, which ends it and closes its pipes.

    Parameters
    ----------
    words
        The program, looked up on the PATH, and its arguments; no shell reads them.
    environment
        Of the command; ``None`` = this process's.

    Attributes
    ----------
    stdin, stdout, stderr
        Pipes from and to the command.
    news
        Can be read when the command has ended: see `exit_code`.

    Raises
    ------
    OSError
        When the command cannot be started.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.news, other = socket.socketpair()
        self._pid: int | None = None
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
        self.stdin = _pipe(self._reaper.stdin)
        self.stdout = _pipe(self._reaper.stdout)
        self.stderr = _pipe(self._reaper.stderr)
        self._told = b""
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        word, number = self._line().split() or ("errno", "0")
        if word == "errno":
            code = int(number)
            raise OSError(code, os.strerror(code) if code else "its reaper ended early")
        self._pid = int(number)

    def _line(self) -> str:
        """Return the next line of the reaper; empty when it has ended."""
        while b"\n" not in self._told:
            piece = self.news.recv(4096)
            if not piece:
                return ""
            self._told += piece
        line, _, self._told = self._told.partition(b"\n")
        return line.decode()

    def exit_code(self) -> int | None:
        """Wait for the command and return its exit code; below 0: the signal that ended it.

        ``None`` when nobody knows: it was killed by us, or its reaper was killed.
        """
        line = self._line()
        return int(line.split()[1]) if line else None

    def kill(self) -> None:
        """End the command with all it has started; any thread may, and more than once."""
        with suppress(OSError):  # the reaper has gone
            self.news.shutdown(socket.SHUT_RDWR)
        self._leave()

    def _leave(self) -> None:
        """Wait for the reaper; where it cannot do its work, the process group is ended here."""
        try:
            code = self._reaper.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self._reaper.kill()
            code = self._reaper.wait()
        if code and self._pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """End what is left and close the pipes; once is enough."""
        self.kill()
        for pipe in (self.stdin, self.stdout, self.stderr):
            # A request that could not be written is still waiting in the pipe.
            with suppress(BrokenPipeError):
                pipe.close()
        self.news.close()

    def __enter__(self) -> CommandProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
