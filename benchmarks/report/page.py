"""The report: one HTML page that needs nothing else, from the rows of a grading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from slotwise.benchmarks.analysis.aggregate import Aggregate, aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of, latest
from slotwise.benchmarks.analysis.edge_cuts import BASELINES, edge_cuts
from slotwise.benchmarks.analysis.measures import TIME_SHIFT_S
from slotwise.benchmarks.grading.old_rows import upgraded
from slotwise.benchmarks.grading.row_file import stored
from slotwise.benchmarks.grading.rows import Kind, Row, RunStatus
from slotwise.benchmarks.grading.run import read_placement_text
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report import text as report_data
from slotwise.benchmarks.report.charts import gap_figure, profile_figure, script_json
from slotwise.benchmarks.report.facts import descriptions, facts, families
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.text import CaseLine
from slotwise.benchmarks.report.viewer.placement_svg import draw, legend
from slotwise.benchmarks.report.viewer.placement_view import legend_names, racks_of
from slotwise.models.errors import InputError, at, in_file
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.problem.problem import Problem

PAGE = "report.html"

MOST_DRAWINGS = 240
"""Drawings on a page; the page says which instances have none."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One placement: what it is, its value, the SVG."""

    title: str
    caption: str
    failed: bool
    svg: Markup


@dataclass(frozen=True, slots=True)
class Drawn:
    """The drawings of one case with their legend."""

    line: CaseLine
    legend: Markup
    drawings: tuple[Drawing, ...]


def write_report(directory: str | Path) -> Path:
    """Write the page of the grading in `directory` and return its path.

    Raises
    ------
    InputError
        When there are no rows in `directory`, or the page cannot be written.
    """
    store = Store(Path(directory))
    rows = upgraded(store.rows())
    if not rows:
        raise InputError(
            "has no rows; create them with: slotwise grade --out DIR", value=str(directory)
        )
    page = store.folder / PAGE
    write_atomically(page, render(rows, store))
    return page


def render(rows: Sequence[Row], store: Store) -> str:
    """Return the page of `rows`; instances to draw are in `store`."""
    from plotly.offline import get_plotlyjs

    summary = aggregate(rows)
    rows = latest(rows)
    lines = report_data.case_lines(rows, summary)
    drawn = _drawn(lines, rows, store)
    page: str = template("report.html.j2").render(
        summary=summary,
        exact=[s for s in summary.methods if s.kind == Kind.EXACT],
        heuristics=[s for s in summary.methods if s.kind != Kind.EXACT],
        lines=lines,
        edge_cuts=edge_cuts(rows, summary.references),
        baselines=BASELINES,
        drawn=drawn,
        drawn_anchors={case.line.anchor for case in drawn},
        failures=report_data.failures(rows),
        facts=facts(rows),
        families=families(rows),
        descriptions=descriptions(summary),
        counts=_counts(rows, summary),
        shift=TIME_SHIFT_S,
        profile=Markup(script_json(profile_figure(rows, summary))),
        gaps=Markup(script_json(gap_figure(rows, summary))),
        plotly=Markup(get_plotlyjs()),
    )
    return page


def _counts(rows: Sequence[Row], summary: Aggregate) -> Mapping[str, int]:
    cases = {case_of(row) for row in rows}
    proven = {key for key, reference in summary.references.items() if reference.proven}
    return {
        "runs": len(rows),
        "instances": len({row["instance_hash"] for row in rows}),
        "cases": len(cases),
        "proven": len({case for case in cases if case[0] in proven}),
        "infeasible": len({case_of(row) for row in rows if row["status"] == RunStatus.INFEASIBLE}),
        "common": len(summary.common),
    }


def _drawn(lines: Sequence[CaseLine], rows: Sequence[Row], store: Store) -> list[Drawn]:
    """Draw the placements of as many cases as the page holds."""
    by_case: dict[Case, list[Row]] = {}
    for row in rows:
        if row["placement"]:
            by_case.setdefault(case_of(row), []).append(row)
    found: list[Drawn] = []
    left = MOST_DRAWINGS
    for line in lines:
        some = by_case.get(line.case, [])
        if not some or len(some) > left:
            continue
        problem = store.problem(line.case[0])
        if problem is not None:
            left -= len(some)
            found.append(_draw_case(line, some, problem))
    return found


def _draw_case(line: CaseLine, rows: Sequence[Row], problem: Problem) -> Drawn:
    order = {cell.method: i for i, cell in enumerate(line.cells)}
    rows = sorted(rows, key=lambda row: (row["kind"] != Kind.EXACT, order.get(row["method"], -1)))
    return Drawn(
        line=line,
        legend=Markup(legend(legend_names(problem))),
        drawings=tuple(_drawing(row, line, problem) for row in rows),
    )


def _drawing(row: Row, line: CaseLine, problem: Problem) -> Drawing:
    exact = row["kind"] == Kind.EXACT
    title = f"{row['method']}: {report_data.exact_title(row)}" if exact else row["method"]
    failed = row["status"] == RunStatus.INVALID
    gap = next((cell.gap for cell in line.cells if cell.method == row["method"]), "")
    parts = [report_data.objective_text(row), "" if exact else gap]
    if failed:
        parts = ["; ".join((row["violations"] or ())[:3])]
    assert row["placement"] is not None, "only rows with a placement can be drawn"
    with _at_placement(row):
        racks = racks_of(problem, read_placement_text(row["placement"]))
    return Drawing(
        title=title,
        caption=" · ".join(part for part in parts if part),
        failed=failed,
        svg=Markup(draw(racks, f"Placement of {line.name} by {title}")),
    )


@contextmanager
def _at_placement(row: Row) -> Iterator[None]:
    """Name the cell of a placement that is none of the row's instance."""
    read = stored(row)
    if read is None:
        yield
        return
    with in_file(read.file), at(read.place("placement")):
        yield
