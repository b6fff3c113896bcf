"""One question to a command, one answer: all of stdin, all of stdout, within limits."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from slotwise.heuristics.external.process import LEAVE_S, CommandProcess

MOST_BYTES = 64 << 20
"""A command that writes more than this to stdout, or to stderr, is killed."""

KEPT_BYTES = 1 << 16
"""Of stderr so much of the end is kept."""

PIECE = 1 << 16

LONGEST_WAIT_S = 1e6
"""The system counts milliseconds in 32 bits; nobody waits that long."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command left.

    Parameters
    ----------
    code
        Exit code; below 0: the signal that ended it; ``None`` = not known, or it was killed.
    stdout, stderr
        What it wrote; of stderr the end.
    timed_out
        Whether it was killed at its time limit.
    too_long
        ``stdout`` or ``stderr`` where it was killed for writing more than `MOST_BYTES`, else empty.
    """

    code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    too_long: str = ""


def exchange(
    words: Sequence[str], question: bytes, environment: Mapping[str, str], time_limit_s: float
) -> Finished:
    """Run a command, and end all that it has started.

    Parameters
    ----------
    words, environment
        See `CommandProcess`.
    question
        What its stdin holds; it need not read it.
    time_limit_s
        Wall-clock seconds after which it is killed.

    Raises
    ------
    OSError
        When the command cannot be started.
    """
    deadline = time.monotonic() + time_limit_s
    with CommandProcess(words, environment) as command, _Talk(command, question) as talk:
        talk.go_on(deadline)
        timed_out = not talk.ended and not talk.too_long
        code = command.exit_code() if talk.ended else None
        command.kill()
        talk.hear_out(time.monotonic() + LEAVE_S)
        return Finished(code, bytes(talk.stdout), bytes(talk.stderr), timed_out, talk.too_long)


class _Talk:
    """What goes through the pipes of a command; a context manager, for its selector.

    Attributes
    ----------
    stdout, stderr
        What it wrote until now; of stderr the end.
    ended
        Whether the command has ended.
    too_long
        The pipe that it wrote too much to, if any.
    """

    def __init__(self, command: CommandProcess, question: bytes) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.ended = False
        self.too_long = ""
        self._command = command
        self._left = memoryview(question)
        self._stderr_bytes = 0
        self._selector = selectors.DefaultSelector()
        self._register(command.stdin, selectors.EVENT_WRITE, self._write)
        self._register(command.stdout, selectors.EVENT_READ, self._read_stdout)
        self._register(command.stderr, selectors.EVENT_READ, self._read_stderr)
        self._selector.register(command.news, selectors.EVENT_READ, self._end)

    def _register(self, pipe: IO[bytes], event: int, handle: Callable[[], None]) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, event, handle)

    def __enter__(self) -> _Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def go_on(self, deadline: float) -> None:
        """Talk until the command has ended, has written too much, or is out of time."""
        while not self.ended and not self.too_long and self._turn(deadline):
            pass

    def hear_out(self, deadline: float) -> None:
        """Read what a command that has ended left in its pipes."""
        for key in list(self._selector.get_map().values()):
            if key.fileobj not in (self._command.stdout, self._command.stderr):
                self._selector.unregister(key.fileobj)
        while not self.too_long and self._selector.get_map() and self._turn(deadline):
            pass

    def _turn(self, deadline: float) -> bool:
        """Wait for something and do it; false when there was no time."""
        left = deadline - time.monotonic()
        ready = self._selector.select(min(left, LONGEST_WAIT_S)) if left > 0 else []
        for key, _ in ready:
            key.data()
        return bool(ready)

    def _write(self) -> None:
        stdin = self._command.stdin
        try:
            self._left = self._left[os.write(stdin.fileno(), self._left[:PIECE]) :]
        except BrokenPipeError:  # it does not want to read more
            self._left = self._left[:0]
        if not self._left:
            self._selector.unregister(stdin)
            stdin.close()

    def _read_stdout(self) -> None:
        self.stdout += self._read(self._command.stdout)
        if len(self.stdout) > MOST_BYTES:
            self.too_long = "stdout"

    def _read_stderr(self) -> None:
        piece = self._read(self._command.stderr)
        self._stderr_bytes += len(piece)
        self.stderr += piece
        del self.stderr[:-KEPT_BYTES]
        if self._stderr_bytes > MOST_BYTES:
            self.too_long = "stderr"

    def _read(self, pipe: IO[bytes]) -> bytes:
        piece = os.read(pipe.fileno(), PIECE)
        if not piece:
            self._selector.unregister(pipe)
        return piece

    def _end(self) -> None:
        self.ended = True
        self._selector.unregister(self._command.news)
