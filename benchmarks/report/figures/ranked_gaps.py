"""Ranked bars: the mean distance from the optimum of each method, one panel for each term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.bootstrap import LEVEL, RESAMPLES, mean_interval
from slotwise.benchmarks.report.figures.canvas import new_chart
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.colours import colour
from slotwise.benchmarks.report.figures.panels import Panel
from slotwise.benchmarks.report.figures.words import (
    amount,
    counted,
    distance,
    heading,
    scope,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "gaps-ranked"
COLUMNS = (
    *("term", "method", "cases", "of", "mean on common cases", "95 % from", "95 % to"),
    *("common cases", "median of its own", "worst", "unit"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A method in a panel: mean and interval on the common cases, or why it has none."""

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
        interval = mean_interval(excess, shared) if method in compared else (None, None, None)
        found.append(Bar(method, len(excess), *interval))
    return tuple(
        sorted(found, key=lambda b: (b.mean is None, b.mean or 0.0, -b.cases if not b.mean else 0))
    )


def ranked_gaps(panels: Sequence[Panel], labels: Mapping[str, str]) -> Chart | None:
    """Return the chart; ``None`` where nothing is proven or there is no method."""
    shown = [panel for panel in panels if panel.cases and panel.excess]
    if not shown:
        return None
    ranked = [bars(panel) for panel in shown]
    figure, axes = new_chart([0.75 + 0.27 * len(some) for some in ranked])
    for ax, panel, some in zip(axes, shown, ranked, strict=True):
        _draw(ax, panel, some, labels)
    rows = tuple(
        row for panel, some in zip(shown, ranked, strict=True) for row in _rows(panel, some, labels)
    )
    return Chart(
        NAME,
        "How far each method is from the optimum",
        _caption(shown),
        " ".join(_sentence(p, b, labels) for p, b in zip(shown, ranked, strict=True)),
        figure,
        COLUMNS,
        rows,
    )


def _draw(ax: Axes, panel: Panel, some: Sequence[Bar], labels: Mapping[str, str]) -> None:
    places = range(len(some))
    means = [bar.mean or 0.0 for bar in some]
    ax.barh(places, means, height=0.62, color=colour("series-1"))
    end = max((bar.high or 0.0 for bar in some), default=0.0) or 1.0
    for place, bar in enumerate(some):
        if bar.mean is None or bar.low is None or bar.high is None:
            text, x, shade = f"not compared: {bar.cases:,} of {len(panel.cases):,}", 0.0, "muted"
        else:
            ax.plot([bar.low, bar.high], [place, place], color=colour("text"), linewidth=1.2)
            text, x, shade = distance(bar.mean, panel), bar.high, "text"
        ax.annotate(
            text, (x, place), xytext=(4, 0), textcoords="offset points", va="center",
            color=colour(shade),
        )  # fmt: skip
    ax.set_yticks(places, [short_name(labels.get(bar.method, bar.method)) for bar in some])
    ax.tick_params(axis="y", length=0, labelcolor=colour("text"))
    ax.set_ylim(len(some) - 0.5, -0.5)
    ax.set_xlim(min(0.0, *means) if len(means) > 1 else 0.0, end * 1.22)
    ax.set(title=heading(panel), xlabel=f"mean, {panel.unit}")
    ax.grid(axis="x")


def _rows(panel: Panel, some: Sequence[Bar], labels: Mapping[str, str]) -> list[tuple[str, ...]]:
    _, shared = panel.common()
    made = []
    for bar in some:
        own = list(panel.excess[bar.method].values())
        made.append(
            (
                *(heading(panel), labels.get(bar.method, bar.method)),
                *(f"{bar.cases:,}", f"{len(panel.cases):,}"),
                *(amount(bar.mean), amount(bar.low), amount(bar.high)),
                f"{len(shared):,}",
                *(amount(median(own) if own else None), amount(max(own, default=None))),
                panel.unit,
            )
        )
    return made


def _caption(shown: Sequence[Panel]) -> str:
    ratio = (
        " Distance: (value − optimum) / optimum, so that twice the optimum is 100 %."
        if any(panel.is_relative for panel in shown)
        else ""
    )
    plain = (
        " Where the optimum is 0 in half of the cases or more: value − optimum, in units of the "
        "term."
        if any(not panel.is_relative for panel in shown)
        else ""
    )
    common = " ".join(
        f"{heading(panel)}: {counted(len(panel.common()[1]), 'common case')}." for panel in shown
    )
    return (
        "Mean distance from the optimum of each term on the cases that all compared methods "
        f"place, with a {LEVEL:.0%} bootstrap interval ({RESAMPLES:,} resamples of instances). "
        "A term counts where every earlier term is at its optimum; a method that reaches it in "
        "too few cases is not compared, and its count is given instead."
        f"{ratio}{plain} {' '.join(map(scope, shown))} {common}"
    )


def _sentence(panel: Panel, some: Sequence[Bar], labels: Mapping[str, str]) -> str:
    drawn = [bar for bar in some if bar.mean is not None]
    if not drawn:
        return f"{heading(panel)}: no method is compared."
    first, last = drawn[0], drawn[-1]
    text = f"{heading(panel)}: {labels.get(first.method, first.method)} is closest to the optimum, "
    text += f"on average {distance(first.mean, panel)} above it"
    if len(drawn) > 1:
        name = labels.get(last.method, last.method)
        text += f", and {name} furthest with {distance(last.mean, panel)}"
    return f"{text}."
