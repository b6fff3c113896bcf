"""What experiments print: lines that appear at once, and rows as a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any


def say(line: str) -> None:
    """Print a line now."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def number(value: float | None, spec: str) -> str:
    """Return a number in that format; ``-`` where there is none."""
    return "-" if value is None else format(value, spec)


class Table:
    """Prints rows as they come: in columns, or as JSON with one object a line.

    Parameters
    ----------
    columns
        Head -> how its cells are aligned, for example ``<36`` or ``>6``.
    as_json
        Whether people or programs read it.
    """

    def __init__(self, columns: Mapping[str, str], as_json: bool) -> None:
        self._formats = tuple(columns.values())
        self._as_json = as_json
        if not as_json:
            self._print(columns)

    def add(self, document: Mapping[str, Any], cells: Iterable[str]) -> None:
        """Print one row: `document` as JSON, or `cells` for people."""
        if self._as_json:
            say(json.dumps(document))
        else:
            self._print(cells)

    def end(self, summary: Any, lines: Iterable[str]) -> None:
        """Print what the rows add up to: `summary` as JSON, or `lines` for people."""
        for line in [json.dumps({"summary": summary})] if self._as_json else lines:
            say(line)

    def _print(self, cells: Iterable[str]) -> None:
        pairs = zip(cells, self._formats, strict=True)
        say(" ".join(format(cell, spec) for cell, spec in pairs).rstrip())
