"""Charts of rows made by hand, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.judged.groups import groups_of
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.statistics import MethodComparison
from slotwise.benchmarks.judged.summary import summarise
from slotwise.benchmarks.report.figures.chart import Chart, Figure
from slotwise.benchmarks.report.figures.drawing.cast import cast_of
from slotwise.benchmarks.report.figures.figures import charts
from slotwise.benchmarks.report.figures.source import Source
from slotwise.benchmarks.report.figures.traffic import ProblemOf


def source_of(rows: Sequence[Row], labels: Mapping[str, str] | None = None) -> Source:
    """Return the rows as charts read them."""
    judged = judged_rows(rows)
    summary = summarise(judged, "")
    comparisons = tuple(
        MethodComparison(judged, group, group.instances) for group in groups_of(judged)
    )
    return Source(comparisons, summary, cast_of(summary, labels or {}))


def newest(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each run, in the order in which runs are judged."""
    return [rows[number] for number in judged_rows(rows).runs["row"]]


def charts_of(
    rows: Sequence[Row],
    labels: Mapping[str, str] | None = None,
    problem_of: ProblemOf = lambda _: None,
) -> dict[str, Chart]:
    """Return the charts of the rows by name."""
    source = source_of(rows)
    made = charts(newest(rows), source.comparisons, source.summary, problem_of, labels or {})
    return {one.name: one for one in made}


def drawn(
    rows: Sequence[Row],
    labels: Mapping[str, str] | None = None,
    problem_of: ProblemOf = lambda _: None,
) -> dict[str, Figure]:
    """Return the charts of the rows, ready for a page, by name."""
    return {name: one.figure() for name, one in charts_of(rows, labels, problem_of).items()}


def table(figure: Figure | Chart) -> list[dict[str, str]]:
    """Return the table behind a chart, a dictionary for each row."""
    return [dict(zip(figure.columns, cells, strict=True)) for cells in figure.rows]
