"""The tables of a grading for a paper: methods, terms, edge cuts, failures, instances, origin."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from slotwise.benchmarks.judged.edge_cuts import edge_cut_table
from slotwise.benchmarks.judged.method_table import (
    TextTable,
    definition,
    method_tables,
    term_tables,
)
from slotwise.benchmarks.report.case_table import CaseLine, case_lines, plain_columns
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.graded_rows import Graded
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.page import compared_methods
from slotwise.benchmarks.report.paper.paper_table import PaperTable
from slotwise.benchmarks.report.text import DASH, number


def tables(graded: Graded) -> tuple[PaperTable, ...]:
    """Return the tables of a grading that have a line."""
    cuts = edge_cut_table(graded.rows, graded.comparisons, graded.labels)
    summed = [*method_tables(graded.summary, graded.labels)]
    summed += term_tables(graded.summary, graded.labels)
    built = (
        *(_paper(one, definition(graded.summary)) for one in summed),
        *(() if cuts is None else (_paper(cuts, BALANCE),)),
        _failures(graded),
        _instances(graded),
    )
    return tuple(table for table in built if table.rows)


BALANCE = (
    "Ratios of edge cuts, means over the instances that all compared methods placed. Balance: most "
    "tasks on a node over the average of all nodes."
)


def _paper(text_table: TextTable, text: str) -> PaperTable:
    basis = " ".join(text_table.basis.splitlines())
    return PaperTable(text_table.name, f"{text} {basis}", tuple(text_table.heads), text_table.rows)


def _failures(graded: Graded) -> PaperTable:
    names: Mapping[str, str] = graded.labels
    return PaperTable(
        "failures",
        "Runs without a valid placement. Not among them: proofs that there is none, refusals where "
        "that is proven, and methods that do not apply to the instance.",
        ("method", "what went wrong", "runs", "of", "for example"),
        tuple(
            (
                *(label_of(failure.method, names), group.kind, str(group.count), str(failure.runs)),
                group.examples[0].instance if group.examples else DASH,
            )
            for failure in failures(graded.rows, graded.judged)
            for group in failure.groups
        ),
    )


def _instances(graded: Graded) -> PaperTable:
    methods = compared_methods(graded.summary)
    lines = case_lines(graded.rows, graded.judged, methods, most=len(graded.rows))
    label = partial(label_of, labels=graded.labels)
    terms = graded.judged.terms
    heads = (
        *("instance", "family", "tasks", "nodes", "tightness", "status"),
        *(f"{what} {term}" for what in ("best known", "bound") for term in terms),
        *("seconds", *(label(one) + what for one in methods for what in plain_columns(terms))),
    )
    return PaperTable(
        "instances",
        "Every instance: its size, what is known of it, and the gap of each method in the first "
        "term that is not at its optimum; from the gap to the best known value to the gap to the "
        "bound where the optimum is not proven.",
        (
            *("instance", "family", "tasks", "nodes", "tightness"),
            *("status", "best known", "bound", "seconds", *map(label, methods)),
        ),
        tuple(
            (
                *(line.name, line.family, str(line.tasks), number(line.nodes), line.tightness),
                *(line.status, line.value, line.bound, line.seconds),
                *(cell.gap for cell in line.cells),
            )
            for line in lines
        ),
        (heads, tuple(map(_plain_line, lines))),
    )


def _plain_line(line: CaseLine) -> tuple[str, ...]:
    return (
        *(line.name, line.family, str(line.tasks), number(line.nodes), line.tightness),
        *(line.status, *line.values, *line.bounds, line.seconds),
        *(text for cell in line.cells for text in cell.plain),
    )
