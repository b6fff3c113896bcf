"""Rows of proofs as lines of a table, and as lines of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from slotwise.benchmarks.proofs.isolated_run import Measured
from slotwise.models.number_text import short_text

HEADS = ("instance", "tasks", "engine", "status", "term", "value", "bound", "gap", "seconds", "MB")
WIDTHS = (36, 6, 28, 10, 9, 12, 12, 8, 9, 7)
LEFT = frozenset({"instance", "engine", "status", "term"})


class Table:
    """Prints rows as they come: as a table, or as JSON with one object a line."""

    def __init__(self, as_json: bool) -> None:
        self._json = as_json
        if not as_json:
            self._line(_aligned(HEADS))

    def add(self, row: Measured) -> None:
        """Print one row."""
        self._line(json.dumps(row.to_document()) if self._json else _aligned(_cells(row)))

    def end(self, summary: dict[str, Any], lines: Iterable[str]) -> None:
        """Print what the rows add up to: `summary` as JSON, or `lines` for people."""
        if self._json:
            self._line(json.dumps({"summary": summary}))
        else:
            for line in lines:
                self._line(line)

    @staticmethod
    def _line(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def _cells(row: Measured) -> tuple[str, ...]:
    term = row.first_open or {"term": "-", "value": None, "bound": None}
    engine = row.engine if not row.by or row.engine.startswith("textbook") else row.by
    return (
        row.instance,
        str(row.tasks),
        engine.partition(" (")[0],
        row.status,
        term["term"],
        short_text(term["value"]),
        short_text(term["bound"]),
        "-" if row.gap is None else f"{100 * row.gap:.2f} %",
        f"{row.seconds:.2f}",
        "-" if row.memory_mb is None else f"{row.memory_mb:.0f}",
    )


def _aligned(cells: tuple[str, ...]) -> str:
    parts = (
        f"{cell:<{width}}" if head in LEFT else f"{cell:>{width}}"
        for head, width, cell in zip(HEADS, WIDTHS, cells, strict=True)
    )
    return " ".join(parts).rstrip()
