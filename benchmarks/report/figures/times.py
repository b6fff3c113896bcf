"""The time of each method and exact engine against the size of the instance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.analysis.measures import seconds_of
from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.axes import seconds_axis, size_axis
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines
from slotwise.benchmarks.report.figures.numbers.shared_cases import MOST_BINS, Bin, bins
from slotwise.benchmarks.report.figures.numbers.words import amount
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT_IN = 3.4
LEAST_S = 1e-5
"""Shorter times are drawn as this: a log scale has no 0."""


def times_by_size(rows: Sequence[Row], cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where all instances have the same size."""
    made = bins({case_of(row): float(row["tasks"]) for row in rows if row["tasks"]})
    seconds: dict[str, dict[Case, float]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: row["kind"] != Kind.EXACT):
        seconds[row["method"]][case_of(row)] = seconds_of(row)
    if len(made) < 2:
        return None
    curves = {method: _medians(found, made) for method, found in seconds.items()}
    return Chart(
        "time-by-size",
        "Time by size",
        f"Median seconds of a run in up to {MOST_BINS} bins of about equally many cases, by number "
        f"of tasks, log scale, {counted(sum(len(one.cases) for one in made), 'case')}. Seconds are "
        "those of the call alone; a run that crashed, hung or ran out of memory has its limit."
        f"{cast.grey_lines}",
        _sentence(made, curves, cast),
        _drawn(made, curves, cast),
        ("method", "tasks", "runs", "median seconds"),
        tuple(
            (cast.name(method), made[index].text, f"{count:,}", amount(value))
            for method, found in curves.items()
            for index, count, value in found
        ),
    )


Curve = list[tuple[int, int, float]]
"""Index of a bin, number of runs in it, and their median time in seconds."""


def _medians(seconds: dict[Case, float], made: Sequence[Bin]) -> Curve:
    found = []
    for index, one in enumerate(made):
        some = [seconds[case] for case in one.cases if case in seconds]
        if some:
            found.append((index, len(some), median(some)))
    return found


def _drawn(made: Sequence[Bin], curves: dict[str, Curve], cast: Cast) -> Figure:
    figure, (ax,) = new_chart([HEIGHT_IN])
    lines = [
        Line(method, tuple((made[i].middle, max(value, LEAST_S)) for i, _, value in found))
        for method, found in curves.items()
        if found
    ]
    drawn = [seconds for line in lines for _, seconds in line.points]
    seconds_axis(ax, min(drawn), max(drawn))
    size_axis(ax, [one.middle for one in made], "tasks")
    ax.set(ylabel="median seconds (log scale)")
    draw_lines(ax, lines, cast, is_stepped=False)
    ax.grid()
    name_lines(ax, lines, cast, HEIGHT_IN)
    return figure


def _sentence(made: Sequence[Bin], curves: dict[str, Curve], cast: Cast) -> str:
    last = len(made) - 1
    largest = {
        method: value
        for method, found in curves.items()
        for index, _, value in found
        if index == last
    }
    slowest, fastest = (
        max(largest, key=lambda m: largest[m]),
        min(largest, key=lambda m: largest[m]),
    )
    return (
        f"On the largest instances ({made[last].text} tasks) {cast.name(slowest)} takes "
        f"{amount(largest[slowest])} s in the median run and {cast.name(fastest)} "
        f"{amount(largest[fastest])} s."
    )
