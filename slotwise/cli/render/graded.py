"""The summary of a grading, for people and for papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from slotwise.benchmarks.aggregation.gaps import (
    ABOVE_ZERO,
    ALL,
    COMMON,
    GAP,
    OVER_OPTIMUM,
    PLACED,
)
from slotwise.benchmarks.aggregation.plain_table import latex_text, plain_records
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.display import counted

if TYPE_CHECKING:
    from slotwise.benchmarks.aggregation.summary import Graded, Summary

Record = dict[str, Any]


def show_summary(summary: Summary) -> None:
    """Show a line per method, the comparison on common instances, pairs, failures."""
    parts = (*method_lines(summary), *_common(summary), *_pairs(summary), *_failures(summary))
    show(*parts, whole=True)


def method_lines(summary: Graded) -> list[RenderableType]:
    """Return the table of methods, and what its columns are."""
    heads, rows = method_cells(summary)
    numbers = [head for head, is_number in heads.items() if is_number]
    return [
        table(rows, tuple(heads), numbers),
        "Gap = (value - optimum) / optimum over all instances with a proven optimum"
        f"{_proven(summary)}: median and 95th percentile, [95 % interval]. ∞: no valid placement, "
        "above an optimum of 0, or worse in an earlier term. Wins: alone the best of all methods; "
        "ties: one of the best.",
        *_settled(summary),
        *_contradictions(summary),
    ]


def latex_summary(summary: Summary) -> str:
    """Return the table of methods in LaTeX (booktabs)."""
    heads, rows = method_cells(summary)
    caption = (
        "Gap = (value - optimum) / optimum over all instances with a proven optimum, no placement "
        "counted as infinite: median and 95th percentile with 95 % bootstrap intervals. Seconds: "
        "shifted geometric mean."
    )
    return latex_text(heads, rows, caption)


def method_cells(summary: Graded) -> tuple[dict[str, bool], list[tuple[str, ...]]]:
    """Return heads (and whether they have numbers) and the cells of the table of methods."""
    terms = _telling(summary)
    heads = dict.fromkeys((*summary.by, "method"), False) | {"solved": True}
    for term in terms:
        heads |= {f"{term} median": True, f"{term} p95": True}
    heads |= {"wins": True, "ties": True, "seconds": True}
    rows = []
    for row in plain_records(summary.methods):
        cells = [*(str(row[name]) for name in (*summary.by, "method"))]
        cells.append(f"{row['solved']} of {row['runs']}")
        for term in terms:
            cells += [_gap(row, f"{term}_{OVER_OPTIMUM}_all_{name}") for name in ("median", "p95")]
        played = row["kind"] != "exact"
        cells += [str(row[name]) if played else "-" for name in ("wins", "ties")]
        cells.append(f"{row['seconds']:.3g}")
        rows.append(tuple(cells))
    return heads, rows


def percent(share: object, digits: int = 3) -> str:
    """Return a share as a percentage; ``-`` for none, ``∞`` for infinity."""
    if share is None:
        return "-"
    number = 100 * float(str(share))
    if math.isinf(number):
        return "∞"
    return f"{number:.0f} %" if abs(number) >= 10 ** (digits - 1) else f"{number:.{digits}g} %"


def _gap(row: Record, name: str) -> str:
    """Return a gap with its interval, where that says more."""
    text = percent(row[name])
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or low == high:
        return text
    ends = (percent(end, 2).removesuffix(" %") for end in (low, high))
    return f"{text} [{', '.join(ends)}]"


def _telling(summary: Graded) -> list[str]:
    """Return the terms in which a placement is above the optimum; the others say nothing."""
    placed = summary.gaps[summary.gaps["basis"] == PLACED]
    above = set(placed[(placed["measure"] != GAP) & (placed["most"] > 0)]["term"])
    proven = set(summary.gaps[summary.gaps["basis"] == ALL]["term"])
    telling = [term for term in summary.terms if term in above]
    return telling or [term for term in summary.terms if term in proven][-1:]


def _proven(summary: Graded) -> str:
    """Return of how many instances the optimum of each shown term is proven; classes differ."""
    if summary.by:
        return ""
    counts = {
        term: summary.methods[f"{term}_{OVER_OPTIMUM}_all_instances"].max()
        for term in _telling(summary)
    }
    told = [f"{term} {count:.0f}" for term, count in counts.items() if count == count]
    return f" ({', '.join(told)})" if told else ""


def _settled(summary: Graded) -> list[str]:
    known, telling = set(summary.gaps[summary.gaps["basis"] == ALL]["term"]), _telling(summary)
    silent = [term for term in summary.terms if term not in telling]
    at = [term for term in silent if term in known]
    unknown = [term for term in silent if term not in known]
    lines = [f"{', '.join(at)}: every placement is at the optimum."] if at else []
    if unknown:
        lines.append(f"{', '.join(unknown)}: no optimum is proven; bounds are in --json.")
    return lines


def _contradictions(summary: Graded) -> list[str]:
    count = int(summary.methods["contradictions"].sum())
    if not count:
        return []
    runs = f"{counted(count, 'run')} {'contradicts' if count == 1 else 'contradict'} a proof"
    return [f"WARNING: {runs} (below a bound, or infeasible): report it."]


def _common(summary: Summary) -> list[RenderableType]:
    """Return what methods come to on the instances that all of them placed."""
    chosen = (summary.gaps["basis"] == COMMON) & summary.gaps["term"].isin(_telling(summary))
    gaps = plain_records(summary.gaps[chosen])
    found: dict[tuple[str, ...], dict[str, Record]] = {}
    for row in gaps:
        key = (*(str(row[name]) for name in summary.by), row["term"], row["method"])
        found.setdefault(key, {})[row["measure"]] = row
    if not found:
        return ["No instance has a proven optimum and a placement of every method."]
    rows = [(*key, *_common_cells(measures)) for key, measures in found.items()]
    numbers = ("instances", "over optimum", "gap", "zero optima", "above 0")
    shown = table(rows[:MOST_ROWS], (*summary.by, "term", "method", *numbers), numbers)
    return [
        "On the instances that every method placed, with all earlier terms at their optimum:",
        shown,
        *more_rows(len(rows), "lines"),
        "Means; over optimum = (value - optimum) / optimum, as papers have it, gap = (value - "
        "optimum) / value, as solvers do; above 0 = the distance from optima of 0, in their unit.",
    ]


def _common_cells(measures: dict[str, Record]) -> tuple[str, ...]:
    over, gap, zero = (measures.get(name) for name in (OVER_OPTIMUM, GAP, ABOVE_ZERO))
    return (
        "0" if over is None else str(over["instances"]),
        "-" if over is None else _gap(over, "mean"),
        "-" if gap is None else percent(gap["mean"]),
        "0" if zero is None else str(zero["instances"]),
        "-" if zero is None else f"{zero['mean']:.4g}",
    )


def _pairs(summary: Summary) -> list[RenderableType]:
    """Return who beats whom, and whether by more than chance in each term."""
    pairs = plain_records(summary.pairs)
    if not pairs:
        return []
    names = (*summary.by, "method", "rival")
    tests: dict[tuple[str, ...], list[str]] = {}
    for row in plain_records(summary.tests[summary.tests["term"].isin(_telling(summary))]):
        said = "too few differ" if row["p"] is None else f"p={row['p_holm']:.2g}"
        tests.setdefault(tuple(row[name] for name in names), []).append(f"{row['term']} {said}")
    rows = [
        (
            *(str(row[name]) for name in names),
            f"{row['wins']}/{row['ties']}/{row['losses']}",
            str(row["neither"]),
            f"{row['common_wins']}/{row['common_ties']}/{row['common_losses']}",
            ", ".join(tests.get(tuple(row[name] for name in names), ["-"])),
        )
        for row in pairs
    ]
    numbers = ("wins/ties/losses", "both fail", "where all placed")
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
