"""The log of a grading: JSON lines that are appended to a file, each whole.

``docs/grading.md`` documents the events and their keys.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from slotwise.benchmarks.grading.rows import Row
from slotwise.models.errors import InputError

FORMAT = "slotwise.grade-log/1"

LOGGED = (
    *("instance", "instance_hash", "kind", "method", "seed", "time_limit_s"),
    *("status", "wall_s", "error"),
)
"""Columns of a row that the event of its run has."""


class RunLog(Protocol):
    """Takes the events of a grading."""

    def write(self, event: str, content: Mapping[str, Any]) -> None:
        """Add one event."""

    def runs(self, rows: Iterable[Row]) -> None:
        """Add an event for each run that has ended."""


class NoLog:
    """Where no log is wanted."""

    def write(self, event: str, content: Mapping[str, Any]) -> None:
        """Write nothing."""

    def runs(self, rows: Iterable[Row]) -> None:
        """Write nothing."""


class LogFile:
    """Appends to an open file; each call writes its lines at once."""

    def __init__(self, descriptor: int, now: Callable[[], datetime]) -> None:
        self._descriptor = descriptor
        self._now = now

    def write(self, event: str, content: Mapping[str, Any]) -> None:
        """Add one event."""
        self._append([self._line(event, content)])

    def runs(self, rows: Iterable[Row]) -> None:
        """Add an event for each run that has ended."""
        self._append([self._line("run", {name: row.get(name) for name in LOGGED}) for row in rows])

    def _line(self, event: str, content: Mapping[str, Any]) -> str:
        time = self._now().isoformat(timespec="milliseconds")
        document = {"event": event, "time": time, **content}
        return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"

    def _append(self, lines: list[str]) -> None:
        data = "".join(lines).encode()
        while data:
            data = data[os.write(self._descriptor, data) :]


@contextmanager
def run_log(
    path: Path | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Iterator[RunLog]:
    """Open a log for appending; ``None`` = there is none.

    A line that an earlier call left unfinished is ended first, so that ours are whole.

    Raises
    ------
    InputError
        When the file cannot be written to.
    """
    if path is None:
        yield NoLog()
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        rule = f"cannot be written to: {error.strerror}"
        raise InputError(rule, field="log", value=str(path)) from error
    try:
        if _ends_within_a_line(path):
            os.write(descriptor, b"\n")
        yield LogFile(descriptor, now)
    finally:
        os.close(descriptor)


def _ends_within_a_line(path: Path) -> bool:
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
