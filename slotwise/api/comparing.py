"""Two gradings compared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.api.inputs import path_of
from slotwise.benchmarks.report.comparison.change import Change
from slotwise.benchmarks.report.comparison.compare import Compared
from slotwise.benchmarks.report.comparison.page import compare_gradings, write_comparison
from slotwise.benchmarks.report.labels import parse_labels
from slotwise.models.display import block, html_line, html_table


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
        head = f"Comparison {self.before} -> {self.after}: {self.changes.cases} cases in both"
        lines = [
            f"{one.method}: "
            + ", ".join(f"{one.count(change)} {change}" for change in Change if one.count(change))
            for one in self.changes.methods
        ]
        return block(head, lines)

    def _repr_html_(self) -> str:
        heads = ("method", *map(str, Change))
        rows = [
            (one.method, *(str(one.count(change)) for change in Change))
            for one in self.changes.methods
        ]
        head = f"Comparison {self.before} -> {self.after}: {self.changes.cases} cases in both"
        return html_line(head) + html_table(heads, rows, len(rows))

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


def compare(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    methods: Sequence[str] | Mapping[str, str] | None = None,
) -> Comparison:
    """Compare two gradings: better, worse, newly failing, newly solved, on which instances.

    Runs are paired by method, instance and seed; what one grading alone has is named and compared
    in nothing.

    Parameters
    ----------
    before, after
        What `grade` wrote into (its `out`), twice.
    methods
        What methods are called: texts ``LABEL=METHOD``, or a mapping from label to method; ``None``
        = all keep their names. Two methods with one label, one in each grading, are compared.

    Raises
    ------
    InputError
        When a folder holds no rows, the two have no run in common, or a label is of no method.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.compare("before", "after")  # doctest: +SKIP
    Comparison before -> after: 9 cases in both
      auto: 9 unchanged
      r-storm: 3 better, 6 unchanged
    """
    folders = [
        Path(path_of(one, name, "a path")) for one, name in ((before, "before"), (after, "after"))
    ]
    return Comparison(*folders, compare_gradings(*folders, parse_labels(methods or ())))
