"""The distance from the optimum against a property of the instances: size, tightness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from slotwise.benchmarks.analysis.cases import Case
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.axes import size_axis
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines
from slotwise.benchmarks.report.figures.numbers.panels import Panel
from slotwise.benchmarks.report.figures.numbers.shared_cases import MOST_BINS, Bin, bins
from slotwise.benchmarks.report.figures.numbers.words import (
    UPWARDS,
    definitions,
    distance,
    folded,
    heading,
    unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 2.8


@dataclass(frozen=True, slots=True)
class Property:
    """A number of each case: stable name for files, words for axes and captions, and values."""

    name: str
    noun: str
    axis: str
    definition: str
    values: Mapping[Case, float]


@dataclass(frozen=True, slots=True)
class _Curves:
    """A panel in bins: its compared methods, and the mean of each in each bin."""

    panel: Panel
    bins: tuple[Bin, ...]
    means: Mapping[str, tuple[float, ...]]


def against(panels: Sequence[Panel], of: Property, cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where all instances are alike or all methods at the optimum."""
    found = [_curves(panel, of) for panel in panels if panel.cases and not panel.is_settled]
    shown = [one for one in found if len(one.bins) > 1 and any(map(any, one.means.values()))]
    if not shown:
        return None
    figure, axes = new_chart([HEIGHT_IN] * len(shown))
    for ax, one in zip(axes, shown, strict=True):
        _draw(ax, one, of, cast)
    common = ", ".join(
        f"{heading(one.panel)} {sum(len(b.cases) for b in one.bins):,}" for one in shown
    )
    return Chart(
        f"gap-by-{of.name}",
        f"Distance from the optimum by {of.noun}",
        f"Mean distance from the optimum in up to {MOST_BINS} bins of about equally many cases, by "
        f"{of.noun} ({of.definition}), on the cases that count for all compared methods "
        f"({common}).{cast.grey_lines} {definitions([one.panel for one in shown])}",
        " ".join(_sentence(one, of, cast) for one in shown),
        figure,
        ("term", "method", of.axis, "common cases", "mean distance"),
        tuple(row for one in shown for row in _rows(one, cast)),
    )


def _curves(panel: Panel, of: Property) -> _Curves:
    compared, shared = panel.common()
    made = bins({case: of.values[case] for case in shared if case in of.values})
    means = {
        method: tuple(fmean(panel.excess[method][case] for case in one.cases) for one in made)
        for method in compared
    }
    return _Curves(panel, made, means)


def _draw(ax: Axes, one: _Curves, of: Property, cast: Cast) -> None:
    middles = [found.middle for found in one.bins]
    lines = [
        Line(method, tuple(zip(middles, means, strict=True))) for method, means in one.means.items()
    ]
    size_axis(ax, middles, of.axis)
    ax.set(title=heading(one.panel), ylabel=folded(f"mean distance, {unit(one.panel)}", UPWARDS))
    draw_lines(ax, lines, cast, is_stepped=False)
    low = min(0.0, *(value for means in one.means.values() for value in means))
    ax.set_ylim(bottom=low)
    ax.grid()
    name_lines(ax, lines, cast, HEIGHT_IN)


def _rows(one: _Curves, cast: Cast) -> list[tuple[str, ...]]:
    return [
        (
            *(heading(one.panel), cast.name(method), found.text, f"{len(found.cases):,}"),
            distance(value, one.panel),
        )
        for method, means in one.means.items()
        for found, value in zip(one.bins, means, strict=True)
    ]


def _sentence(one: _Curves, of: Property, cast: Cast) -> str:
    first, last = one.bins[0], one.bins[-1]
    said = [
        f"from {distance(means[0], one.panel)} to {distance(means[-1], one.panel)} for "
        f"{cast.name(method)}"
        for method, means in list(one.means.items())[:3]
    ]
    return (
        f"{heading(one.panel)}: from the least {of.noun} ({first.text}) to the largest "
        f"({last.text}), the mean distance goes {', '.join(said)}."
    )
