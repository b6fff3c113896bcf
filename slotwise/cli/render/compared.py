"""Two gradings compared, for people."""

from __future__ import annotations

from pathlib import Path

from rich.console import RenderableType

from slotwise.benchmarks.report.comparison.change import Change, MethodChanges
from slotwise.benchmarks.report.comparison.compare import OnlyIn
from slotwise.benchmarks.report.comparison.comparison import Comparison
from slotwise.cli.render.tables import MOST_ROWS, listed, more_rows, show, table
from slotwise.models.display import counted

LISTED = (Change.NEWLY_FAILING, Change.WORSE, Change.NEWLY_SOLVED, Change.BETTER)
"""Kinds of changes whose instances are listed."""


def show_comparison(comparison: Comparison, page: Path) -> None:
    """Print the counts by method, each term with its test, and the instances that changed."""
    changes = comparison.changes
    counts = [
        (one.method, *(str(one.count(change)) for change in Change)) for one in changes.methods
    ]
    heads = tuple(map(str, Change))
    infeasible = f", {changes.infeasible:,} of them proven infeasible" if changes.infeasible else ""
    parts: list[RenderableType] = [
        f"{counted(changes.cases, 'instance')} in both gradings{infeasible}; "
        f"before {comparison.before}, after {comparison.after}",
        table(counts, ("method", *heads), heads),
        table(_terms(changes.methods), _TERM_HEADS, _TERM_HEADS[2:-1]),
    ]
    listed = [row for one in changes.methods for change in LISTED for row in _pairs(one, change)]
    if listed:
        parts += [
            table(listed[:MOST_ROWS], ("method", "change", "instance", "before", "after")),
            *more_rows(len(listed), "changes"),
        ]
    parts += [*_only("before", changes.only_before), *_only("after", changes.only_after)]
    parts.append("p: Wilcoxon's signed-rank test by instance, corrected for all tests (Holm).")
    show(*parts, *changes.cautions, f"Page: {page}")


_TERM_HEADS = (
    *("method", "term", "pairs", "better", "worse", "mean change", "p"),
    "verdict",
)


def _terms(methods: tuple[MethodChanges, ...]) -> list[tuple[str, ...]]:
    return [
        (
            *(one.method, term.term, str(term.pairs), str(term.better), str(term.worse)),
            f"{term.mean:+.4g}" if term.mean else "0",
            "-" if term.p_value is None else f"{term.p_value:.2g}",
            term.verdict,
        )
        for one in methods
        for term in one.terms
    ]


def _pairs(one: MethodChanges, change: Change) -> list[tuple[str, ...]]:
    return [
        (one.method, str(change), pair.instance, pair.before, pair.after) for pair in one.of(change)
    ]


def _only(which: str, only: OnlyIn) -> list[str]:
    missing = []
    if only.methods:
        missing.append(f"methods {', '.join(only.methods)}")
    if only.instances:
        missing.append(f"{counted(len(only.instances), 'case')}: {listed(only.instances, 5)}")
    return [f"Only {which}, not compared: {'; '.join(missing)}"] if missing else []
