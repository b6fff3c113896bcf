"""The comparison of two gradings as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.comparison.change import Change
from slotwise.benchmarks.report.comparison.chart import SHADES, change_chart
from slotwise.benchmarks.report.comparison.compare import Compared, compare_rows
from slotwise.benchmarks.report.graded_rows import graded_rows
from slotwise.benchmarks.report.labels import check_labels
from slotwise.benchmarks.report.page_template import template
from slotwise.models.errors import InputError
from slotwise.models.formats.atomic_file import write_atomically

PAGE = "comparison.html"

LISTED = (Change.NEWLY_FAILING, Change.WORSE, Change.NEWLY_SOLVED, Change.BETTER, Change.BOTH_FAIL)
"""Changes whose instances the page lists."""

MOST_LISTED = 500
"""Instances of one change of one method on the page; it says how many there are."""


def compare_gradings(
    before: str | Path, after: str | Path, labels: Mapping[str, str] | None = None
) -> Compared:
    """Compare the gradings in two folders.

    Raises
    ------
    InputError
        When a folder has no rows, they have no run in common, or a label is of no method there.
    """
    names = labels or {}
    old, new = (graded_rows(Store(Path(folder))) for folder in (before, after))
    graded = [{row["method"] for row in rows} for rows in (old, new)]
    check_labels({m: names[m] for m in names.keys() - graded[0] - graded[1]}, set.union(*graded))
    for methods in graded:
        check_labels({m: names[m] for m in names.keys() & methods}, methods)
    found = compare_rows(old, new, names)
    if not found.methods:
        raise InputError(
            f"has no run of the same method on the same instance and seed as {before}",
            value=str(after),
        )
    return found


def write_comparison(compared: Compared, before: str | Path, after: str | Path) -> Path:
    """Write the page into the folder `after` and return its path.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    chart = change_chart(compared)
    text = template("comparison.html.j2").render(
        compared=compared,
        before=str(before),
        after=str(after),
        chart=None if chart is None else chart.figure(),
        changes=tuple(SHADES),
        listed=LISTED,
        most=MOST_LISTED,
        has_interval=any(t.low is not None for one in compared.methods for t in one.terms),
    )
    page = Path(after) / PAGE
    write_atomically(page, text)
    return page
