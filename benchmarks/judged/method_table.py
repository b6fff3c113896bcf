"""The table of methods that people read: on the terminal, on a page, in LaTeX and CSV alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.judged.plain_table import INFINITE, plain_records
from slotwise.benchmarks.judged.summary import IN_TABLE, WORTH, Summary

Record = dict[str, Any]

NO_NUMBER = "-"

DEFINITIONS = {
    False: "Gap = (value - optimum) / optimum",
    True: "Solvers' gap = (value - bound) / value",
}
"""Of the gap, by `Summary.solver_gap`."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table for people: cells are text.

    Parameters
    ----------
    name
        What it is about; a name for files.
    title
        The same for people.
    heads
        Heads of the columns -> whether they hold numbers.
    rows
        The cells.
    kinds
        Of each row: what makes the placements, see `Kind`.
    basis
        On which instances methods are compared, what is left out, and which the means are of.
    """

    name: str
    title: str
    heads: Mapping[str, bool]
    rows: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    basis: str


def method_tables(summary: Summary, labels: Mapping[str, str] | None = None) -> list[TextTable]:
    """Return a table of methods for each group; `labels`: method -> what it is called."""
    return [_methods(summary, group, labels or {}) for group in _groups(summary)]


def term_tables(summary: Summary, labels: Mapping[str, str] | None = None) -> list[TextTable]:
    """Return a table of all statistics for each group and term in which methods differ."""
    return [
        _term(summary, group, term, labels or {})
        for group in _groups(summary)
        for term in telling_terms(summary, group)
    ]


def _groups(summary: Summary) -> list[int]:
    return sorted(set(summary.groups["group"]))


OF_WORTH = {"throughput_ratio": "throughput", "latency_ratio": "latency"}
"""Heads of the predicted columns."""

OF_RUNS = {"failed": "failed runs", "does_not_apply": "inapplicable runs"}
"""Heads of columns that count runs, on all instances."""


PREDICTION = (
    " Throughput and latency: predicted, over those of the exact engine's placement; geometric "
    "mean."
)


def definition(summary: Summary) -> str:
    """Return what the columns are."""
    return (
        f"{DEFINITIONS[summary.solver_gap]}; ∞: no valid placement, above an optimum of 0, or "
        "worse in an earlier term. Mean with its 95 % interval (bootstrap), median and 95th "
        "percentile (p95). Mean by seed: the least to the greatest mean with one seed each. "
        "Optimal: instances at the proven optimum of every term. Failed and inapplicable runs: on "
        "all instances, also those left out. Wins: alone the best of the methods. Seconds: shifted "
        "geometric mean. Best first: most placed, then the least gaps."
        + (PREDICTION if summary.methods[list(WORTH)].notna().any(axis=None) else "")
    )


def idle_methods(summary: Summary) -> str:
    """Return a sentence on methods that are in no group; empty where there are none."""
    methods = summary.methods[summary.methods["group"].isna()]
    idle = methods.loc[methods["kind"] != str(Kind.EXACT), "method"]
    return f"Not compared, as they apply to no instance: {', '.join(idle)}." if len(idle) else ""


def _methods(summary: Summary, group: int, labels: Mapping[str, str]) -> TextTable:
    methods = plain_records(summary.methods[summary.methods["group"] == group])
    terms = telling_terms(summary, group)
    heads = dict.fromkeys((*summary.by, "method", "placed"), False) | {"optimal": True}
    optional = [name for name in ("failed", "does_not_apply") if any(row[name] for row in methods)]
    heads |= {OF_RUNS[name]: True for name in optional}
    shown = [(term, name) for term in terms for name in IN_TABLE]
    shown += [(term, OF_SEEDS) for term in terms if _has_seeds(methods, f"{term}_{OF_SEEDS}")]
    heads |= {f"{term} {HEADS.get(name, name)}": True for term, name in shown}
    heads |= {"wins": True, "ties": True, "seconds": True}
    predicted = [name for name in WORTH if any(row[name] is not None for row in methods)]
    heads |= {OF_WORTH[name]: True for name in predicted}
    rows = [
        (
            *(str(row[name]) for name in summary.by),
            *(labels.get(row["method"], row["method"]), outcome(row), str(row["at_optimum"])),
            *(str(row[name]) for name in optional),
            *(statistic(row, f"{term}_{name}") for term, name in shown),
            *(NO_NUMBER if row[name] is None else str(row[name]) for name in ("wins", "ties")),
            f"{row['seconds']:.3g}",
            *(NO_NUMBER if row[name] is None else f"{row[name]:.3f}" for name in predicted),
        )
        for row in methods
    ]
    kinds = tuple(row["kind"] for row in methods)
    name = "methods" if group == 1 else f"methods-{group}"
    title = "Results of each method" if group == 1 else "Methods that apply to other instances"
    return TextTable(name, title, heads, tuple(rows), kinds, basis(summary, group))


TERM_STATISTICS = ("mean", "q25", "median", "q75", "p95", "most")

OF_SEEDS = "mean_seeds"
"""The spread of the mean over seeds; shown where a method ran with several."""

HEADS = {
    OF_SEEDS: "mean by seed",
    "q25": "25th percentile",
    "q75": "75th percentile",
    "most": "greatest",
}
"""What a statistic is called in a table, where not by its name."""


def _has_seeds(records: Sequence[Record], name: str) -> bool:
    return any(row.get(f"{name}_low") is not None for row in records)


def _term(summary: Summary, group: int, term: str, labels: Mapping[str, str]) -> TextTable:
    gaps = summary.gaps[(summary.gaps["group"] == group) & (summary.gaps["term"] == term)]
    methods = summary.methods[summary.methods["group"] == group]
    kinds = dict(zip(methods["method"], methods["kind"], strict=True))
    counts = ("instances", "proven", "placed", "finite", "at_optimum", "common")
    heads = dict.fromkeys((*summary.by, "method"), False)
    records = plain_records(gaps)
    shown = (*TERM_STATISTICS, *([OF_SEEDS] if _has_seeds(records, OF_SEEDS) else ()))
    heads |= {HEADS.get(name, name.replace("_", " ")): True for name in (*counts, *shown)}
    rows = tuple(
        (
            *(str(row[name]) for name in summary.by),
            labels.get(row["method"], row["method"]),
            *(str(row[name]) for name in counts),
            *(statistic(row, name) for name in shown),
        )
        for row in records
    )
    name = f"gaps-{term}" if group == 1 else f"gaps-{term}-{group}"
    title = f"Gaps in {term}" if group == 1 else f"Gaps in {term}, group {group}"
    of_rows = tuple(kinds.get(row["method"], "") for row in records)
    return TextTable(name, title, heads, rows, of_rows, basis(summary, group))


def basis(summary: Summary, group: int) -> str:
    """Return what a group is compared on, by class, in sentences."""
    some = summary.groups[summary.groups["group"] == group]
    return "\n".join(
        " ".join(
            filter(None, (*(f"{row[name]}:" for name in summary.by), *_sentences(summary, row)))
        )
        for row in plain_records(some)
    )


def _sentences(summary: Summary, row: Record) -> Iterator[str]:
    yield row["basis"]
    gaps = _of_class(summary.gaps, (*summary.by, "group"), row)
    counts = gaps.drop_duplicates("term").set_index("term")["common"]
    terms = [term for term in telling_terms(summary, row["group"]) if term in counts]
    if terms:
        of_terms = ", ".join(f"{term} {counts[term]:,}" for term in terms)
        yield f"Means: where every method has a finite gap ({of_terms})."
        for term in terms:
            never = gaps[(gaps["term"] == term) & (gaps["finite"] == 0)]["method"]
            if len(never):
                yield f"Never a finite gap in {term}: {', '.join(never)}."
    unproven = row["bounded"] + row["open"]
    if unproven:
        yield (
            f"{unproven:,} without a proven optimum: gaps from the one to the best known value to "
            "the one to the bound."
        )


def _of_class(rows: pd.DataFrame, names: Sequence[str], row: Record) -> pd.DataFrame:
    for name in names:
        rows = rows[rows[name] == row[name]]
    return rows


def telling_terms(summary: Summary, group: int) -> list[str]:
    """Return the terms in which a placement of a group is not at a proven optimum.

    The others say nothing. Where there is none, the last term stands for all.
    """
    gaps = summary.gaps[summary.gaps["group"] == group]
    above = set(gaps.loc[gaps["placed"] > gaps["at_optimum"], "term"])
    terms = [term for term in summary.terms if term in set(gaps["term"])]
    return [term for term in terms if term in above] or terms[-1:]


def outcome(row: Record) -> str:
    """Return how many instances a method placed, or what an engine proved of those it ran on."""
    if row["kind"] != "exact":
        return f"{row['placed']} of {row['instances']}"
    counts = ((row[name], name) for name in ("proven", "bounded", "open"))
    return ", ".join(f"{count} {name}" for count, name in counts if count)


def statistic(row: Record, name: str) -> str:
    """Return a statistic of a gap, from and to where it is not known; a mean with its interval."""
    text = statistic_alone(row, name)
    ends = [_number(row.get(f"{name}_ci_{end}")) for end in ("low", "high")]
    if not name.endswith("mean") or None in ends or ends[0] == ends[1]:
        return text
    return f"{text} [{', '.join(percent(end, 2).removesuffix(' %') for end in ends)}]"


def statistic_alone(row: Record, name: str) -> str:
    """Return a statistic of a gap, from and to where it is not known."""
    low, high = (_number(row[f"{name}_{end}"]) for end in ("low", "high"))
    return interval_text(low, high)


def interval_text(low: float | None, high: float | None) -> str:
    """Return a gap in percent: one number where it is known, else from and to."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return NO_NUMBER
    if low == high:
        return percent(low)
    least = percent(low) if math.isinf(high) else percent(low).removesuffix(" %")
    return f"{least} to {percent(high)}"


def _number(value: object) -> float | None:
    return None if value is None else math.inf if value == INFINITE else float(str(value))


def percent(share: float | None, digits: int = 3) -> str:
    """Return a share as a percentage; `NO_NUMBER` for none, ``∞`` for infinity."""
    if share is None or math.isnan(share):
        return NO_NUMBER
    number = 100 * share
    if math.isinf(number):
        return "∞"
    return f"{number:,.0f} %" if abs(number) >= 10 ** (digits - 1) else f"{number:.{digits}g} %"
