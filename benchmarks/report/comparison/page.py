"""The comparison of two gradings as one HTML page that needs nothing else.

Its chart shows how many runs of each method changed in which way: stacked bars.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.comparison.change import Change, MethodChanges
from slotwise.benchmarks.report.comparison.compare import Compared, compare_rows
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import Part, legend_above, share_bars
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart, styled
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.graded_rows import graded_rows
from slotwise.benchmarks.report.labels import check_labels
from slotwise.benchmarks.report.page_template import template
from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SHADES = {
    Change.NEWLY_SOLVED: "series-1",
    Change.BETTER: "series-6",
    Change.UNCHANGED: "grid",
    Change.WORSE: "series-5",
    Change.NEWLY_FAILING: "series-2",
    Change.BOTH_FAIL: "rest",
}
"""Change -> role of its colour, from best to worst."""

INKS = {
    **dict.fromkeys(("series-1", "series-2"), "surface"),
    **dict.fromkeys(("series-5", "series-6"), "on-bright"),
}
"""Colour of a bar -> colour of the number in it, where that is not the one of other text."""

LEAST_WRITTEN = 0.06
"""A smaller share of a bar has no number in it; the table has it."""


def change_chart(compared: Compared) -> Chart | None:
    """Return the chart; ``None`` where no method has a pair."""
    shown = [one for one in compared.methods if one.pairs]
    if not shown:
        return None
    with styled():
        drawn = _drawn(shown)
    return Chart(
        "changes",
        "What changed",
        "Runs of each method that both gradings have, on the same instances with the same seeds. "
        "Better and worse: in the first term of the objective that differs. Newly failing and "
        "newly solved: a valid placement in the first or in the second grading alone.",
        " ".join(_sentence(one) for one in shown[:4]),
        drawn,
        ("method", *map(str, SHADES), "runs"),
        tuple(
            (one.method, *(f"{one.count(change):,}" for change in SHADES), f"{len(one.pairs):,}")
            for one in shown
        ),
    )


def _drawn(shown: list[MethodChanges]) -> Figure:
    figure, (ax,) = new_chart([1.0 + 0.3 * len(shown)])
    names = Cast({}, {one.method: place for place, one in enumerate(shown)})
    share_bars(ax, [(names.short(one.method), _parts(one)) for one in shown], "runs")
    shades = {str(change): colour(shade) for change, shade in SHADES.items()}
    legend_above(figure, shades, ncols=3)
    return figure


def _parts(method_changes: MethodChanges) -> list[Part]:
    parts = []
    for change, shade in SHADES.items():
        count = method_changes.count(change)
        share = count / len(method_changes.pairs)
        text = f"{count:,}" if share >= LEAST_WRITTEN else ""
        parts.append(Part(share, colour(shade), text, colour(INKS.get(shade, "text"))))
    return parts


def _sentence(method_changes: MethodChanges) -> str:
    counts = [
        f"{method_changes.count(change):,} {change}"
        for change in SHADES
        if method_changes.count(change)
    ]
    return f"{method_changes.method}: {', '.join(counts)}, of {len(method_changes.pairs):,} runs."


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
    comparison = compare_rows(old, new, names)
    if not comparison.methods:
        raise InputError(
            f"has no run of the same method on the same instance and seed as {before}",
            value=str(after),
        )
    return comparison


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
        has_changes=any(one.count(change) for one in compared.methods for change in LISTED),
        has_interval=any(t.low is not None for one in compared.methods for t in one.terms),
    )
    page = Path(after) / PAGE
    write_atomically(page, text)
    return page
