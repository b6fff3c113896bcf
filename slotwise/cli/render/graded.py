"""The summary of a grading, for people and for papers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import RenderableType

from slotwise.benchmarks.judged.plain_table import INFINITE, latex_text, plain_records
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.display import counted

if TYPE_CHECKING:
    from slotwise.benchmarks.judged.summary import Summary

Record = dict[str, Any]

OPTIMUM_GAP = "(value - optimum) / optimum"
SOLVER_GAP = "(value - bound) / value, as MIP solvers print it"


def show_summary(summary: Summary) -> None:
    """Show a line per method, pairs of methods, and failures."""
    show(*method_lines(summary), *_pairs(summary), *_failures(summary), whole=True)


def method_lines(summary: Summary) -> list[RenderableType]:
    """Return a table of methods for each group, its basis, and what the columns are."""
    lines: list[RenderableType] = []
    for group, text in _groups(summary):
        heads, rows = method_cells(summary, group)
        numbers = [head for head, is_number in heads.items() if is_number]
        lines += [table(rows, tuple(heads), numbers), text]
    idle = summary.methods.loc[summary.methods["group"].isna(), "method"]
    if len(idle):
        lines.append(f"Not compared, as they apply to no feasible instance: {', '.join(idle)}.")
    return [*lines, _definition(summary), *_contradictions(summary)]


def latex_summary(summary: Summary) -> str:
    """Return the tables of methods in LaTeX (booktabs), one for each group."""
    return "\n".join(
        latex_text(*method_cells(summary, group), caption=f"{_definition(summary)} {text}")
        for group, text in _groups(summary)
    )


def _groups(summary: Summary) -> Iterator[tuple[int, str]]:
    """Yield the number of each group, and which instances its comparison is made on."""
    for number, some in summary.groups.groupby("group"):
        texts = [
            " ".join(
                (*(f"{row[name]}:" for name in summary.by), row["basis"], _means(summary, row))
            )
            for row in plain_records(some)
        ]
        yield int(str(number)), "\n".join(texts)


def _means(summary: Summary, row: Record) -> str:
    """Return how many instances the means are of, and how many optima are not proven."""
    gaps = _of_class(summary.gaps, summary.by, row)
    counts = gaps.drop_duplicates("term").set_index("term")["common"]
    said = ", ".join(f"{term} {counts[term]:,}" for term in _telling(summary) if term in counts)
    open_ones = row["bounded"] + row["open"]
    unproven = f" {open_ones:,} without a proven optimum: gaps from, to." if open_ones else ""
    return f"Means: where all place ({said}).{unproven}" if said else unproven.strip()


def _of_class(rows: pd.DataFrame, by: Sequence[str], row: Record) -> pd.DataFrame:
    for name in (*by, "group"):
        rows = rows[rows[name] == row[name]]
    return rows


def _definition(summary: Summary) -> str:
    gap = SOLVER_GAP if summary.solver_gap else OPTIMUM_GAP
    return (
        f"Gap = {gap}; ∞: no valid placement, above an optimum of 0, or worse in an earlier term. "
        "Mean with its 95 % interval (bootstrap), median and 95th percentile. Wins: alone the best "
        "of the methods. Seconds: shifted geometric mean."
    )


def method_cells(summary: Summary, group: int) -> tuple[dict[str, bool], list[tuple[str, ...]]]:
    """Return heads (and whether they have numbers) and the cells of a group's methods."""
    terms = _telling(summary)
    methods = plain_records(summary.methods[summary.methods["group"] == group])
    heads = dict.fromkeys((*summary.by, "method", "placed"), False) | {"optimal": True}
    optional = [name for name in ("failed", "does_not_apply") if any(row[name] for row in methods)]
    heads |= {name.replace("_", " "): True for name in optional}
    heads |= {f"{term} {name}": True for term in terms for name in ("mean", "median", "p95")}
    heads |= {"wins": True, "seconds": True}
    return heads, [
        (
            *(str(row[name]) for name in (*summary.by, "method")),
            outcome(row),
            str(row["at_optimum"]),
            *(str(row[name]) for name in optional),
            *(gap_text(row, term, name) for term in terms for name in ("mean", "median", "p95")),
            "-" if row["wins"] is None else str(row["wins"]),
            f"{row['seconds']:.3g}",
        )
        for row in methods
    ]


def outcome(row: Record) -> str:
    """Return how many instances a method placed, or what an engine proved of those it ran on."""
    if row["kind"] != "exact":
        return f"{row['placed']} of {row['instances']}"
    parts = [f"{row[name]} {name}" for name in ("proven", "bounded", "open") if row[name]]
    infeasible = f"{row['infeasible']} infeasible" if row["infeasible"] else ""
    return ", ".join(filter(None, [*parts, infeasible]))


def gap_text(row: Record, term: str, name: str) -> str:
    """Return a statistic of a gap, from and to where it is not known; a mean with its interval."""
    low, high = (_number(row[f"{term}_{name}_{end}"]) for end in ("low", "high"))
    if low is None or high is None:
        return "-"
    text = percent(low) if low == high else f"{_bare(low)} to {percent(high)}"
    ends = [_number(row[f"{term}_{name}_ci_{end}"]) for end in ("low", "high")]
    if name != "mean" or None in ends or ends[0] == ends[1]:
        return text
    return f"{text} [{', '.join(_bare(end, 2) for end in ends)}]"


def _number(value: object) -> float | None:
    return None if value is None else math.inf if value == INFINITE else float(str(value))


def _bare(share: float | None, digits: int = 3) -> str:
    return percent(share, digits).removesuffix(" %")


def percent(share: float | None, digits: int = 3) -> str:
    """Return a share as a percentage; ``-`` for none, ``∞`` for infinity."""
    if share is None:
        return "-"
    number = 100 * share
    if math.isinf(number):
        return "∞"
    return f"{number:.0f} %" if abs(number) >= 10 ** (digits - 1) else f"{number:.{digits}g} %"


def _telling(summary: Summary) -> list[str]:
    """Return the terms in which a placement is above the best known; the others say nothing."""
    gaps = summary.gaps
    above = set(gaps.loc[(gaps["most_low"] > 0) & (gaps["placed"] > 0), "term"])
    missed = [term for term in summary.terms if term in above]
    return missed or list(summary.terms[-1:])


def _contradictions(summary: Summary) -> list[str]:
    count = len(summary.contradictions)
    if not count:
        return []
    runs = f"{counted(count, 'run')} {'contradicts' if count == 1 else 'contradict'} a proof"
    return [f"WARNING: {runs}: {summary.contradictions[0]}. Report it."]


def _pairs(summary: Summary) -> list[RenderableType]:
    """Return who beats whom, and whether by more than chance in each term."""
    pairs = plain_records(summary.pairs)
    if not pairs:
        return []
    names = (*summary.by, "method", "rival")
    tests: dict[tuple[str, ...], list[str]] = {}
    for row in plain_records(summary.tests[summary.tests["term"].isin(_telling(summary))]):
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
