"""How many runs of each method changed in which way: stacked bars."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.comparison.change import Change, MethodChanges
from slotwise.benchmarks.report.comparison.compare import Compared
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart, styled
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    from matplotlib.patches import Patch

    figure, (ax,) = new_chart([1.0 + 0.3 * len(shown)])
    for place, one in enumerate(shown):
        _bar(ax, place, one)
    names = Cast({}, {one.method: place for place, one in enumerate(shown)})
    ax.set_yticks(range(len(shown)), [names.short(one.method) for one in shown])
    ax.tick_params(axis="y", length=0, labelcolor=colour("text"))
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.5, 1], ["0", "50 %", "100 % of runs"])
    ax.get_xticklabels()[-1].set_horizontalalignment("right")
    patches = [Patch(color=colour(shade), label=str(change)) for change, shade in SHADES.items()]
    figure.legend(
        handles=patches, loc="outside upper left", ncols=3, frameon=False, handlelength=1.0
    )
    return figure


def _bar(ax: Axes, place: int, one: MethodChanges) -> None:
    shares = [one.count(change) / len(one.pairs) for change in SHADES]
    starts = [0.0, *accumulate(shares)]
    for start, share, (change, shade) in zip(starts, shares, SHADES.items(), strict=False):
        ax.barh(
            place, share, left=start, height=0.68, color=colour(shade),
            edgecolor=colour("surface"), linewidth=0.8,
        )  # fmt: skip
        if share >= LEAST_WRITTEN:
            ink = INKS.get(shade, "text")
            ax.annotate(
                f"{one.count(change):,}", (start + share / 2, place), ha="center", va="center",
                color=colour(ink),
            )  # fmt: skip


def _sentence(one: MethodChanges) -> str:
    said = [f"{one.count(change):,} {change}" for change in SHADES if one.count(change)]
    return f"{one.method}: {', '.join(said)}, of {len(one.pairs):,} runs."
