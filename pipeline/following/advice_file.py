"""The advice file: JSON lines, one per batch, each exactly once.

A line is written in one piece and forced to disk before its batch counts as done. If a crash cut it
short, the next start removes the partial line, and the repeated batch writes it again; a batch
whose line exists already writes nothing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.advice_schema import AdviceFile
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.validation import check_format, validated
from slotwise.pipeline.following.advice import FORMAT, Advice, time_ms
from slotwise.pipeline.following.hysteresis import State

HEAD = f'{{"format": "{FORMAT}", '.encode()
"""The beginning of every line."""

BLOCK = 65_536
"""Bytes read at once when searching for the last line from the end."""


@dataclass(frozen=True, slots=True)
class Written:
    """The last line of a stream in an advice file: its batch, and whether advice is in force."""

    batch: int
    state: State


def mend(path: Path, stream: str) -> Written | None:
    """Remove a last line that a crash cut short, and return the last whole one.

    The file is created if it is missing. ``None``: it is empty, or its last line is of another
    stream, whose lines are kept.

    Raises
    ------
    InputError
        When the file cannot be read or written, or has other content; it is not changed then.
    """
    try:
        with path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            end = _end_of_lines(path, size)
            last = _last(path, stream, end)
            if end < size:
                _check_start(path, file, end)
                file.truncate(end)
                os.fsync(file.fileno())
    except OSError as error:
        raise _unusable(path, error) from error
    return last


def append(path: Path, advice: Advice) -> None:
    """Append the line of an advice, in one piece, and force it to disk.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    line = json.dumps(advice.to_document(), ensure_ascii=False, allow_nan=False) + "\n"
    try:
        with path.open("ab", buffering=0) as file:
            data = line.encode()
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
    except OSError as error:
        raise _unusable(path, error) from error


def _end_of_lines(path: Path, size: int) -> int:
    """Return the number of the first `size` bytes that are whole lines."""
    with path.open("rb") as file:
        while size > 0:
            start = max(0, size - BLOCK)
            file.seek(start)
            position = file.read(size - start).rfind(b"\n")
            if position >= 0:
                return start + position + 1
            size = start
    return 0


def _last(path: Path, stream: str, end: int) -> Written | None:
    """Return the last line before byte `end`; see `mend`."""
    start = _end_of_lines(path, max(0, end - 1))
    with path.open("rb") as file:
        file.seek(start)
        line = file.read(end - start)
    if not line:
        return None
    with in_file(f"{path}: last line"):
        try:
            data = parse_json(line.decode())
        except UnicodeDecodeError as error:
            raise InputError("is not UTF-8; give a file of advice, or a new one") from error
        check_format(data, FORMAT)
        last = validated(AdviceFile, data)
        if last.stream != stream:
            return None
        try:
            changed = None if last.since is None else time_ms(last.since)
        except (ValueError, TypeError) as error:
            rule = "must be a time of ISO 8601 with its zone"
            raise InputError(rule, field="since", value=last.since) from error
    return Written(last.batch, State(last.pays, changed))


def _check_start(path: Path, file: BinaryIO, end: int) -> None:
    """Raise `InputError` instead of removing a line that does not begin like advice."""
    file.seek(end)
    start = file.read(len(HEAD))
    if not HEAD.startswith(start):
        rule = "has a last line without its end that is not advice; give another file"
        raise InputError(rule, has_value=False, file=str(path))


def _unusable(path: Path, error: OSError) -> InputError:
    rule = f"cannot be used: {error.strerror or error}"
    return InputError(rule, has_value=False, file=str(path))
