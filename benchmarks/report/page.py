"""The report: one HTML page that needs nothing else, from the rows of a grading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import case_of, infeasible_instances
from slotwise.benchmarks.analysis.edge_cuts import BASELINES, edge_cuts
from slotwise.benchmarks.analysis.measures import TIME_SHIFT_S
from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.answers import answers
from slotwise.benchmarks.report.case_table import STATES, CaseLine, case_lines
from slotwise.benchmarks.report.facts import descriptions, facts, families, terms_counted
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.figures.figure import Figure
from slotwise.benchmarks.report.graded_rows import Graded, read_graded
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.placements import placed_cases
from slotwise.benchmarks.report.text import plain_columns, term_names
from slotwise.models.formats.atomic_file import write_atomically

PAGE = "report.html"

ANSWER, WHY = ("gaps-ranked",), ("traffic", "overload")
"""Names of the charts that stand with the answer and with its reasons; the others follow."""


def write_report(directory: str | Path, labels: Mapping[str, str] | None = None) -> Path:
    """Write the page of the grading in `directory` and return its path.

    Parameters
    ----------
    directory
        What ``grade`` wrote into.
    labels
        Method -> what the page calls it; others keep their names.

    Raises
    ------
    InputError
        When there are no rows in `directory`, the page cannot be written, or a label is of no
        method there.
    """
    store = Store(Path(directory))
    return write_page(read_graded(store, labels), store.folder)


def write_page(graded: Graded, folder: Path) -> Path:
    """Write the page of a grading into `folder` and return its path.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    page = folder / PAGE
    write_atomically(page, render(graded))
    return page


def render(graded: Graded) -> str:
    """Return the page of a grading."""
    rows, summary = graded.rows, graded.summary
    label = partial(label_of, labels=graded.labels)
    lines = case_lines(rows, summary)
    placed = placed_cases(lines, rows, graded.problem_of, label)
    drawn = [chart.figure() for chart in graded.charts]
    page: str = template("report.html.j2").render(
        summary=summary,
        label=label,
        answers=answers(summary),
        answer_figures=_named(drawn, ANSWER),
        why_figures=_named(drawn, WHY),
        more_figures=[one for one in drawn if one.name not in ANSWER + WHY],
        heuristics=[s for s in summary.methods if s.kind != Kind.EXACT],
        told=[t for t in summary.terms if any(t in one.terms for one in summary.methods)],
        lines=lines,
        csv_terms=term_names(rows),
        csv_columns=plain_columns(term_names(rows)),
        states={state: text for state, text in STATES.items() if _any_has(lines, state)},
        edge_cuts=edge_cuts(rows, summary.references),
        baselines=BASELINES,
        placed=placed,
        anchors={case.line.anchor for case in placed},
        failures=failures(rows),
        facts=facts(rows),
        families=families(rows),
        terms=terms_counted(term_names(rows)),
        descriptions=descriptions(summary, graded.labels),
        counts=_counts(rows, summary),
        shift=TIME_SHIFT_S,
    )
    return page


def _named(drawn: Sequence[Figure], names: Sequence[str]) -> list[Figure]:
    return [one for one in drawn if one.name in names]


def _any_has(lines: Sequence[CaseLine], state: str) -> bool:
    return any(state in line.states for line in lines)


def _counts(rows: Sequence[Row], summary: Aggregate) -> Mapping[str, int]:
    cases = {case_of(row) for row in rows}
    impossible = infeasible_instances(rows)
    proven = {key for key, reference in summary.references.items() if reference.proven}
    return {
        "runs": len(rows),
        "instances": len({row["instance_hash"] for row in rows}),
        "cases": len(cases),
        "proven": sum(case[0] in proven for case in cases),
        "infeasible": sum(case[0] in impossible for case in cases),
        "common": len(summary.common),
        "right": sum(s.rightly_refused for s in summary.methods),
    }
