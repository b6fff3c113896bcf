"""The fork server and the processes it forks, seen from the process that wants runs done."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from slotwise.benchmarks.grading.children import fork_server
from slotwise.benchmarks.grading.children.ends import End
from slotwise.benchmarks.grading.children.environment import of_server
from slotwise.benchmarks.grading.rows import Kind
from slotwise.heuristics.external.stderr_tail import STDERR_BYTES, last_line
from slotwise.processes.child_process import command_of

STARTUP_S = 120.0
"""Most seconds until a process is there: imports, and loops that are loaded."""

LEAVE_S = 10.0
"""Most seconds until the server has ended a process, or itself."""


class ServerError(Exception):
    """The server has ended, or does not answer; the message is what it said last."""


class Server:
    """A running fork server.

    Its stdin is its lifeline: when this process dies, however it dies, the server reads the end of
    the file and ends all that it has forked, with what that has started.

    Parameters
    ----------
    environment
        Of all runs.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._control, theirs = socket.socketpair()
        self._heard = b""
        self._ends: dict[int, End] = {}
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (`close` does)
        with theirs:
            self._process = subprocess.Popen(
                command_of(fork_server.main),
                stdin=theirs.fileno(),
                stdout=self._stderr,
                stderr=self._stderr,
                start_new_session=True,
                env=of_server(environment),
            )

    def fork(
        self, kind: Kind, folder: str | None, memory_mb: float, descriptors: tuple[int, int]
    ) -> int:
        """Return the process id of a new process for runs of `kind`; see `child` for the rest.

        Raises `ServerError`.
        """
        asked = {"fork": kind, "folder": folder, "memory_mb": memory_mb}
        line = json.dumps(asked).encode() + b"\n"
        try:
            socket.send_fds(self._control, [line], list(descriptors))
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._gone() from error
        return int(self._next("pid", STARTUP_S)["pid"])

    @property
    def is_running(self) -> bool:
        """Whether the process of the server is there."""
        return self._process.poll() is None

    def has_ended(self, pid: int, seconds: float) -> bool:
        """Wait so long at most for a process to end by itself; return whether it has."""
        deadline = time.monotonic() + seconds
        while pid not in self._ends:
            if not self._ready(max(0.0, deadline - time.monotonic())):
                return False
            self._keep(self._message())
        return True

    def kill(self, pid: int) -> End:
        """End a process with all it has started, unless it has ended; return how it ended."""
        if pid not in self._ends:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._control.sendall(json.dumps({"kill": pid}).encode() + b"\n")
        while pid not in self._ends:
            self._keep(self._next("ended", LEAVE_S))
        return self._ends.pop(pid)

    def close(self) -> None:
        """End it with all that it has forked; once is enough."""
        self._control.close()
        try:
            self._process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def _next(self, key: str, seconds: float) -> dict[str, Any]:
        """Wait for the message that has `key`."""
        while True:
            if not self._ready(seconds):
                raise self._gone()
            message = self._message()
            if key in message:
                return message
            self._keep(message)

    def _keep(self, message: dict[str, Any]) -> None:
        self._ends[message["ended"]] = End(**message["end"])

    def _ready(self, seconds: float) -> bool:
        """Return whether there is a message, or the end, within `seconds`."""
        return b"\n" in self._heard or bool(select.select([self._control], [], [], seconds)[0])

    def _message(self) -> dict[str, Any]:
        while b"\n" not in self._heard:
            piece = self._control.recv(1 << 16)
            if not piece:
                raise self._gone()
            self._heard += piece
        line, _, self._heard = self._heard.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _gone(self) -> ServerError:
        """Return what to raise: the last line that it said."""
        size = os.fstat(self._stderr.fileno()).st_size
        self._stderr.seek(max(0, size - STDERR_BYTES))
        return ServerError(last_line(self._stderr.read()) or "it said nothing")
