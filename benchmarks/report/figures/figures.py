"""All charts of a grading, in the order in which a report shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.figure import Figure
from slotwise.benchmarks.report.figures.panels import panels
from slotwise.benchmarks.report.figures.ranked_gaps import ranked_gaps
from slotwise.models.problem.problem import Problem

ProblemOf = Callable[[str], Problem | None]
"""Hash of an instance -> its problem; ``None`` where it is not there. `Store.problem` is one."""


def charts(
    rows: Sequence[Row],
    summary: Aggregate,
    problem_of: ProblemOf | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[Chart, ...]:
    """Return the charts that the rows have something for; see `figures`."""
    names = labels or {}
    terms = panels(rows, summary)
    made = (ranked_gaps(terms, names),)
    return tuple(chart for chart in made if chart is not None)


def figures(
    rows: Sequence[Row],
    summary: Aggregate,
    problem_of: ProblemOf | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[Figure, ...]:
    """Return the charts of a grading for its page.

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
    return tuple(chart.figure() for chart in charts(rows, summary, problem_of, labels))
