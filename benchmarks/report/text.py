"""What the report's page shows, as text: the template only arranges it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of, infeasible_instances, is_right_refusal
from slotwise.benchmarks.analysis.gaps import Gap, row_gap
from slotwise.benchmarks.analysis.measures import (
    RIGHTLY_REFUSED,
    Spread,
    details_of,
    reason_of,
    seconds_of,
)
from slotwise.benchmarks.analysis.method_summary import MethodSummary
from slotwise.benchmarks.grading.rows import Kind, Row, RunStatus
from slotwise.benchmarks.report.viewer.placement_view import TIMES
from slotwise.models.number_text import short_text

DASH = "\N{EN DASH}"
"""Stands where there is no number."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one method did on one case."""

    method: str
    text: str
    gap: str
    seconds: str
    detail: str
    failed: bool
    optimal: bool


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case of the table of instances."""

    case: Case
    name: str
    size: str
    tightness: str
    value: str
    bound: str
    status: str
    seconds: str
    cells: tuple[Cell, ...]

    @property
    def anchor(self) -> str:
        """Id of its drawings on the page."""
        return f"case-{self.case[0][-12:]}-{self.case[1]}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A run without a valid placement, where it is not proven that there is none."""

    instance: str
    method: str
    status: str
    details: tuple[str, ...]


def number(value: float | Fraction | str | None) -> str:
    """Return a number short; a dash where there is none."""
    return short_text(None if value is None else Fraction(value), missing=DASH, grouped=True)


def short(value: float | None) -> str:
    """Return a mean with three digits; a dash where there is none."""
    return DASH if value is None else f"{value:,.1f}" if value >= 100 else f"{value:.3g}"


def percent(share: float | None) -> str:
    """Return a share in percent; a dash where there is none."""
    return DASH if share is None else f"{100 * share:.3g} %"


def seconds_text(seconds: float | None) -> str:
    """Return seconds with three digits; a dash where there are none."""
    return DASH if seconds is None else f"{seconds:.3g}"


def spread_title(spread: Spread) -> str:
    """Return the spread in words, for a tooltip."""
    if not spread.count:
        return "no runs to measure"
    return (
        f"{spread.count} runs: mean {percent(spread.mean)}, median {percent(spread.median)}, "
        f"worst {percent(spread.most)}"
    )


def zero_text(summary: MethodSummary) -> str:
    """Return the absolute gaps where the optimum is 0."""
    parts = [
        f"{term} {short(spread.mean)} in {spread.count}"
        for term, spread in summary.zero_optimum.items()
    ]
    return "; ".join(parts) or DASH


def gap_text(gap: Gap | None) -> str:
    """Return a gap with the term it belongs to."""
    if gap is None:
        return "no bound"
    if gap.absolute == 0:
        return "optimal" if gap.to_optimum else "0 %"
    size = f"+{number(gap.absolute)}" if gap.relative is None else percent(gap.relative)
    return f"{size} {gap.term}" + ("" if gap.to_optimum else " to bound")


def objective_text(row: Row, key: Literal["value", "bound"] = "value") -> str:
    """Return values or bounds of all terms: ``overload 0, network 48``; empty = none has one."""
    terms = row["terms"] or ()
    if all(term[key] is None for term in terms):
        return ""
    return ", ".join(f"{term['term']} {number(term[key])}" for term in terms)


def case_lines(rows: Sequence[Row], aggregate: Aggregate) -> tuple[CaseLine, ...]:
    """Return one line per case, largest instance last, methods in the summary's order."""
    order = {(s.kind, s.method): i for i, s in enumerate(aggregate.methods)}
    by_case: dict[Case, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: order[row["kind"], row["method"]]):
        by_case[case_of(row)].append(row)
    impossible = infeasible_instances(rows)
    lines = [_line(case, some, aggregate, impossible) for case, some in by_case.items()]
    return tuple(sorted(lines, key=lambda line: (line.name, line.case)))


def _line(
    case: Case, rows: Sequence[Row], aggregate: Aggregate, impossible: frozenset[str]
) -> CaseLine:
    first = rows[0]
    exact = next((row for row in rows if row["kind"] == Kind.EXACT), None)
    cells = {
        row["method"]: _cell(row, aggregate, impossible)
        for row in rows
        if row["kind"] != Kind.EXACT
    }
    return CaseLine(
        case=case,
        name=first["instance"] if case[1] == 0 else f"{first['instance']} (seed {case[1]})",
        size=f"{first['tasks']} {TIMES} {first['nodes']}"
        if first["nodes"]
        else f"{first['tasks']}",
        tightness=_tightness_text(first),
        value=DASH if exact is None else objective_text(exact) or DASH,
        bound=DASH if exact is None else objective_text(exact, "bound") or DASH,
        status="not solved" if exact is None else exact["status"],
        seconds=DASH if exact is None else seconds_text(seconds_of(exact)),
        cells=tuple(
            cells.get(s.method, Cell(s.method, "not run", "", "", "", False, False))
            for s in aggregate.methods
            if s.kind != Kind.EXACT
        ),
    )


def _tightness_text(row: Row) -> str:
    """Return the tightness of a row's instance; a dash for one without nodes."""
    if not row["nodes"]:
        return DASH
    return short(row["tightness"]) if row["tightness"] < 1e9 else "∞"


def _cell(row: Row, aggregate: Aggregate, impossible: frozenset[str]) -> Cell:
    reason = reason_of(row)
    right = is_right_refusal(row, impossible)
    status = RIGHTLY_REFUSED if right else row["status"]
    gap = row_gap(row, aggregate.references)
    return Cell(
        method=row["method"],
        text=status if reason else objective_text(row),
        gap="" if reason else gap_text(gap),
        seconds=seconds_text(seconds_of(row)),
        detail="; ".join(details_of(row)),
        failed=reason is not None and not right,
        optimal=gap is not None and gap.absolute == 0 and gap.to_optimum,
    )


def failures(rows: Sequence[Row]) -> tuple[Failure, ...]:
    """Return every run without a valid placement.

    Where it is proven that there is none, neither the proof nor a refusal is a failure.
    """
    impossible = infeasible_instances(rows)
    found = [
        Failure(
            row["instance"] + (" (infeasible)" if row["instance_hash"] in impossible else ""),
            row["method"],
            row["status"],
            details_of(row),
        )
        for row in rows
        if reason_of(row) is not None
        and row["status"] != RunStatus.INFEASIBLE
        and not is_right_refusal(row, impossible)
    ]
    return tuple(sorted(found, key=lambda f: (f.method, f.status, f.instance)))


def exact_title(row: Row) -> str:
    """Return what a drawing of the exact engine's placement is."""
    if row["status"] == RunStatus.OPTIMAL:
        return "proven optimum"
    return "best found by the exact engine (not proven)"
