"""The distribution of distances from the optimum: which share of the cases is at most that far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.axes import decades, share_axis
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines, steps
from slotwise.benchmarks.report.figures.numbers.panels import Panel
from slotwise.benchmarks.report.figures.numbers.words import (
    ACROSS,
    axis,
    definitions,
    distance,
    folded,
    heading,
    shares_text,
)
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 2.9
ROOM = 1.15
"""Where the lines end, times the largest distance."""

QUANTILES = (0.5, 0.75, 0.9)
COLUMNS = ("term", "method", "cases", "of", "at the optimum", "median", "75 %", "90 %")
NEVER = "not reached"


def gap_curves(panels: Sequence[Panel], cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where every method is at every optimum that counts."""
    shown = [panel for panel in panels if panel.cases and not panel.is_settled]
    if not shown:
        return None
    figure, axes = new_chart([HEIGHT_IN] * len(shown))
    for ax, panel in zip(axes, shown, strict=True):
        _draw(ax, panel, cast)
    return Chart(
        "gap-distribution",
        "Cases within a distance of the optimum",
        "Share of all cases in which the distance from the optimum of the term is at most x "
        "(empirical distribution), one panel for each term, all methods on the same cases. A run "
        "without a valid placement, or worse in an earlier term, never counts, so that a line may "
        f"end below 100 %.{cast.grey_lines} {definitions(shown)}",
        " ".join(_sentence(panel, cast) for panel in shown),
        figure,
        COLUMNS,
        tuple(row for panel in shown for row in _rows(panel, cast)),
    )


def _draw(ax: Axes, panel: Panel, cast: Cast) -> None:
    most = ROOM * max(value for found in panel.excess.values() for value in found.values())
    lines = [
        Line(method, steps(found.values(), len(panel.cases), 0.0, most))
        for method, found in panel.excess.items()
    ]
    ax.set_xscale("symlog", linthresh=1.0)
    ax.set_xlim(0.0, most)
    decades(ax, most)
    share_axis(ax, "share of cases")
    ax.set(title=heading(panel), xlabel=folded(f"{axis(panel)} (log scale from 1)", ACROSS))
    draw_lines(ax, lines, cast, is_stepped=True)
    name_lines(ax, lines, cast, HEIGHT_IN)


def at_optimum(panel: Panel, method: str) -> float:
    """Return the share of the panel's cases in which a method attains the optimum."""
    return sum(value <= 0 for value in panel.excess[method].values()) / len(panel.cases)


def quantile(panel: Panel, method: str, share: float) -> float | None:
    """Return the least distance that holds in `share` of all cases; ``None`` = it never does."""
    ordered = sorted(panel.excess[method].values())
    index = max(0, -int(-share * len(panel.cases) // 1) - 1)
    return ordered[index] if index < len(ordered) else None


def _rows(panel: Panel, cast: Cast) -> list[tuple[str, ...]]:
    made = []
    for method, found in panel.excess.items():
        reached = [quantile(panel, method, share) for share in QUANTILES]
        made.append(
            (
                *(heading(panel), cast.name(method), f"{len(found):,}", f"{len(panel.cases):,}"),
                f"{at_optimum(panel, method):.1%}".replace("%", " %"),
                *(NEVER if one is None else distance(one, panel) for one in reached),
            )
        )
    return made


def _sentence(panel: Panel, cast: Cast) -> str:
    ranked = sorted(panel.excess, key=lambda method: -at_optimum(panel, method))
    cases = counted(len(panel.cases), "case")
    if at_optimum(panel, ranked[0]) == 0:
        return f"{heading(panel)}: no method attains the optimum in any of {cases}."
    said = shares_text([(cast.name(method), at_optimum(panel, method)) for method in ranked])
    return f"{heading(panel)}, of {cases}, the optimum is attained by {said}."
