"""Mean gaps and times against a property of the instances: size, tightness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slotwise.benchmarks.judged.judging import Floats, Indices
from slotwise.benchmarks.judged.method_table import interval_text
from slotwise.benchmarks.judged.statistics import MethodComparison
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.axes import seconds_axis, size_axis
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines
from slotwise.benchmarks.report.figures.panels import Panel, chart_of
from slotwise.benchmarks.report.figures.source import (
    MOST_METHODS,
    Source,
    TermGaps,
    amount,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 2.9

MOST_BINS = 6

LEAST_S = 1e-5
"""Shorter times are drawn as this: a log scale has no 0."""


@dataclass(frozen=True, slots=True)
class Property:
    """A column of `Judged.instances`, which is its name at an axis too.

    It says nothing of instances that have 0 in the column `needs`.
    """

    column: str
    needs: str
    noun: str
    definition: str


SIZE = Property("tasks", "tasks", "size", "number of tasks")
TIGHTNESS = Property(
    "tightness", "nodes", "tightness", "largest ratio of demand to capacity over the hard resources"
)


@dataclass(frozen=True, eq=False, slots=True)
class Bin:
    """Instances of about the same size: least, median and most of it, and which they are."""

    low: float
    middle: float
    high: float
    rows: Indices

    @property
    def text(self) -> str:
        """Its range."""
        low, high = (f"{number:,.4g}" for number in (self.low, self.high))
        return low if low == high else f"{low} to {high}"


def bins(sizes: Floats) -> tuple[Bin, ...]:
    """Return at most `MOST_BINS` bins, rising, about equally full; equal sizes share one.

    Sizes that are not finite are in none.
    """
    rows = np.flatnonzero(np.isfinite(sizes))
    distinct, rank, counts = np.unique(sizes[rows], return_inverse=True, return_counts=True)
    number = np.arange(len(distinct))
    if len(distinct) > MOST_BINS:
        number = (np.cumsum(counts) - counts) * MOST_BINS // len(rows)
    filled = []
    for boundary in np.unique(number):
        some = rows[number[rank] == boundary]
        own = sizes[some]
        filled.append(Bin(float(own.min()), float(np.median(own)), float(own.max()), some))
    return tuple(filled)


def _sizes(comparison: MethodComparison, rows: Indices, prop: Property) -> Floats:
    """Return the property of some rows of a comparison; infinite where it says nothing."""
    instances = comparison.judged.instances.iloc[comparison.instances[rows]]
    sizes, needed = (instances[name].to_numpy(dtype=float) for name in (prop.column, prop.needs))
    return np.where(needed > 0, sizes, np.inf)


Curve = tuple[Floats, Floats]
"""The least and the greatest mean gap in each bin."""


def gaps_by(source: Source, prop: Property) -> Chart | None:
    """Return the chart; ``None`` where all instances are alike or all methods at the optimum."""
    panels, shown = [], []
    for term in source.terms:
        common = np.flatnonzero(term.gaps.common)
        size_bins = bins(_sizes(term.comparison, term.gaps.rows[common], prop))
        curves = {
            method: (
                _means(term.low(method)[common], size_bins),
                _means(term.high(method)[common], size_bins),
            )
            for method in source.cast.ordered(term.compared)
        }
        if len(size_bins) > 1 and any(high.any() for _, high in curves.values()):
            panels.append(_gap_panel(source, term, prop, size_bins, curves))
            shown.append(term)
    basis = source.basis((one.comparison for one in shown), of_means=True)
    return chart_of(
        f"gap-by-{prop.noun}",
        f"Gap by {prop.noun}",
        f"Mean gap in up to {MOST_BINS} bins of about equally many instances, by {prop.noun} "
        f"({prop.definition}). Where optima are not proven, lines have the means of the least gaps "
        "that are possible, and thin dotted ones those of the greatest, where these are finite."
        f"{source.cast.grey_lines} {source.definition} {basis}",
        ("term", "method", prop.column, "in the mean", "mean gap"),
        panels,
    )


def _means(gaps: Floats, size_bins: Sequence[Bin]) -> Floats:
    return np.array([gaps[one.rows].mean() for one in size_bins])


def _gap_panel(
    source: Source,
    term: TermGaps,
    prop: Property,
    size_bins: Sequence[Bin],
    curves: Mapping[str, Curve],
) -> Panel:
    cast = source.cast
    means = [
        f"{interval_text(low[0], high[0])} and {interval_text(low[-1], high[-1])} for "
        f"{cast.name(method)}"
        for method, (low, high) in list(curves.items())[:MOST_METHODS]
    ]
    return Panel(
        term.heading,
        HEIGHT_IN,
        partial(_draw_gaps, size_bins=size_bins, curves=curves, prop=prop, cast=cast),
        f"{term.heading}: at the least {prop.noun} ({size_bins[0].text}) and the largest "
        f"({size_bins[-1].text}), the mean gap is {'; '.join(means)}.",
        [
            (cast.name(method), one.text, f"{len(one.rows):,}", interval_text(a, b))
            for method, (low, high) in curves.items()
            for one, a, b in zip(size_bins, low, high, strict=True)
        ],
    )


def _draw_gaps(
    ax: Axes, size_bins: Sequence[Bin], curves: Mapping[str, Curve], prop: Property, cast: Cast
) -> None:
    middles = [one.middle for one in size_bins]
    lines = []
    for method, (low, high) in curves.items():
        sure, most = (tuple(zip(middles, 100 * some, strict=True)) for some in (low, high))
        lines.append(Line(method, sure, () if np.array_equal(low, high) else most))
    size_axis(ax, middles, prop.column)
    ax.set_ylabel("mean gap, %")
    draw_lines(ax, lines, cast, is_stepped=False)
    ax.set_ylim(bottom=min(0.0, *(y for line in lines for _, y in line.points)))
    ax.grid()
    name_lines(ax, lines, cast, HEIGHT_IN)


def times_by_size(source: Source) -> Chart | None:
    """Return the chart; ``None`` where all instances have the same size."""
    panels, shown = [], []
    for comparison in source.comparisons:
        size_bins = bins(_sizes(comparison, np.arange(len(comparison.instances)), SIZE))
        if len(size_bins) > 1:
            panels.append(_time_panel(source, comparison, size_bins))
            shown.append(comparison)
    return chart_of(
        "time-by-size",
        "Time by size",
        f"Median seconds in up to {MOST_BINS} bins of about equally many instances, by number of "
        "tasks. Seconds are those of the call alone, the mean over the seeds; a run that was "
        f"killed counts its limit.{source.cast.grey_lines} {source.basis(shown)}",
        ("group", "method", "tasks", "instances", "median seconds"),
        panels,
    )


def _time_panel(source: Source, comparison: MethodComparison, size_bins: Sequence[Bin]) -> Panel:
    cast, heading = source.cast, source.heading(comparison)
    curves = {}
    for method in cast.ordered(comparison.names):
        seconds = comparison.seconds[:, comparison.names.index(method)]
        curves[method] = [float(np.median(seconds[one.rows])) for one in size_bins]
    slowest, fastest = (of(curves, key=lambda m: curves[m][-1]) for of in (max, min))
    where = f"{heading}: on" if heading else "On"
    return Panel(
        heading,
        HEIGHT_IN + 0.5,
        partial(_draw_times, middles=[one.middle for one in size_bins], curves=curves, cast=cast),
        f"{where} the largest instances ({size_bins[-1].text} tasks) {cast.name(slowest)} takes "
        f"{amount(curves[slowest][-1])} s in the median and {cast.name(fastest)} "
        f"{amount(curves[fastest][-1])} s.",
        [
            (cast.name(method), one.text, f"{len(one.rows):,}", amount(value))
            for method, found in curves.items()
            for one, value in zip(size_bins, found, strict=True)
        ],
    )


def _draw_times(
    ax: Axes, middles: list[float], curves: Mapping[str, Sequence[float]], cast: Cast
) -> None:
    lines = [
        Line(method, tuple((x, max(y, LEAST_S)) for x, y in zip(middles, found, strict=True)))
        for method, found in curves.items()
    ]
    drawn = [seconds for line in lines for _, seconds in line.points]
    seconds_axis(ax, min(drawn), max(drawn))
    size_axis(ax, middles, "tasks")
    ax.set_ylabel("median seconds (log scale)")
    draw_lines(ax, lines, cast, is_stepped=False)
    ax.grid()
    name_lines(ax, lines, cast, HEIGHT_IN + 0.5)
