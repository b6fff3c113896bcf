"""The report: one HTML page that needs nothing else, from the rows of a grading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from slotwise.benchmarks.analysis.aggregate import Aggregate, aggregate
from slotwise.benchmarks.analysis.cases import case_of, infeasible_instances, latest
from slotwise.benchmarks.analysis.edge_cuts import BASELINES, edge_cuts
from slotwise.benchmarks.analysis.measures import TIME_SHIFT_S
from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.answers import answers
from slotwise.benchmarks.report.case_table import STATES, CaseLine, case_lines
from slotwise.benchmarks.report.facts import descriptions, facts, families
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.figures.figure import Figure
from slotwise.benchmarks.report.figures.figures import figures
from slotwise.benchmarks.report.graded_rows import graded_rows
from slotwise.benchmarks.report.labels import check_labels, label_of
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.placements import placed_cases
from slotwise.benchmarks.report.text import plain_columns, term_names
from slotwise.models.formats.atomic_file import write_atomically

PAGE = "report.html"

ANSWER, WHY = ("gaps-ranked",), ("traffic", "overload")
"""Names of the charts that stand with the answer and with its reasons; the others follow."""

MOST_PROBLEMS = 64
"""Compiled instances that are kept while the page is made."""


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
    rows = graded_rows(store)
    check_labels(labels or {}, {row["method"] for row in rows})
    page = store.folder / PAGE
    write_atomically(page, render(rows, store, labels))
    return page


def render(rows: Sequence[Row], store: Store, labels: Mapping[str, str] | None = None) -> str:
    """Return the page of `rows`; instances to draw are in `store`."""
    summary = aggregate(rows)
    rows = latest(rows)
    label = partial(label_of, labels=labels or {})
    problem_of = lru_cache(maxsize=MOST_PROBLEMS)(store.problem)
    lines = case_lines(rows, summary)
    placed = placed_cases(lines, rows, problem_of, label)
    drawn = figures(rows, summary, problem_of, labels)
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
        descriptions=descriptions(summary, labels or {}),
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
