"""The bytes of a file, a pipe or stdin: bounded, without waiting for a pipe that has no writer."""

from __future__ import annotations

import io
import os
import secrets
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from slotwise.models.errors import InputError

STDIN = "-"
"""The name that stands for stdin."""

MAX_BYTES = 2**30
"""The largest file that is read."""

CHUNK = 2**20
"""Bytes read at once."""

WRITER_S = 5.0
"""Seconds to wait for a writer to open a named pipe."""


def read_bytes(path: Path) -> bytes:
    """Return the content of the file `path`, or what a process writes into it if it is a pipe.

    Raises
    ------
    InputError
        When it cannot be opened, is a folder or a device, is a pipe without a writer, or holds
        more than `MAX_BYTES`.
    """
    try:
        return _read(path)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise _refusal(f"cannot be read: {reason}", str(path)) from error


def read_stdin() -> bytes:
    """Return the content of stdin; raises `InputError` where it is a device or too large."""
    stream = sys.stdin.buffer
    with suppress(io.UnsupportedOperation):  # no descriptor: another stream stands in its place
        _check_kind(os.fstat(stream.fileno()), stream.isatty(), "stdin")
    return _joined(lambda: stream.read(CHUNK), "stdin")


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    try:
        status = os.fstat(descriptor)
        _check_kind(status, os.isatty(descriptor), str(path))
        if status.st_size > MAX_BYTES:
            raise _too_large(str(path))
        if stat.S_ISREG(status.st_mode):
            os.set_blocking(descriptor, True)
            return _joined(lambda: os.read(descriptor, CHUNK), str(path))
        chunks = _pipe_chunks(descriptor, str(path))
        return _joined(lambda: next(chunks, b""), str(path))
    finally:
        os.close(descriptor)


def _check_kind(status: os.stat_result, terminal: bool, file: str) -> None:
    """Raise `InputError` for folders and devices other than terminals and ``/dev/null``."""
    if stat.S_ISDIR(status.st_mode):
        raise _refusal("cannot be read: Is a directory", file)
    device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if device and not terminal and status.st_rdev != os.stat(os.devnull).st_rdev:
        raise _refusal("is a device; give a file or a pipe", file)


def _pipe_chunks(descriptor: int, file: str) -> Iterator[bytes]:
    """Yield what comes through a pipe or from a terminal, until its end."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    waiting, waited = True, False  # for a writer to open a named pipe
    while True:
        try:
            chunk = os.read(descriptor, CHUNK)
        except BlockingIOError:
            waiting = False  # there is a writer, and it takes its time
            poll.poll()
            continue
        if chunk:
            waiting = False
            yield chunk
        elif not waiting:
            return
        elif waited:
            rule = f"is a pipe that no process writes to; waited for {WRITER_S:g} s"
            raise _refusal(rule, file)
        elif poll.poll(1000 * WRITER_S):
            waiting = False  # a writer was there
        else:
            waited = True


def _joined(read: Callable[[], bytes], file: str) -> bytes:
    chunks, size = [], 0
    while chunk := read():
        size += len(chunk)
        if size > MAX_BYTES:
            raise _too_large(file)
        chunks.append(chunk)
    return b"".join(chunks)


def _too_large(file: str) -> InputError:
    return _refusal(f"is larger than {MAX_BYTES >> 20} MiB, the largest size that is read", file)


def _refusal(rule: str, file: str) -> InputError:
    return InputError(rule, has_value=False, file=file)


# Writing a file whole or not at all.


def write_atomically(path: str | Path, content: str | bytes | Iterable[str]) -> None:
    """Write `content` (text as UTF-8, whole or in pieces) to a file beside `path`, then rename it.

    A reader of `path` sees the old content or the new, never a part. Anything but a regular file
    (``/dev/null``, a pipe) is written directly.

    Raises
    ------
    InputError
        When the file cannot be written; no temporary file remains then.
    """
    path = Path(path)
    pieces = [content] if isinstance(content, str | bytes) else content
    data = (piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.writelines(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", has_value=False, file=str(path)
        ) from error


def _replace(path: Path, data: Iterable[bytes]) -> None:
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
