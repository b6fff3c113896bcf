"""All charts of a grading, in the order in which a report shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import case_of
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.report.figures.against import Property, against
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.canvas import styled
from slotwise.benchmarks.report.figures.drawing.cast import cast_of
from slotwise.benchmarks.report.figures.gap_curves import gap_curves
from slotwise.benchmarks.report.figures.numbers.levels import ProblemOf
from slotwise.benchmarks.report.figures.numbers.panels import panels
from slotwise.benchmarks.report.figures.numbers.shared_cases import on_one_grid
from slotwise.benchmarks.report.figures.overloads import overload_chart
from slotwise.benchmarks.report.figures.profiles import profile_chart
from slotwise.benchmarks.report.figures.ranked_gaps import ranked_gaps
from slotwise.benchmarks.report.figures.times import times_by_size
from slotwise.benchmarks.report.figures.traffic import traffic_chart


def charts(
    rows: Sequence[Row],
    summary: Aggregate,
    problem_of: ProblemOf | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[Chart, ...]:
    """Return the charts that the rows have something for.

    Parameters
    ----------
    rows
        One for each case and method, as `analysis.cases.latest` returns them.
    summary
        What `analysis.aggregate.aggregate` makes of them.
    problem_of
        Where problems come from, for the chart of the traffic by level; ``None`` = without it.
    labels
        Method -> what it is called; others keep their names.
    """
    cast = cast_of(summary, labels or {})
    grid, left_out = on_one_grid(rows)
    terms = panels(grid, summary)
    with styled():
        made = (
            ranked_gaps(terms, cast),
            traffic_chart(grid, problem_of, cast),
            overload_chart(grid, summary, cast),
            gap_curves(terms, cast),
            profile_chart(grid, cast),
            against(terms, _size(grid), cast),
            against(terms, _tightness(grid), cast),
            times_by_size(grid, cast),
        )
    names = ", ".join(map(cast.name, left_out))
    who = "it" if len(left_out) == 1 else "they"
    said = f" Not drawn, because {who} ran on too few of the cases: {names}." if names else ""
    return tuple(
        replace(chart, caption=chart.caption + said) for chart in made if chart is not None
    )


def _size(rows: Sequence[Row]) -> Property:
    sizes = {case_of(row): float(row["tasks"]) for row in rows}
    return Property("size", "size", "tasks", "number of tasks", sizes)


def _tightness(rows: Sequence[Row]) -> Property:
    """Return it where it is finite; infinite: something is needed that no node has."""
    found = {
        case_of(row): row["tightness"]
        for row in rows
        if row["nodes"] and math.isfinite(row["tightness"])
    }
    return Property(
        "tightness",
        "tightness",
        "tightness",
        "largest ratio of demand to capacity over the hard resources",
        found,
    )
