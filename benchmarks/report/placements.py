"""The placements on the page: for each case that has room, the viewer with all its placements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.analysis.row_placement import placement_of
from slotwise.benchmarks.grading.rows import Kind, Row, RunStatus
from slotwise.benchmarks.report.case_table import CaseLine
from slotwise.benchmarks.report.text import exact_title, objective_text
from slotwise.benchmarks.report.viewer.shown import Shown
from slotwise.benchmarks.report.viewer.view import view
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

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
    """Return the viewers of the cases that have placements, as many as the page holds.

    Where that is not all, the cases of `lines` with the most failures and largest gaps come first.
    """
    by_case: dict[Case, list[Row]] = {line.case: [] for line in lines}
    for row in rows:
        if row["placement"] and case_of(row) in by_case:
            by_case[case_of(row)].append(row)
    found: list[PlacedCase] = []
    left = MOST_CHARACTERS
    for line in sorted(lines, key=lambda one: one.badness, reverse=True):
        if len(found) == MOST_CASES:
            break
        problem = problem_of(line.case[0]) if by_case[line.case] else None
        if problem is None:
            continue
        viewer = view(problem, _shown(problem, line, by_case[line.case], label))
        left -= len(viewer)
        if left < 0:
            break
        found.append(PlacedCase(line, viewer))
    return tuple(sorted(found, key=lambda one: (one.line.name, one.line.case)))


def _shown(
    problem: Problem, line: CaseLine, rows: Sequence[Row], label: Callable[[str], str]
) -> list[Shown]:
    """Return the exact engine's placement first, then the methods' in the order of the table."""
    order = {cell.method: i for i, cell in enumerate(line.cells)}
    rows = sorted(rows, key=lambda row: (row["kind"] != Kind.EXACT, order.get(row["method"], -1)))
    return [_one(row, placement_of(row, problem), line, label) for row in rows]


def _one(row: Row, placement: Placement, line: CaseLine, label: Callable[[str], str]) -> Shown:
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
