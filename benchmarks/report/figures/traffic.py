"""Where the traffic of each method runs beside the optimum: stacked bars, near to far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import Part, legend_above, share_bars
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour, level
from slotwise.benchmarks.report.figures.numbers.levels import ProblemOf, Shares, Traffic, traffic
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = ("inside a worker", "between workers", "between nodes", "between racks")
LEAST_WRITTEN = 0.09
"""A smaller share has no number in its bar; the table has it."""

PALE_LEVELS = 2
"""The nearer levels whose colours are pale enough for dark text."""


def traffic_chart(rows: Sequence[Row], problem_of: ProblemOf | None, cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where no case has a placement of all that are compared."""
    found = None if problem_of is None else traffic(rows, problem_of)
    if found is None:
        return None
    exact = "optimum" if found.is_proven else "best known"
    bars = [
        (exact, found.exact),
        *((cast.short(method), shares) for method, shares in found.methods),
    ]
    named = [
        (exact, found.exact),
        *((cast.name(method), shares) for method, shares in found.methods),
    ]
    return Chart(
        "traffic",
        "Where the traffic runs",
        _caption(found, cast),
        _sentence(named),
        _drawn(bars),
        ("method", *LEVELS, "cases"),
        tuple(
            (name, *(f"{100 * share:.1f} %" for share in shares), f"{found.cases:,}")
            for name, shares in named
        ),
    )


def _drawn(bars: Sequence[tuple[str, Shares]]) -> Figure:
    figure, (ax,) = new_chart([0.95 + 0.3 * len(bars)])
    share_bars(ax, [(name, _parts(shares)) for name, shares in bars], "the flow")
    ax.get_yticklabels()[0].set_fontweight("bold")
    shades = {name: level(index) for index, name in enumerate(LEVELS)}
    legend_above(figure, shades, ncols=2, columnspacing=1.4, borderaxespad=0.2)
    return figure


def _parts(shares: Shares) -> list[Part]:
    return [
        Part(
            share,
            level(index),
            f"{100 * share:.0f} %" if share >= LEAST_WRITTEN else "",
            colour("text" if index < PALE_LEVELS else "surface"),
        )
        for index, share in enumerate(shares)
    ]


def _caption(found: Traffic, cast: Cast) -> str:
    beside = "the proven optimum" if found.is_proven else "the best placement of the exact engine"
    chosen = (
        f"{counted(found.cases, 'case')} that all compared methods and the exact engine place"
        if found.cases == found.common
        else f"{found.cases:,} of the {counted(found.common, 'case')} that all compared methods "
        "and the exact engine place, evenly chosen"
    )
    names = ", ".join(map(cast.name, found.left_out))
    left_out = f" Not compared, because they place too few: {names}." if names else ""
    return (
        "Share of the flow between tasks by the lowest place that holds both: inside a worker, "
        "between workers of a node, between nodes of a rack, between racks; the judge recomputed "
        f"it from the placements. Beside it {beside}. Mean of {chosen}; the same in every bar."
        f"{left_out}"
    )


def _sentence(named: Sequence[tuple[str, Shares]]) -> str:
    said = [
        f"{name} {100 * (shares[2] + shares[3]):.0f} %"
        for name, shares in (named[0], *named[1:2], *(named[-1:] if len(named) > 2 else ()))
    ]
    return f"Share of the flow that runs from one node to another: {', '.join(said)}."
