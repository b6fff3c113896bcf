"""What goes through the pipes of a process, within limits of time and size."""

from __future__ import annotations

import math
import os
import selectors
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import IO

from slotwise.models.errors import one_line

MOST_BYTES = 64 << 20
"""A process that writes more than this to stdout, or to stderr, is ended."""

KEPT_BYTES = 1 << 16
"""Bytes at the end of stderr that are kept."""

STDERR_BYTES = 4096
"""Bytes at the end of stderr that messages quote from."""

STDERR_TAIL = 300
"""Characters at the end of stderr that stand in a message."""

PIECE = 1 << 16

LONGEST_WAIT_S = 1e6
"""The system counts milliseconds in 32 bits; nobody waits that long."""


class Overrun(StrEnum):
    """The limit that a process ran over."""

    TIME = "time"
    STDOUT = "stdout"
    STDERR = "stderr"


class PipeIO:
    """Reads from a process, and writes to it, without waiting for one of its pipes alone.

    Parameters
    ----------
    stdout, stderr
        Descriptors to read from: answers, and what it prints besides.
    stdin
        To write to; ``None`` = nothing is sent here.

    Attributes
    ----------
    stdout, stderr
        What it wrote until now, without the lines that `read_line` has returned; of stderr the end.
    overrun
        The limit it ran over; ``None`` = none.
    is_silent
        Whether it has closed stdout.
    """

    def __init__(self, stdout: int, stderr: int, stdin: IO[bytes] | None = None) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.overrun: Overrun | None = None
        self.is_silent = False
        self._stdout, self._stderr = stdout, stderr
        self._stderr_bytes = 0
        self._stdin = stdin
        self._unsent = memoryview(b"")
        self._closes_stdin = False
        self._selector = selectors.DefaultSelector()
        for pipe, read in ((stdout, self._read_stdout), (stderr, self._read_stderr)):
            self.watch(pipe, read)
        if stdin is not None:
            os.set_blocking(stdin.fileno(), False)

    def watch(self, descriptor: int, handle: Callable[[], None]) -> None:
        """Call `handle` whenever something can be read from a further descriptor."""
        self._selector.register(descriptor, selectors.EVENT_READ, handle)

    def ignore(self, descriptor: int) -> None:
        """Undo `watch`."""
        self._selector.unregister(descriptor)

    def send(self, data: bytes, *, is_last: bool = False) -> None:
        """Write to stdin: what the pipe has no room for while the process is read from.

        The process need not read it.
        """
        assert self._stdin is not None
        self._unsent = memoryview(bytes(self._unsent) + data)
        self._closes_stdin = is_last
        if self._stdin.fileno() not in self._selector.get_map():
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write)
        self._write()

    def read_line(self, deadline: float = math.inf) -> bytes | None:
        """Return the next line of stdout, without its end; ``None`` = it is silent, or overran.

        Each line, with what is printed to stderr meanwhile, may have `MOST_BYTES`.
        """
        self._stderr_bytes = 0
        self.run_until(lambda: b"\n" in self.stdout or self.is_silent, deadline)
        if self.overrun or b"\n" not in self.stdout:
            return None
        line, _, rest = self.stdout.partition(b"\n")
        self.stdout[:] = rest
        return bytes(line)

    def run_until(self, is_done: Callable[[], bool], deadline: float) -> None:
        """Read and write until `is_done`, or the process runs over a limit: see `overrun`.

        `deadline` is a moment of `time.monotonic`.
        """
        while not self.overrun and not is_done():
            if not self._turn(deadline):
                self.overrun = Overrun.TIME

    def read_ready(self) -> None:
        """Read what can be read without waiting, a piece of each pipe."""
        self._serve(0.0)

    def drain(self, deadline: float) -> None:
        """Read what a process that has ended left in its pipes."""
        for descriptor in list(self._selector.get_map()):
            if descriptor not in (self._stdout, self._stderr):
                self._selector.unregister(descriptor)
        while self._selector.get_map() and not self._is_flooded and self._turn(deadline):
            pass

    def close(self) -> None:
        """Stop watching; the descriptors are the caller's."""
        self._selector.close()

    @property
    def _is_flooded(self) -> bool:
        return max(len(self.stdout), self._stderr_bytes) > MOST_BYTES

    def _turn(self, deadline: float) -> bool:
        """Wait for something and do it; false when there was no time."""
        left = deadline - time.monotonic()
        return left > 0 and self._serve(left)

    def _serve(self, seconds: float) -> bool:
        """Do what is possible within `seconds`; false when nothing was."""
        ready = self._selector.select(min(seconds, LONGEST_WAIT_S))
        for key, _ in ready:
            key.data()
        return bool(ready)

    def _write(self) -> None:
        stdin = self._stdin
        assert stdin is not None
        try:
            self._unsent = self._unsent[os.write(stdin.fileno(), self._unsent[:PIECE]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not want to read more
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.unregister(stdin)
            if self._closes_stdin:
                stdin.close()

    def _read_stdout(self) -> None:
        piece = self._read(self._stdout)
        self.is_silent = not piece
        self.stdout += piece
        if len(self.stdout) > MOST_BYTES:
            self.overrun = self.overrun or Overrun.STDOUT

    def _read_stderr(self) -> None:
        piece = self._read(self._stderr)
        self._stderr_bytes += len(piece)
        self.stderr += piece
        del self.stderr[:-KEPT_BYTES]
        if self._stderr_bytes > MOST_BYTES:
            self.overrun = self.overrun or Overrun.STDERR

    def _read(self, pipe: int) -> bytes:
        piece = b""
        with suppress(ConnectionResetError):  # the other end of a socket has died
            piece = os.read(pipe, PIECE)
        if not piece:
            self._selector.unregister(pipe)
        return piece


def last_words(stderr: bytes) -> str:
    """Return the end of what a process wrote to stderr, on one line; empty = it wrote nothing."""
    text = one_line(stderr[-STDERR_BYTES:].decode(errors="replace"), STDERR_TAIL)
    return f"; stderr: {text}" if text else ""


def last_line(stderr: bytes) -> str:
    """Return the end of the last line that a process wrote; empty where it wrote nothing."""
    lines = stderr[-STDERR_BYTES:].decode(errors="replace").strip().splitlines()
    return one_line(lines[-1], STDERR_TAIL) if lines else ""
