"""What changed from one grading to another, as users get it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.benchmarks.report.comparison.change import Change
from slotwise.benchmarks.report.comparison.compare import Compared
from slotwise.benchmarks.report.comparison.page import write_comparison
from slotwise.models.display import block, counted, html_line, html_table


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one grading to another.

    Parameters
    ----------
    before, after
        The folders of the two gradings.
    changes
        By method, on the cases that both have; and what one of them alone has.
    """

    before: Path
    after: Path
    changes: Compared

    def __repr__(self) -> str:
        """At most five lines: the folders, then the first methods."""
        lines = [
            f"{method.method}: "
            + ", ".join(
                f"{method.count(change)} {change}" for change in Change if method.count(change)
            )
            for method in self.changes.methods
        ]
        return block(self._head(), lines)

    def _repr_html_(self) -> str:
        heads = ("method", *map(str, Change))
        rows = [
            (method.method, *(str(method.count(change)) for change in Change))
            for method in self.changes.methods
        ]
        return html_line(self._head()) + html_table(heads, rows, len(rows))

    def _head(self) -> str:
        cases = counted(self.changes.cases, "instance")
        return f"Comparison {self.before} -> {self.after}: {cases} in both"

    def to_document(self) -> dict[str, Any]:
        """Return what ``report DIR DIR2 --json`` prints, without the path of the page."""
        folders = {"before": str(self.before), "after": str(self.after)}
        return {**folders, **self.changes.to_document()}

    def write_page(self) -> Path:
        """Write the HTML page ``comparison.html`` into the folder `after` and return its path.

        Raises
        ------
        InputError
            When it cannot be written.
        """
        return write_comparison(self.changes, self.before, self.after)
