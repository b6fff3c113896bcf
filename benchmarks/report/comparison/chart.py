"""How many runs of each method changed in which way: stacked bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.report.comparison.change import Change, MethodChanges
from slotwise.benchmarks.report.comparison.compare import Compared
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import Part, legend_above, share_bars
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart, styled
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour

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


def _parts(one: MethodChanges) -> list[Part]:
    made = []
    for change, shade in SHADES.items():
        count = one.count(change)
        share = count / len(one.pairs)
        text = f"{count:,}" if share >= LEAST_WRITTEN else ""
        made.append(Part(share, colour(shade), text, colour(INKS.get(shade, "text"))))
    return made


def _sentence(one: MethodChanges) -> str:
    said = [f"{one.count(change):,} {change}" for change in SHADES if one.count(change)]
    return f"{one.method}: {', '.join(said)}, of {len(one.pairs):,} runs."
