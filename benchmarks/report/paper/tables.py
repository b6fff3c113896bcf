"""The tables of a grading for a paper: methods, terms, instances, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.edge_cuts import edge_cuts
from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.benchmarks.report.case_table import case_lines
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.paper.paper_table import PaperTable
from slotwise.benchmarks.report.text import DASH, number, percent, seconds_text, short


def tables(
    rows: Sequence[Row], summary: Aggregate, labels: Mapping[str, str] | None = None
) -> tuple[PaperTable, ...]:
    """Return the tables that have a line.

    Parameters
    ----------
    rows
        One for each case and method, see `analysis.cases.latest`.
    summary
        What `analysis.aggregate.aggregate` makes of them.
    labels
        Method -> what it is called; others keep their names.
    """
    names = labels or {}
    made = (
        _methods(summary, names),
        _terms(summary, names),
        _edge_cuts(rows, summary, names),
        _failures(rows, names),
        _instances(rows, summary, names),
    )
    return tuple(table for table in made if table.rows)


def _methods(summary: Aggregate, names: Mapping[str, str]) -> PaperTable:
    return PaperTable(
        "methods",
        "Runs of each method. Refused: no placement, though it is not proven that there is none; "
        "rightly refused: it is proven. Optimal: every term is at its proven optimum. Wins, ties, "
        "losses: against the best of the methods; a failure is a loss. Seconds: shifted geometric "
        "mean of the call; one that crashed, hung or ran out of memory counts with its limit.",
        (
            *("method", "kind", "runs", "valid", "refused", "rightly refused", "failed"),
            *("optimal", "of proven", "wins", "ties", "losses", "seconds"),
        ),
        tuple(
            (
                *(label_of(s.method, names), s.kind),
                *(str(n) for n in (s.runs, s.valid, s.refused, s.rightly_refused, s.failed)),
                *(str(s.optimal), str(s.proven)),
                *(_contest(s.kind, n) for n in (s.wins, s.ties, s.losses)),
                seconds_text(s.seconds),
            )
            for s in summary.methods
        ),
    )


def _contest(kind: str, count: int) -> str:
    return DASH if kind == Kind.EXACT else str(count)


def _terms(summary: Aggregate, names: Mapping[str, str]) -> PaperTable:
    found = [
        (s.method, s.terms[term])
        for term in summary.terms
        for s in summary.methods
        if s.kind != Kind.EXACT and term in s.terms
    ]
    return PaperTable(
        "gaps",
        "Distance from the proven optimum in each term of the objective, on each method's own "
        "runs: (value \N{MINUS SIGN} optimum) / optimum, so that twice the optimum is 100 %. A "
        "term counts where every earlier term is at its optimum. Common: mean over the cases that "
        "count for every method, without those where a method is above an optimum of 0. Where the "
        "optimum is 0: mean of value \N{MINUS SIGN} optimum. "
        "Solvers' gap: mean of (value \N{MINUS SIGN} optimum) / value.",
        (
            *("term", "method", "cases", "at the optimum", "mean", "median", "worst", "common"),
            *("above an optimum of 0", "solvers' gap"),
        ),
        tuple(
            (
                *(one.term, label_of(method, names), str(one.cases), str(one.at_optimum)),
                *(percent(x) for x in (one.excess.mean, one.excess.median, one.excess.most)),
                *(percent(one.common.mean), short(one.above_zero.mean)),
                percent(one.to_optimum.mean),
            )
            for method, one in found
        ),
    )


def _edge_cuts(rows: Sequence[Row], summary: Aggregate, names: Mapping[str, str]) -> PaperTable:
    return PaperTable(
        "edge-cuts",
        "Graphs to partition. Over the optimum: mean ratio of the edge cuts where it is proven. "
        "Balance: most tasks on a node over the average of all nodes.",
        (
            *("family", "method", "runs", "valid", "optimal", "over the optimum"),
            *("mean balance", "worst balance", "seconds"),
        ),
        tuple(
            (
                *(one.family, label_of(one.method, names)),
                *(str(one.runs), str(one.valid), str(one.optimal)),
                *(short(x) for x in (one.to_optimum.mean, one.balance.mean, one.balance.most)),
                seconds_text(one.seconds),
            )
            for one in edge_cuts(rows, summary.references)
        ),
    )


def _failures(rows: Sequence[Row], names: Mapping[str, str]) -> PaperTable:
    return PaperTable(
        "failures",
        "Runs without a valid placement. Not among them: proofs that there is none, and refusals "
        "where that is proven.",
        ("method", "what went wrong", "runs", "of", "for example"),
        tuple(
            (
                *(label_of(one.method, names), group.kind, str(group.count), str(one.runs)),
                group.examples[0].instance if group.examples else DASH,
            )
            for one in failures(rows)
            for group in one.groups
        ),
    )


def _instances(rows: Sequence[Row], summary: Aggregate, names: Mapping[str, str]) -> PaperTable:
    lines = case_lines(rows, summary, most=len(rows))
    label = partial(label_of, labels=names)
    methods = [label(cell.method) for cell in lines[0].cells] if lines else []
    return PaperTable(
        "instances",
        "Every instance: its size, what the exact engine found, and how far each method is from "
        "the bound in the first term that differs, (value \N{MINUS SIGN} bound) / bound.",
        (
            *("instance", "family", "tasks", "nodes", "tightness"),
            *("status", "value", "bound", "seconds", *methods),
        ),
        tuple(
            (
                *(line.name, line.family, str(line.tasks), number(line.nodes), line.tightness),
                *(line.status, line.value, line.bound, line.seconds),
                *(cell.gap for cell in line.cells),
            )
            for line in lines
        ),
    )
