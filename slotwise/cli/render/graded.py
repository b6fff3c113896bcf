"""The summary of a grading, for people and for papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from slotwise.benchmarks.judged.method_table import (
    definition,
    idle_methods,
    method_tables,
    telling_terms,
)
from slotwise.benchmarks.judged.plain_table import latex_text, plain_records
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.display import counted

if TYPE_CHECKING:
    from slotwise.benchmarks.judged.summary import Summary


def show_summary(summary: Summary) -> None:
    """Show a line per method, pairs of methods, and failures."""
    show(*method_lines(summary), *_pairs(summary), *_failures(summary), whole=True)


def method_lines(summary: Summary) -> list[RenderableType]:
    """Return a table of methods for each group, with its basis and the meaning of columns."""
    lines: list[RenderableType] = []
    for one in method_tables(summary):
        numbers = [head for head, is_number in one.heads.items() if is_number]
        lines += [table(one.rows, tuple(one.heads), numbers), one.basis]
    return [*lines, *filter(None, (idle_methods(summary), definition(summary))), *_alarm(summary)]


def latex_summary(summary: Summary) -> str:
    """Return the tables of methods in LaTeX (booktabs), one for each group."""
    return "\n".join(
        latex_text(one.heads, one.rows, f"{definition(summary)} {one.basis}")
        for one in method_tables(summary)
    )


def _alarm(summary: Summary) -> list[str]:
    count = len(summary.contradictions)
    if not count:
        return []
    runs = f"{counted(count, 'run')} {'contradicts' if count == 1 else 'contradict'} a proof"
    return [f"WARNING: {runs}: {summary.contradictions[0]}. Report it."]


def _pairs(summary: Summary) -> list[RenderableType]:
    """Return which method beats which, and whether significantly in each term."""
    pairs = plain_records(summary.pairs)
    if not pairs:
        return []
    names = (*summary.by, "method", "rival")
    tests: dict[tuple[str, ...], list[str]] = {}
    for row in plain_records(summary.tests):
        if row["term"] in telling_terms(summary, row["group"]):
            text = "too few differ" if row["p"] is None else f"p={row['p_holm']:.2g}"
            key = tuple(row[name] for name in ("group", *names))
            tests.setdefault(key, []).append(f"{row['term']} {text}")
    rows = [
        (
            *(str(row[name]) for name in names),
            f"{row['wins']}/{row['ties']}/{row['losses']}",
            str(row["both_fail"]),
            ", ".join(tests.get(tuple(row[name] for name in ("group", *names)), ["-"])),
        )
        for row in pairs
    ]
    numbers = ("wins/ties/losses", "both fail")
    return [
        "Each method against each other (Wilcoxon signed-rank test, corrected by Holm):",
        table(rows[:MOST_ROWS], (*names, *numbers, "test"), numbers),
        *more_rows(len(rows), "pairs"),
    ]


def _failures(summary: Summary) -> list[RenderableType]:
    failed = plain_records(summary.failures)
    if not failed:
        return []
    names: Sequence[str] = (*summary.by, "method", "status", "why", "runs")
    rows = [tuple(str(row[name]) for name in names) for row in failed[:MOST_ROWS]]
    return ["Failures:", table(rows, names, ("runs",)), *more_rows(len(failed), "reasons")]
