"""The bytes of large text files in blocks of whole lines, and errors that name a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError

BLOCK = 2**22
"""Bytes read at once; a longer line makes the block longer."""

LONGEST_LINE = 2**30
"""Bytes of the longest line that is read."""

NEWLINE = ord("\n")


def refusal(path: Path, line: int, rule: str, value: object = None) -> InputError:
    """Return the error of a line; `value` is what it shows, ``None`` = nothing."""
    has = value is not None
    return InputError(rule, field=f"line {line}", value=value, has_value=has, file=str(path))


def opened(path: Path) -> BinaryIO:
    """Open a file or a pipe for reading; raise `InputError` where that cannot be."""
    try:
        if path.is_dir():
            raise InputError("is a folder; name a file", has_value=False, file=str(path))
        return path.open("rb", buffering=2**16)
    except OSError as error:
        rule = f"cannot be read: {error.strerror or error}"
        raise InputError(rule, has_value=False, file=str(path)) from error


def line_blocks(path: Path, file: BinaryIO) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Yield (bytes, how many), always whole lines; the last line gets its newline."""
    data = np.empty(BLOCK + 1, dtype=np.uint8)
    filled = 0
    while True:
        got = file.readinto(data.data[filled : len(data) - 1])  # type: ignore[attr-defined]
        if not got:
            if filled:
                data[filled] = NEWLINE
                yield data, filled + 1
            return
        end = _after_last_newline(data, filled, filled + got)
        filled += got
        if end:
            yield data, end
            rest = data[end:filled].copy()
            data = np.empty(max(BLOCK, 2 * len(rest)) + 1, dtype=np.uint8)
            data[: len(rest)] = rest
            filled = len(rest)
        elif filled == len(data) - 1:
            if filled > LONGEST_LINE:
                raise InputError("has a line of more than 1 GiB", has_value=False, file=str(path))
            data = np.concatenate((data, np.empty(len(data), dtype=np.uint8)))


def _after_last_newline(data: NDArray[np.uint8], begin: int, end: int) -> int:
    """Return the position after the last newline in ``data[begin:end]``; 0 = there is none."""
    position = data[begin:end].tobytes().rfind(b"\n")
    return 0 if position < 0 else begin + position + 1
