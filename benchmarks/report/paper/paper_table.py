"""A table for a paper."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from slotwise.benchmarks.report.text import DASH
from slotwise.models.formats.csv_text import csv_cell


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table: stable name for files, caption, heads, and cells as text."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def csv_text(self) -> str:
        """Return it as CSV with a head; a cell without a number is empty, text is no formula."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(csv_cell, self.columns))
        writer.writerows(
            ["" if cell == DASH else csv_cell(cell) for cell in row] for row in self.rows
        )
        return out.getvalue()
