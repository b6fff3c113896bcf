"""Ranked bars: the mean distance from the optimum of each method, one panel for each term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from slotwise.benchmarks.judged.intervals import LEAST_INSTANCES, MEAN_RESAMPLES
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import name_bars
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.figures.numbers.panels import Panel, mean_with_interval
from slotwise.benchmarks.report.figures.numbers.words import (
    ACROSS,
    axis,
    definitions,
    distance,
    folded,
    heading,
)
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (
    *("term", "method", "cases", "of", "common cases", "mean", "95 % from", "95 % to"),
    *("median of its cases", "worst"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A method in a panel: cases that count, mean and interval on the common ones.

    A mean of ``None`` says that it is not compared, an interval of ``None`` too few instances.
    """

    method: str
    cases: int
    mean: float | None
    low: float | None
    high: float | None


def bars(panel: Panel) -> tuple[Bar, ...]:
    """Return the bars, best first; methods that are not compared stand last, most cases first."""
    compared, shared = panel.common()
    found = []
    for method, excess in panel.excess.items():
        if method in compared:
            mean = mean_with_interval(excess, shared, panel.term, method)
            found.append(Bar(method, len(excess), *mean))
        else:
            found.append(Bar(method, len(excess), None, None, None))
    return tuple(sorted(found, key=_rank))


def _rank(bar: Bar) -> tuple[bool, float]:
    return bar.mean is None, -bar.cases if bar.mean is None else bar.mean


def ranked_gaps(panels: Sequence[Panel], cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where nothing is proven or there is no method."""
    ranked = [(panel, bars(panel)) for panel in panels if panel.cases]
    if not ranked:
        return None
    drawn = [one for one in ranked if any(bar.mean for bar in one[1])] or ranked[-1:]
    figure, axes = new_chart([0.7 + 0.25 * len(some) for _, some in drawn])
    for ax, (panel, some) in zip(axes, drawn, strict=True):
        _draw(ax, panel, some, cast)
    level = [heading(one[0]) for one in ranked if one not in drawn]
    text = f"{', '.join(level)}: all at the optimum on the common cases. " if level else ""
    return Chart(
        "gaps-ranked",
        "How far each method is from the optimum",
        _caption(ranked, text),
        text + " ".join(_sentence(panel, some, cast) for panel, some in drawn),
        figure,
        COLUMNS,
        tuple(row for panel, some in ranked for row in _rows(panel, some, cast)),
    )


def _draw(ax: Axes, panel: Panel, some: Sequence[Bar], cast: Cast) -> None:
    ax.barh(
        range(len(some)), [bar.mean or 0.0 for bar in some], height=0.62, color=colour("series-1")
    )
    for place, bar in enumerate(some):
        text, x, shade = f"no mean: counts in {bar.cases:,} of {len(panel.cases):,}", 0.0, "muted"
        if bar.mean is not None:
            text, x, shade = distance(bar.mean, panel), max(bar.high or bar.mean, 0.0), "text"
        if bar.low is not None and bar.high is not None:
            ax.plot([bar.low, bar.high], [place, place], color=colour("text"), linewidth=1.1)
        ax.annotate(
            text, (x, place), xytext=(4, 0), textcoords="offset points", va="center",
            color=colour(shade),
        )  # fmt: skip
    name_bars(ax, [cast.short(bar.method) for bar in some])
    ends = [end for bar in some for end in (bar.mean, bar.low, bar.high) if end is not None]
    ax.set_xlim(min([0.0, *ends]), max([0.0, *ends]) * 1.25 or 1.0)
    ax.set(title=heading(panel), xlabel=folded(f"mean {axis(panel)}", ACROSS))
    ax.grid(axis="x")


def _rows(panel: Panel, some: Sequence[Bar], cast: Cast) -> list[tuple[str, ...]]:
    shared = len(panel.common()[1])
    made = []
    for bar in some:
        own = list(panel.excess[bar.method].values())
        numbers = (
            *(bar.mean, bar.low, bar.high),
            *(median(own) if own else None, max(own, default=None)),
        )
        counts = (f"{count:,}" for count in (bar.cases, len(panel.cases), shared))
        made.append(
            (
                *(heading(panel), cast.name(bar.method), *counts),
                *(distance(number, panel) for number in numbers),
            )
        )
    return made


def _caption(ranked: Sequence[tuple[Panel, tuple[Bar, ...]]], level: str) -> str:
    shown = [panel for panel, _ in ranked]
    has_interval = any(bar.low is not None for _, some in ranked for bar in some)
    interval = (
        f", with a 95 % interval (bootstrap, {MEAN_RESAMPLES:,} resamples; from {LEAST_INSTANCES} "
        "instances)"
        if has_interval
        else ""
    )
    common = ", ".join(f"{heading(panel)} {len(panel.common()[1]):,}" for panel in shown)
    return (
        f"Mean distance from the optimum, one panel for each term of the objective{interval}. A "
        "term counts where the placement is valid and every earlier term is at its optimum. Means "
        f"are of the cases that count for all compared methods ({common}); a method that counts in "
        f"too few is not compared. {level}{definitions(shown)}"
    )


def _sentence(panel: Panel, some: Sequence[Bar], cast: Cast) -> str:
    drawn = [bar for bar in some if bar.mean is not None]
    if not drawn:
        return f"{heading(panel)}: no method is compared."
    first, last = drawn[0], drawn[-1]
    where = f"on {counted(len(panel.common()[1]), 'common case')}"
    text = f"{heading(panel)}, {where}: {cast.name(first.method)} is {distance(first.mean, panel)}"
    text += f" above the {panel.reference} on average"
    if len(drawn) > 1:
        text += f", {cast.name(last.method)} {distance(last.mean, panel)}"
    return f"{text}."
