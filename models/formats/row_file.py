"""Rows of a long run in a file of JSON lines, so that the run goes on where it was stopped."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import read_bytes
from slotwise.models.formats.validation import validated

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)
else:
    Row = TypeVar("Row")


class RowFile(Generic[Row]):
    """Rows of one dataclass, a line each, which is on the disk when `append` returns.

    A last line without its end was being written when the machine went down: it is not a row, and
    the next one takes its place.

    Parameters
    ----------
    path
        The file, which is made with the first row; ``None`` = rows are kept in memory only.
    shape
        The dataclass.
    head
        The first line, which says what the rows are of; empty = there is none.

    Attributes
    ----------
    rows
        All rows, in the order of the file.

    Raises
    ------
    InputError
        When the file cannot be read, has another head, or a line is not a row.
    """

    def __init__(self, path: Path | None, shape: type[Row], head: str = "") -> None:
        self.path = path
        self.rows: list[Row] = []
        self._head = f"{head}\n" if head else ""
        data = read_bytes(path) if path is not None and path.exists() else b""
        self._end = data.rfind(b"\n") + 1
        whole = data[: self._end].decode("utf-8", errors="replace")
        begun = data[self._end :]
        expected = b"{" if self._end or not head else self._head.encode()
        if begun[: len(expected)] != expected[: len(begun)]:
            rule = "is not a row that was cut short; name another file"
            raise self._refusal(rule, 1 + whole.count("\n"))
        if whole and not whole.startswith(self._head):
            rule = "holds rows of something else, or with other settings; name another file"
            raise self._refusal(rule, 1)
        for number, line in enumerate(whole.splitlines(), 1):
            if number == 1 and self._head:
                continue
            try:
                self.rows.append(validated(shape, json.loads(line)))
            except (json.JSONDecodeError, InputError) as error:
                rule = f"is not a row ({error}); remove the line, or name another file"
                raise self._refusal(rule, number) from error

    def _refusal(self, rule: str, line: int) -> InputError:
        return InputError(rule, field=f"line {line}", has_value=False, file=str(self.path))

    def append(self, *rows: Row) -> None:
        """Add rows.

        Raises
        ------
        InputError
            When the file cannot be written.
        """
        self.rows += rows
        if self.path is None:
            return
        lines = "".join(json.dumps(asdict(row)) + "\n" for row in rows)
        data = (lines if self._end else self._head + lines).encode()
        try:
            with self.path.open("ab") as file:
                file.truncate(self._end)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            rule = f"cannot be written: {error.strerror or error}"
            raise InputError(rule, has_value=False, file=str(self.path)) from error
        self._end += len(data)
