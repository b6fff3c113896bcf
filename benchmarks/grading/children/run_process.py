"""One process that does runs: what it is asked, what it answers, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import pickle
import selectors
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from slotwise.benchmarks.grading.children.ends import End, Stopped, outcome_of
from slotwise.benchmarks.grading.children.server import Server
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.rows import Kind, RunOutcome
from slotwise.heuristics.external.exchange import MOST_BYTES
from slotwise.heuristics.external.stderr_tail import STDERR_BYTES, last_line

LEAVE_S = 1.0
"""A process that has closed its connection may take so long to end."""

PIECE = 1 << 16


class RunProcess:
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
        self._server = server
        self._memory_limit_mb = memory_limit_mb
        self._answers = b""
        self._printed = bytearray()
        self._printed_bytes = 0
        self._stopped: Stopped | None = None
        self._is_silent = False
        self._kernel_kills = kernel_kills()
        self._connection, theirs = socket.socketpair()
        self._prints, writes = os.pipe()
        self._selector = selectors.DefaultSelector()
        try:
            with theirs:
                descriptors = (theirs.fileno(), writes)
                self.pid = server.fork(kind, folder, memory_mb, descriptors)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(writes)
        os.set_blocking(self._prints, False)
        self._selector.register(self._connection, selectors.EVENT_READ, self._read)
        self._selector.register(self._prints, selectors.EVENT_READ, self._hear)

    def has_ended(self) -> bool:
        """Return whether it has ended by itself, or was ended, since it was last asked."""
        return self._server.has_ended(self.pid, 0.0)

    def send(self, runs: Sequence[PlannedRun]) -> None:
        """Ask for `runs`; only once those asked for before have been answered."""
        # If it died meanwhile, the wait for its answer finds out how.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.sendall(pickle.dumps(tuple(runs)))

    def answer(self, seconds: float) -> RunOutcome | None:
        """Return the next answer; ``None`` where there will be none: see `last_words`."""
        self._printed_bytes = 0
        line = self._line(time.monotonic() + seconds)
        if line is None:
            return None
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or "status" not in found:
            self._stopped = Stopped.ANSWER
            return None
        return cast(RunOutcome, found)

    def _line(self, deadline: float) -> bytes | None:
        """Return the next line; ``None`` where it is silent, or shall be ended."""
        while b"\n" not in self._answers:
            left = deadline - time.monotonic()
            if left <= 0:
                self._stopped = Stopped.TIME
            if self._stopped or self._is_silent:
                return None
            for key, _ in self._selector.select(left):
                key.data()
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _read(self) -> None:
        """Read more of the answers."""
        piece = b""
        with suppress(ConnectionResetError):
            piece = self._connection.recv(PIECE)
        self._answers += piece
        if not piece:
            self._is_silent = True
            self._selector.unregister(self._connection)

    def _hear(self) -> None:
        """Read more of what it prints, and keep the end."""
        with suppress(BlockingIOError):
            while piece := os.read(self._prints, PIECE):
                self._printed_bytes += len(piece)
                self._printed += piece
                del self._printed[:-STDERR_BYTES]
                if self._printed_bytes > MOST_BYTES:
                    self._stopped = Stopped.OUTPUT
                    return
            self._selector.unregister(self._prints)  # it has closed its end

    def last_words(self, seconds: float) -> RunOutcome:
        """End it, and return the outcome of the run at which it was, which took `seconds`."""
        end = self.end()
        return outcome_of(
            end,
            self._stopped,
            last_line(bytes(self._printed)),
            seconds=seconds,
            memory_limit_mb=self._memory_limit_mb,
            kernel_killed=kernel_kills() > self._kernel_kills,
        )

    def end(self) -> End:
        """End it with all it has started; return how it ended."""
        try:
            if self._is_silent and not self._server.has_ended(self.pid, LEAVE_S):
                self._stopped = Stopped.CONNECTION
            end = self._server.kill(self.pid)
            if self._stopped is not Stopped.OUTPUT and self._prints in self._selector.get_map():
                self._hear()
            return end
        finally:
            self.close()

    def close(self) -> None:
        """Let go of it; its server ends it."""
        self._selector.close()
        self._connection.close()
        os.close(self._prints)


_COUNTERS = Path("/proc/vmstat")


def kernel_kills() -> int:
    """Return how many processes the system has killed for lack of memory; 0 where it hides that."""
    with suppress(OSError):
        for line in _COUNTERS.read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
