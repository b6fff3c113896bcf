"""A fork server and the processes it forks, seen from the process that wants work done."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from slotwise.processes.child import command_of
from slotwise.processes.ending import end_process
from slotwise.processes.fork_server import End, server_environment
from slotwise.processes.pipes import STDERR_BYTES, PipeIO, last_line

STARTUP_S = 120.0
"""Most seconds until a process is there: imports, and loops that are loaded."""

END_S = 10.0
"""Most seconds until the server has ended a process, or itself."""

LEAVE_S = 1.0
"""Seconds that a process which has closed its connection may take to end."""


class ServerError(Exception):
    """The server has ended, or does not answer; the message is the last line it wrote."""


class Server:
    """A running fork server.

    Its stdin is its lifeline: when this process dies, however it dies, the server reads the end of
    the file and ends all that it has forked, with what that has started.

    Parameters
    ----------
    main
        What it runs: `ForkServer.serve` of one.
    environment
        Of all that it forks.
    """

    def __init__(self, main: Callable[[], None], environment: Mapping[str, str]) -> None:
        self._control, theirs = socket.socketpair()
        self._replies = self._control.makefile("rb", buffering=0)
        self._ends: dict[int, End] = {}
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (`close` does)
        with theirs:
            self._process = subprocess.Popen(
                command_of(main),
                stdin=theirs.fileno(),
                stdout=self._stderr,
                stderr=self._stderr,
                start_new_session=True,
                env=server_environment(environment),
            )

    def fork(
        self, settings: object, folder: str | None, memory_mb: float, descriptors: tuple[int, int]
    ) -> int:
        """Return the process id of a new process; raise `ServerError` where there is none.

        Parameters
        ----------
        settings
            For the server's `prepare`, as JSON.
        folder
            Where relative paths start; ``None`` = where the server is.
        memory_mb
            It is ended when it holds more, with all below it, in units of 2^20 bytes.
        descriptors
            A socket to work with, and a pipe for what it prints.
        """
        request = {"fork": settings, "folder": folder, "memory_mb": memory_mb}
        line = json.dumps(request).encode() + b"\n"
        try:
            socket.send_fds(self._control, [line], list(descriptors))
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._failure() from error
        return int(self._next("pid", STARTUP_S)["pid"])

    @property
    def is_running(self) -> bool:
        """Whether the process of the server is there."""
        return self._process.poll() is None

    def has_ended(self, pid: int, seconds: float) -> bool:
        """Wait for a process to end by itself, at most `seconds`; return whether it has."""
        deadline = time.monotonic() + seconds
        while pid not in self._ends:
            if not self._is_ready(max(0.0, deadline - time.monotonic())):
                return False
            self._keep(self._message())
        return True

    def kill(self, pid: int) -> End:
        """End a process with all it has started, unless it has ended; return how it ended."""
        if pid not in self._ends:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._control.sendall(json.dumps({"kill": pid}).encode() + b"\n")
        while pid not in self._ends:
            self._keep(self._next("ended", END_S))
        return self._ends.pop(pid)

    def close(self) -> None:
        """End it with all that it has forked; once is enough."""
        end_process(self._process, END_S, self._hang_up)
        self._hang_up()
        self._stderr.close()

    def _hang_up(self) -> None:
        self._replies.close()
        self._control.close()

    def _next(self, key: str, seconds: float) -> dict[str, Any]:
        """Wait for the message that has `key`."""
        while True:
            if not self._is_ready(seconds):
                raise self._failure()
            message = self._message()
            if key in message:
                return message
            self._keep(message)

    def _keep(self, message: dict[str, Any]) -> None:
        self._ends[message["ended"]] = End(**message["end"])

    def _is_ready(self, seconds: float) -> bool:
        """Return whether there is a message, or the end, within `seconds`."""
        return bool(select.select([self._control], [], [], seconds)[0])

    def _message(self) -> dict[str, Any]:
        line = self._replies.readline()
        if not line:
            raise self._failure()
        message: dict[str, Any] = json.loads(line)
        return message

    def _failure(self) -> ServerError:
        size = os.fstat(self._stderr.fileno()).st_size
        self._stderr.seek(max(0, size - STDERR_BYTES))
        return ServerError(last_line(self._stderr.read()) or "it said nothing")


class ForkedProcess:
    """A process that a server has forked, and what it answers and prints.

    Parameters
    ----------
    server
        Which one.
    settings, folder, memory_mb
        See `Server.fork`.

    Attributes
    ----------
    pid
        Its process id.
    connection
        The other end of its socket, to send requests; its answers come through `pipes`.
    pipes
        Its lines of answers as stdout, what it prints as stderr.

    Raises
    ------
    ServerError
        When the server cannot fork; any other method may raise it, too.
    """

    def __init__(
        self, server: Server, settings: object, folder: str | None, memory_mb: float
    ) -> None:
        self._server = server
        self.connection, theirs = socket.socketpair()
        self._prints, writes = os.pipe()
        self.pipes = PipeIO(self.connection.fileno(), self._prints)
        try:
            with theirs:
                self.pid = server.fork(settings, folder, memory_mb, (theirs.fileno(), writes))
        except BaseException:
            self.close()
            raise
        finally:
            os.close(writes)

    def has_ended(self) -> bool:
        """Return whether it has ended, by itself or for its memory.

        One that has closed its connection may take `LEAVE_S`, and its server as long to say so.
        """
        self.pipes.read_ready()
        return self._server.has_ended(self.pid, LEAVE_S if self.pipes.is_silent else 0.0)

    def send(self, data: bytes) -> None:
        """Send a request; only once those before have been answered."""
        # If it died meanwhile, the wait for its answer finds out how.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.sendall(data)

    def end(self) -> End:
        """End it with all it has started; return how it ended."""
        try:
            end = self._server.kill(self.pid)
            self.pipes.drain(time.monotonic() + LEAVE_S)
            return end
        finally:
            self.close()

    def close(self) -> None:
        """Let go of it; its server ends it."""
        self.pipes.close()
        self.connection.close()
        os.close(self._prints)
