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

from slotwise.benchmarks.grading.row_file import placement_of
from slotwise.benchmarks.grading.rows import Kind, Row, RunStatus
from slotwise.benchmarks.judged.edge_cuts import edge_cut_table
from slotwise.benchmarks.judged.judging import Judged, Proof
from slotwise.benchmarks.judged.method_table import (
    definition,
    idle_methods,
    method_tables,
    term_tables,
)
from slotwise.benchmarks.judged.summary import Summary
from slotwise.benchmarks.report.answers import answers
from slotwise.benchmarks.report.case_table import STATES, CaseLine, case_lines, plain_columns
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.figures.chart import Figure
from slotwise.benchmarks.report.graded_rows import Graded
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.text import DASH, exact_title, number, objective_text
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import view
from slotwise.heuristics.registry import describe
from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

PAGE = "report.html"

ANSWER, WHY, WORTH = ("gaps-ranked",), ("traffic", "overload"), ("worth",)
"""Names of the charts that stand with the answer, with its reasons, and with what it is worth; the
others follow."""


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
    rows, judged, summary = graded.rows, graded.judged, graded.summary
    label = partial(label_of, labels=graded.labels)
    methods = compared_methods(summary)
    lines = case_lines(rows, judged, methods)
    placed = placed_cases(lines, rows, graded.problem_of, label)
    drawn = [chart.figure() for chart in graded.charts]
    page: str = template("report.html.j2").render(
        contradictions=judged.contradictions,
        label=label,
        answers=answers(summary),
        answer_figures=_named(drawn, ANSWER),
        why_figures=_named(drawn, WHY),
        worth_figures=_named(drawn, WORTH),
        more_figures=[one for one in drawn if one.name not in ANSWER + WHY + WORTH],
        tables=method_tables(summary, graded.labels),
        definition=definition(summary),
        idle=idle_methods(summary),
        term_tables=term_tables(summary, graded.labels),
        methods=methods,
        lines=lines,
        csv_terms=judged.terms,
        csv_columns=plain_columns(judged.terms),
        states={state: text for state, text in STATES.items() if _any_has(lines, state)},
        edge_cuts=edge_cut_table(rows, graded.comparisons, graded.labels),
        placed=placed,
        anchors={case.line.anchor for case in placed},
        failures=failures(rows, judged),
        facts=facts(rows, graded.commands),
        families=families(rows),
        terms=terms_counted(judged.terms),
        descriptions=descriptions(methods, graded.labels),
        counts=_counts(rows, judged),
    )
    return page


def compared_methods(summary: Summary) -> tuple[str, ...]:
    """Return the methods that are not exact engines, in the order of the summary, each once."""
    rows = summary.methods[summary.methods["kind"] != str(Kind.EXACT)]
    return tuple(dict.fromkeys(rows["method"]))


def _named(drawn: Sequence[Figure], names: Sequence[str]) -> list[Figure]:
    return [one for one in drawn if one.name in names]


def _any_has(lines: Sequence[CaseLine], state: str) -> bool:
    return any(state in line.states for line in lines)


def _counts(rows: Sequence[Row], judged: Judged) -> Mapping[str, int]:
    return {
        "runs": len(rows),
        "instances": len(judged.instances),
        "methods": len({row["method"] for row in rows if row["kind"] != Kind.EXACT}),
        **{str(kind): int((judged.proof == kind).sum()) for kind in Proof},
        "right": int(judged.rightly_refused.sum()),
        "inapplicable": sum(row["status"] == RunStatus.DOES_NOT_APPLY for row in rows),
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
    "bottleneck": "highest utilisation of a cpu, network interface or uplink at the given rates; "
    "1 = all the time",
    "slots": "slots that the dataflow needs",
}
"""What each part of a term counts, and in which unit."""


def terms_counted(names: Iterable[str]) -> dict[str, str]:
    """Return what the parts of these terms count, by part."""
    parts = dict.fromkeys(part for name in names for part in name.split("+"))
    return {part: TERMS[part] for part in parts if part in TERMS}


def facts(rows: Sequence[Row], commands: Sequence[str]) -> dict[str, str]:
    """Return the commands that made rows, and what these say of software, machines, limits."""
    columns = {
        "command": set(commands),
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


def descriptions(methods: Iterable[str], labels: Mapping[str, str]) -> dict[str, str]:
    """Return what each method on the page does, in one sentence, by what it is called.

    `labels`: method -> label. What a label stands for is part of its description.
    """
    texts = {}
    for name in methods:
        text = PAIRS[name].description if name in PAIRS else describe(name)
        parts = [name if name in labels else "", text or ""]
        if any(parts):
            texts[label_of(name, labels)] = ". ".join(filter(None, parts))
    return texts


def families(rows: Sequence[Row]) -> dict[str, str]:
    """Return what the families of the rows hold, by name, with their notes."""
    names = {row["family"] or "" for row in rows}
    all_families = FAMILIES | ALLOCATION_FAMILIES
    used = (all_families[name] for name in sorted(names & all_families.keys()))
    return {one.name: f"{one.description}. {one.note}".strip() for one in used}


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
    """Return the viewers of the instances that have placements, as many as the page holds.

    Of several seeds the first placement of a method is drawn.

    Where that is not all, those of `lines` with the most failures and largest gaps come first.
    """
    by_case: dict[str, dict[str, Row]] = {line.instance_hash: {} for line in lines}
    for row in rows:
        if row["placement"] and row["instance_hash"] in by_case:
            by_case[row["instance_hash"]].setdefault(row["method"], row)
    cases: list[PlacedCase] = []
    left = MOST_CHARACTERS
    for line in sorted(lines, key=lambda one: one.badness, reverse=True):
        if len(cases) == MOST_CASES:
            break
        drawn = list(by_case[line.instance_hash].values())
        problem = problem_of(line.instance_hash) if drawn else None
        if problem is None:
            continue
        viewer = view(problem, _shown(problem, line, drawn, label))
        left -= len(viewer)
        if left < 0:
            break
        cases.append(PlacedCase(line, viewer))
    return tuple(sorted(cases, key=lambda one: (one.line.name, one.line.instance_hash)))


def _shown(
    problem: Problem, line: CaseLine, rows: Sequence[Row], label: Callable[[str], str]
) -> list[Shown]:
    """Return the exact engine's placement first, then the methods' in the order of the table."""
    order = {cell.method: i for i, cell in enumerate(line.cells)}
    rows = sorted(rows, key=lambda row: (row["kind"] != Kind.EXACT, order.get(row["method"], -1)))
    return [_shown_placement(row, placement_of(row, problem), line, label) for row in rows]


def _shown_placement(
    row: Row, placement: Placement, line: CaseLine, label: Callable[[str], str]
) -> Shown:
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
