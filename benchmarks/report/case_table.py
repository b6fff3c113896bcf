"""The table of instances: one line per case, of many cases those where methods do worst."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of, infeasible_instances, is_right_refusal
from slotwise.benchmarks.analysis.gaps import Gap, row_gap
from slotwise.benchmarks.grading.rows import RIGHTLY_REFUSED, Kind, Row, details_of, reason_of
from slotwise.benchmarks.report.text import (
    DASH,
    case_name,
    excess_text,
    objective_text,
    plain_gap,
    plain_values,
    seconds_text,
    short,
    term_names,
)

MOST_LINES = 1000
"""Cases in the table; the page says how many there are, and where the others stand."""

ABSOLUTE, FAILED = 1e9, 1e18
"""Added to the sort key of a gap above an optimum of 0; the sort key of a failure."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one method did on one case.

    Parameters
    ----------
    method
        Its name.
    gap
        Distance from the optimum with its term, or how the run ended.
    values, seconds, detail
        The value of each term, the time, and what is said of a failure; empty = none.
    key
        What the column is sorted by, see `sort_key`.
    optimal
        Whether its value is the proven optimum.
    plain
        The same for files, see `text.plain_columns`.
    """

    method: str
    gap: str
    values: str
    seconds: str
    detail: str
    key: float | None
    optimal: bool
    plain: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.key == FAILED


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case of the table of instances; `states` are what the table can be filtered by.

    `values` and `bounds` are those of the exact engine in each term, for files.
    """

    case: Case
    name: str
    family: str
    tasks: int
    nodes: int | None
    tightness: str
    value: str
    bound: str
    values: tuple[str, ...]
    bounds: tuple[str, ...]
    status: str
    seconds: str
    states: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def anchor(self) -> str:
        """Id of its placements on the page."""
        return f"case-{self.case[0][-12:]}-{self.case[1]}"

    @property
    def badness(self) -> tuple[int, float]:
        """How many methods failed, and the largest gap of the others."""
        return _badness(cell.key for cell in self.cells)


STATES = {
    "proven": "optimum proven",
    "open": "optimum not proven",
    "infeasible": "proven infeasible",
    "failed": "a method failed",
    "missed": "no method is optimal",
    "attained": "a method is optimal",
}
"""What the table can be filtered by, and what that is called."""


def case_lines(
    rows: Sequence[Row], summary: Aggregate, most: int = MOST_LINES
) -> tuple[CaseLine, ...]:
    """Return lines of at most `most` cases, sorted by name, methods in the summary's order.

    Where there are more cases, those with most failures are chosen, then those with the largest
    gaps.
    """
    by_case: dict[Case, list[Row]] = defaultdict(list)
    for row in rows:
        by_case[case_of(row)].append(row)
    impossible = infeasible_instances(rows)
    if len(by_case) > most:
        worst = {
            case: _badness(
                sort_key(row, row_gap(row, summary.references), impossible)
                for row in some
                if row["kind"] != Kind.EXACT
            )
            for case, some in by_case.items()
        }
        chosen = sorted(by_case, key=lambda case: (worst[case], case), reverse=True)[:most]
        by_case = {case: by_case[case] for case in chosen}
    terms = term_names(rows)
    lines = [_line(case, some, summary, impossible, terms) for case, some in by_case.items()]
    return tuple(sorted(lines, key=lambda line: (line.name, line.case)))


def _badness(keys: Iterable[float | None]) -> tuple[int, float]:
    """Return `CaseLine.badness` from the keys of its cells."""
    found = [key for key in keys if key is not None]
    return found.count(FAILED), max((key for key in found if key != FAILED), default=0.0)


def sort_key(row: Row, gap: Gap | None, impossible: frozenset[str]) -> float | None:
    """Return what sorts runs, larger is worse; ``None`` = nothing to compare.

    First by excess, then those above an optimum of 0 by how far, then failures.
    """
    if reason_of(row) is not None:
        return None if is_right_refusal(row, impossible) else FAILED
    if gap is None:
        return None
    return ABSOLUTE + float(gap.absolute) if gap.excess is None else gap.excess


def _line(
    case: Case,
    rows: Sequence[Row],
    summary: Aggregate,
    impossible: frozenset[str],
    terms: Sequence[str],
) -> CaseLine:
    first = rows[0]
    exact = next((row for row in rows if row["kind"] == Kind.EXACT), None)
    by_method = {row["method"]: row for row in rows if row["kind"] != Kind.EXACT}
    cells = tuple(
        _cell(s.method, by_method.get(s.method), summary, impossible, terms)
        for s in summary.methods
        if s.kind != Kind.EXACT
    )
    return CaseLine(
        case=case,
        name=case_name(first),
        family=first["family"] or "",
        tasks=first["tasks"],
        nodes=first["nodes"] or None,
        tightness=_tightness_text(first),
        value=DASH if exact is None else objective_text(exact) or DASH,
        bound=DASH if exact is None else objective_text(exact, "bound") or DASH,
        values=("",) * len(terms) if exact is None else plain_values(exact, terms),
        bounds=("",) * len(terms) if exact is None else plain_values(exact, terms, "bound"),
        status="not solved" if exact is None else exact["status"],
        seconds=DASH if exact is None else seconds_text(exact["wall_s"]),
        states=tuple(_states(case, cells, summary, impossible)),
        cells=cells,
    )


def _states(
    case: Case, cells: Sequence[Cell], summary: Aggregate, impossible: frozenset[str]
) -> Sequence[str]:
    reference = summary.references.get(case[0])
    proven = reference is not None and reference.proven
    holds: Mapping[str, bool] = {
        "proven": proven,
        "open": not proven and case[0] not in impossible,
        "infeasible": case[0] in impossible,
        "failed": any(cell.failed for cell in cells),
        "missed": proven and not any(cell.optimal for cell in cells),
        "attained": any(cell.optimal for cell in cells),
    }
    return [state for state in STATES if holds[state]]


def _tightness_text(row: Row) -> str:
    """Return the tightness of a row's instance; a dash for one without nodes."""
    if not row["nodes"]:
        return DASH
    return short(row["tightness"]) if math.isfinite(row["tightness"]) else "∞"


def _cell(
    method: str,
    row: Row | None,
    summary: Aggregate,
    impossible: frozenset[str],
    terms: Sequence[str],
) -> Cell:
    none = ("",) * (3 + len(terms))
    if row is None:
        return Cell(method, "not run", "", "", "", None, False, ("not run", *none, ""))
    seconds, gap = seconds_text(row["wall_s"]), row_gap(row, summary.references)
    key = sort_key(row, gap, impossible)
    if reason_of(row) is not None:
        status = row["status"] if key == FAILED else RIGHTLY_REFUSED
        detail = "; ".join(details_of(row))
        return Cell(method, status, "", seconds, detail, key, False, (status, *none, seconds))
    return Cell(
        method=method,
        gap=excess_text(gap),
        values=objective_text(row),
        seconds=seconds,
        detail="",
        key=key,
        optimal=gap is not None and gap.absolute == 0 and gap.to_optimum,
        plain=(*plain_gap(gap), *plain_values(row, terms), seconds),
    )
