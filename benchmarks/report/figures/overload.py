"""Overload: on how many instances each method has more than needed, and how much on average."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from slotwise.benchmarks.judged.judging import Floats
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import name_bars
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.figures.panels import ACROSS, Panel, chart_of, folded
from slotwise.benchmarks.report.figures.source import Source, TermGaps, amount
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TERM = "overload"
SHADES = {
    "least possible": "series-6",
    "perhaps the least": "grid",
    "more than needed": "series-2",
    "no valid placement": "rest",
}
"""How overload can be -> role of its colour."""


@dataclass(frozen=True, slots=True)
class Overload:
    """Overload of a method.

    Parameters
    ----------
    method
        As in the rows.
    counts
        Number of instances by `SHADES`.
    mean
        On the instances that all compared methods place; NaN where there is none.
    """

    method: str
    counts: tuple[int, ...]
    mean: float


@dataclass(frozen=True, slots=True)
class Overloads:
    """All compared methods of a group on its instances, best first.

    `common` is how many of the instances all place, `least` the mean of the best known there.
    """

    methods: tuple[Overload, ...]
    instances: int
    common: int
    least: float


def overloads(gaps: TermGaps) -> Overloads:
    """Return the overload of each compared method; `gaps` are the gaps of the term."""
    comparison, rows = gaps.comparison, gaps.gaps.rows
    judged, instances = comparison.judged, comparison.instances[rows]
    position = np.argmax(judged.term_at[instances] == judged.terms.index(TERM), axis=1)
    placed = comparison.placed[rows]
    common = placed[:, comparison.compared].all(axis=1)
    unit = 10**judged.decimals

    def mean(values: Floats) -> float:
        return float(values[common].mean()) if common.any() else float("nan")

    by_method = []
    for method in gaps.compared:
        member = comparison.names.index(method)
        low, high, here = gaps.low(method), gaps.high(method), placed[:, member]
        least, perhaps = here & (high <= 0), here & (low <= 0) & (high > 0)
        parts = (least, perhaps, here & ~least & ~perhaps, ~here)
        amounts = comparison.values[rows, member, position].astype(float) / (
            comparison.scale * unit
        )
        by_method.append(Overload(method, tuple(int(part.sum()) for part in parts), mean(amounts)))
    by_method.sort(key=lambda one: (-one.counts[0], -one.counts[1], one.counts[3], one.method))
    best = mean(judged.best[instances, position].astype(float) / unit)
    return Overloads(tuple(by_method), len(rows), int(common.sum()), best)


def overload_chart(source: Source) -> Chart | None:
    """Return the chart; ``None`` where the objective does not count overload or there is none."""
    shown = [(term, overloads(term)) for term in source.terms if term.gaps.term == TERM]
    shown = [(term, of) for term, of in shown if of.least > 0 or any(map(_may_exceed, of.methods))]
    return chart_of(
        "overload",
        "Overload",
        "On how many instances a method overloads the nodes no more than it must, and its mean "
        "overload on those that all compared methods place. Overload: sum over nodes and soft "
        "resources of weight times what exceeds the capacity. Perhaps the least: the best known, "
        "and not proven. A placement that is worse in an earlier term counts as more than needed. "
        f"{source.basis(term.comparison for term, _ in shown)}",
        (
            "group",
            "method",
            *SHADES,
            "instances",
            "placed by all",
            "mean",
            "mean of the best known",
        ),
        [panel for term, of in shown for panel in _panels(source, term, of)],
        {
            name: colour(shade)
            for part, (name, shade) in enumerate(SHADES.items())
            if any(one.counts[part] for _, of in shown for one in of.methods)
        },
    )


def _may_exceed(overload: Overload) -> bool:
    return overload.counts[1] + overload.counts[2] > 0


def _panels(source: Source, term: TermGaps, overloads: Overloads) -> list[Panel]:
    cast, heading = source.cast, source.heading(term.comparison)
    height = 0.3 * len(overloads.methods)
    of_instances = counted(overloads.instances, "instance")
    texts = [
        f"{cast.name(method.method)}: "
        + ", ".join(f"{name} on {n:,}" for name, n in zip(SHADES, method.counts, strict=True) if n)
        for method in overloads.methods[:3]
    ]
    rows = [
        (
            cast.name(method.method),
            *(f"{count:,}" for count in (*method.counts, overloads.instances, overloads.common)),
            *(amount(method.mean), amount(overloads.least)),
        )
        for method in overloads.methods
    ]
    start = f"{heading}, of" if heading else "Of"
    counts = Panel(
        heading,
        0.95 + height,
        partial(_draw_counts, overloads=overloads, cast=cast),
        f"{start} {of_instances}, {'; '.join(texts)}.",
        rows,
    )
    if not any(one.mean > 0 for one in overloads.methods):
        return [counts]
    return [
        counts,
        Panel("", 0.9 + height, partial(_draw_means, overloads=overloads, cast=cast), "", ()),
    ]


def _draw_counts(ax: Axes, overloads: Overloads, cast: Cast) -> None:
    for place, method in enumerate(overloads.methods):
        starts = [0, *accumulate(method.counts)]
        for start, count, shade in zip(starts, method.counts, SHADES.values(), strict=False):
            ax.barh(place, count, left=start, height=0.68, color=colour(shade))
    name_bars(ax, [cast.short(one.method) for one in overloads.methods])
    ax.set_xlim(0, overloads.instances)
    ax.locator_params(axis="x", integer=True, nbins=5)
    ax.set_xlabel("instances")


def _draw_means(ax: Axes, overloads: Overloads, cast: Cast) -> None:
    means = [one.mean for one in overloads.methods]
    ax.barh(range(len(means)), means, height=0.62, color=colour("series-1"))
    for place, value in enumerate(means):
        ax.annotate(
            amount(value), (value, place), xytext=(4, 0), textcoords="offset points", va="center"
        )
    ax.axvline(overloads.least, color=colour("text"), linewidth=1.0, linestyle=(0, (3, 2)))
    name_bars(ax, [cast.short(one.method) for one in overloads.methods])
    ax.set_xlim(0.0, max(*means, overloads.least) * 1.2)
    ax.set_xlabel(folded("mean overload, weighted units (dashed: the best known)", ACROSS))
    ax.grid(axis="x")
