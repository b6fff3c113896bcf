"""The report: one HTML page that needs nothing else, from the rows of a grading.

It has what the rows say of software and machines, of the methods and of the families, and for each
case that has room the viewer with all its placements.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from markupsafe import Markup

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of, infeasible_instances
from slotwise.benchmarks.analysis.edge_cuts import BASELINES, edge_cuts
from slotwise.benchmarks.analysis.measures import TIME_SHIFT_S
from slotwise.benchmarks.analysis.row_placement import placement_of
from slotwise.benchmarks.grading.rows import Kind, Row, RunStatus
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.answers import answers
from slotwise.benchmarks.report.case_table import STATES, CaseLine, case_lines
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.figures.chart import Figure
from slotwise.benchmarks.report.graded_rows import Graded, read_graded
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.text import (
    DASH,
    exact_title,
    number,
    objective_text,
    plain_columns,
    term_names,
)
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import view
from slotwise.heuristics.registry import describe
from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

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


TERMS = {
    "overload": "what the load of nodes exceeds their capacity by, in units of each soft resource "
    "times its weight",
    "network": "flow times distance, over all pairs of tasks that communicate; a pair has the flow "
    "1, or its tuples per second where the instance counts rates",
    "nodes": "nodes in use",
    "workers": "workers in use",
    "moved": "tasks that are not where they run now",
    "rejected": "topologies left out, each as much as its priority",
    "linear": "cost of tasks on nodes, in the unit of the instance",
    "slots": "slots that the dataflow needs",
}
"""What each part of a term counts, and in which unit."""


def terms_counted(names: Iterable[str]) -> dict[str, str]:
    """Return what the parts of these terms count, by part."""
    parts = dict.fromkeys(part for name in names for part in name.split("+"))
    return {part: TERMS[part] for part in parts if part in TERMS}


def facts(rows: Sequence[Row]) -> dict[str, str]:
    """Return what all rows together say about software, machines and limits."""
    columns = {
        "time limit, s": {number(limit) for limit in {row["time_limit_s"] for row in rows}},
        "seeds": {str(row["seed"]) for row in rows},
        "engines": {row["engine"] for row in rows if row["engine"]},
        "versions": {
            ", ".join(f"{name} {v}" for name, v in json.loads(versions).items())
            for versions in {row["versions"] for row in rows}
        },
        "git revision": {row["git_revision"] or "none" for row in rows},
        "CPU": {row["cpu_model"] for row in rows if row["cpu_model"]},
        "seconds": {"only the call"},
    }
    return {name: "; ".join(sorted(found)) or DASH for name, found in columns.items()}


def descriptions(summary: Aggregate, labels: Mapping[str, str]) -> dict[str, str]:
    """Return what each method on the page does, in one sentence, by what it is called.

    `labels`: method -> label. What a label stands for is part of its description.
    """
    found: dict[str, str] = {}
    for one in summary.methods:
        name = one.method
        text = PAIRS[name].description if name in PAIRS else describe(name)
        parts = [name if name in labels else "", text or ""]
        if one.kind != Kind.EXACT and any(parts):
            found[label_of(name, labels)] = ". ".join(filter(None, parts))
    return found


def families(rows: Sequence[Row]) -> dict[str, str]:
    """Return what the families of the rows hold, by name, with their notes."""
    names = {row["family"] or "" for row in rows}
    known = FAMILIES | ALLOCATION_FAMILIES
    found = (known[name] for name in sorted(names & known.keys()))
    return {one.name: f"{one.description}. {one.note}".strip() for one in found}


MOST_CASES, MOST_CHARACTERS = 60, 4_000_000
"""Cases with a viewer and their HTML on one page; the page says how many have none."""


@dataclass(frozen=True, slots=True)
class PlacedCase:
    """A case and the viewer of its placements."""

    line: CaseLine
    viewer: Markup


def placed_cases(
    lines: Sequence[CaseLine],
    rows: Sequence[Row],
    problem_of: Callable[[str], Problem | None],
    label: Callable[[str], str],
) -> tuple[PlacedCase, ...]:
    """Return the viewers of the cases that have placements, as many as the page holds.

    Where that is not all, the cases of `lines` with the most failures and largest gaps come first.
    """
    by_case: dict[Case, list[Row]] = {line.case: [] for line in lines}
    for row in rows:
        if row["placement"] and case_of(row) in by_case:
            by_case[case_of(row)].append(row)
    found: list[PlacedCase] = []
    left = MOST_CHARACTERS
    for line in sorted(lines, key=lambda one: one.badness, reverse=True):
        if len(found) == MOST_CASES:
            break
        problem = problem_of(line.case[0]) if by_case[line.case] else None
        if problem is None:
            continue
        viewer = view(problem, _shown(problem, line, by_case[line.case], label))
        left -= len(viewer)
        if left < 0:
            break
        found.append(PlacedCase(line, viewer))
    return tuple(sorted(found, key=lambda one: (one.line.name, one.line.case)))


def _shown(
    problem: Problem, line: CaseLine, rows: Sequence[Row], label: Callable[[str], str]
) -> list[Shown]:
    """Return the exact engine's placement first, then the methods' in the order of the table."""
    order = {cell.method: i for i, cell in enumerate(line.cells)}
    rows = sorted(rows, key=lambda row: (row["kind"] != Kind.EXACT, order.get(row["method"], -1)))
    return [_one(row, placement_of(row, problem), line, label) for row in rows]


def _one(row: Row, placement: Placement, line: CaseLine, label: Callable[[str], str]) -> Shown:
    is_exact = row["kind"] == Kind.EXACT
    name = label(row["method"])
    gap = next((cell.gap for cell in line.cells if cell.method == row["method"]), "")
    parts = [objective_text(row), "" if is_exact else gap]
    return Shown(
        name=f"{name}: {exact_title(row)}" if is_exact else name,
        placement=placement,
        caption=" · ".join(filter(None, parts)),
        failed=row["status"] == RunStatus.INVALID,
    )
