"""Overload: in how many cases each method has more than needed, and how much on average."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean
from typing import TYPE_CHECKING

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.grading.rows import SUCCEEDED, Kind, Row, term_values
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import legend_above, name_bars
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.figures.numbers.shared_cases import shared_cases
from slotwise.benchmarks.report.figures.numbers.words import ACROSS, UNITS, amount, folded
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TERM = "overload"
PARTS = ("least possible", "more than needed", "no valid placement")
SHADES = ("series-6", "series-2", "rest")
COLUMNS = ("method", *PARTS, "cases", "common cases", "mean overload", "mean of the optimum")


@dataclass(frozen=True, slots=True)
class Overload:
    """Overload of a method.

    Parameters
    ----------
    method
        As in the rows.
    least, more, none
        Cases in which it is the least possible, more than that, or there is no valid placement.
    mean
        On the cases common to all compared methods; ``None`` = it places too few.
    """

    method: str
    least: int
    more: int
    none: int
    mean: float | None

    @property
    def parts(self) -> tuple[int, int, int]:
        """The counts, in the order of `PARTS`."""
        return self.least, self.more, self.none


@dataclass(frozen=True, slots=True)
class Overloads:
    """All methods, on the same cases: those whose least overload is proven.

    `optimum` is the mean of the least overload over the `common` cases.
    """

    cases: int
    common: int
    optimum: float
    methods: tuple[Overload, ...]


def overloads(rows: Sequence[Row], summary: Aggregate) -> Overloads:
    """Return the overload of each method, the one with most cases at the least overload first."""
    least = _least(rows, summary)
    values: dict[str, dict[Case, float]] = defaultdict(dict)
    for row in rows:
        if row["kind"] != Kind.EXACT and case_of(row) in least:
            found = values[row["method"]]
            if row["status"] in SUCCEEDED:
                found[case_of(row)] = float(term_values(row)[TERM])
    compared, shared = shared_cases({method: found.keys() for method, found in values.items()})
    made = []
    for method, found in values.items():
        attained = sum(value <= least[case] for case, value in found.items())
        average = fmean(found[case] for case in shared) if method in compared else None
        counts = attained, len(found) - attained, len(least) - len(found)
        made.append(Overload(method, *counts, average))
    made.sort(key=lambda one: (-one.least, one.none, one.method))
    optimum = fmean(least[case] for case in shared) if shared else 0.0
    return Overloads(len(least), len(shared), optimum, tuple(made))


def _least(rows: Sequence[Row], summary: Aggregate) -> Mapping[Case, float]:
    """Return the optimum of the term in the graded cases where it comes first and is proven."""
    found = {}
    for case in {case_of(row) for row in rows if row["kind"] != Kind.EXACT}:
        reference = summary.references.get(case[0])
        if reference is not None and reference.terms[:1] == (TERM,) and reference.optimal > 0:
            bound = reference.bounds[0]
            assert bound is not None, "a proven optimum is a bound"
            found[case] = float(bound)
    return found


def overload_chart(rows: Sequence[Row], summary: Aggregate, cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where the objective does not count overload or there is none."""
    found = overloads(rows, summary)
    if not any(one.more for one in found.methods) and not found.optimum:
        return None
    return Chart(
        "overload",
        "Overload",
        "How many placements overload the nodes no more than they must, of "
        f"{counted(found.cases, 'case')} whose least overload is proven, the same for all methods. "
        "Overload: sum over nodes and soft resources of weight times what exceeds the capacity. "
        f"Means: on the {counted(found.common, 'case')} that all compared methods place, where the "
        f"least is {amount(found.optimum)} on average.",
        " ".join(
            f"{cast.name(one.method)}: the least overload in {one.least:,} of {found.cases:,}, "
            f"more in {one.more:,}, no valid placement in {one.none:,}."
            for one in found.methods[:3]
        ),
        _drawn(found, cast),
        COLUMNS,
        tuple(
            (
                cast.name(one.method),
                *(f"{count:,}" for count in one.parts),
                *(f"{found.cases:,}", f"{found.common:,}"),
                *(amount(one.mean), amount(found.optimum)),
            )
            for one in found.methods
        ),
    )


def _drawn(found: Overloads, cast: Cast) -> Figure:
    height = 0.3 * len(found.methods)
    means = [one.mean or 0.0 for one in found.methods]
    figure, axes = new_chart([0.95 + height, *([0.9 + height] if any(means) else [])])
    _counts(axes[0], found)
    if any(means):
        _means(axes[1], found, means)
    for ax in axes:
        name_bars(ax, [cast.short(one.method) for one in found.methods])
    shades = dict(zip(PARTS, map(colour, SHADES), strict=True))
    legend_above(figure, shades, ncols=3, columnspacing=1.2)
    return figure


def _counts(ax: Axes, found: Overloads) -> None:
    for place, one in enumerate(found.methods):
        starts = [0, *accumulate(one.parts)]
        for start, count, shade in zip(starts, one.parts, SHADES, strict=False):
            ax.barh(place, count, left=start, height=0.68, color=colour(shade))
    ax.set_xlim(0, found.cases)
    ax.locator_params(axis="x", integer=True, nbins=5)
    ax.set_xlabel("cases")


def _means(ax: Axes, found: Overloads, means: Sequence[float]) -> None:
    ax.barh(range(len(means)), means, height=0.62, color=colour("series-2"))
    for place, one in enumerate(found.methods):
        text = "not compared" if one.mean is None else amount(one.mean)
        ax.annotate(
            text, (one.mean or 0.0, place), xytext=(4, 0), textcoords="offset points", va="center"
        )
    ax.axvline(found.optimum, color=colour("text"), linewidth=1.0, linestyle=(0, (3, 2)))
    ax.set_xlim(0.0, max(*means, found.optimum) * 1.2)
    label = f"mean overload, {UNITS[TERM]} (dashed: the least possible)"
    ax.set_xlabel(folded(label, ACROSS))
    ax.grid(axis="x")
