"""All charts of a grading, in the order in which a report shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.judged.statistics import MethodComparison
from slotwise.benchmarks.judged.summary import Summary
from slotwise.benchmarks.report.figures.by_property import SIZE, TIGHTNESS, gaps_by, times_by_size
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.curves import gap_distribution, performance_profiles
from slotwise.benchmarks.report.figures.drawing.canvas import styled
from slotwise.benchmarks.report.figures.drawing.cast import cast_of
from slotwise.benchmarks.report.figures.overload import overload_chart
from slotwise.benchmarks.report.figures.ranked import ranked_gaps
from slotwise.benchmarks.report.figures.source import Source
from slotwise.benchmarks.report.figures.traffic import ProblemOf, traffic_chart
from slotwise.benchmarks.report.figures.worth import worth_chart


def charts(
    rows: Sequence[Row],
    comparisons: Sequence[MethodComparison],
    summary: Summary,
    problem_of: ProblemOf,
    labels: Mapping[str, str],
) -> tuple[Chart, ...]:
    """Return the charts that the rows have something for.

    Parameters
    ----------
    rows
        The newest row of each run, in the order of `Judged.runs`.
    comparisons
        The methods of each group on all its instances.
    summary
        What they come to, without classes of instances.
    problem_of
        Where problems come from, for the chart of the traffic by level.
    labels
        Method -> what it is called; others keep their names.
    """
    source = Source(tuple(comparisons), summary, cast_of(summary, labels))
    with styled():
        makers = (
            ranked_gaps(source),
            traffic_chart(source, rows, problem_of),
            overload_chart(source),
            worth_chart(source),
            gap_distribution(source),
            performance_profiles(source),
            gaps_by(source, SIZE),
            gaps_by(source, TIGHTNESS),
            times_by_size(source),
        )
    return tuple(chart for chart in makers if chart is not None)
