"""Where the traffic of placements runs: shares by the lowest place that holds both tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.analysis.row_placement import placement_of
from slotwise.benchmarks.grading.rows import SUCCEEDED, Kind, Row, RunStatus
from slotwise.benchmarks.report.figures.numbers.shared_cases import shared_cases
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem

ProblemOf = Callable[[str], Problem | None]
"""Hash of an instance -> its problem; ``None`` where it is not there. `Store.problem` is one."""

Shares = tuple[float, ...]
"""Of the flow inside a worker, between workers of a node, nodes of a rack, racks; they sum to 1."""

MOST_CASES = 100
"""Cases that are judged anew, evenly chosen; reading and judging one takes some milliseconds."""

MOST_TASKS = 5000
"""Larger instances are left out: they would take the seconds that all others take together."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Where the traffic of the compared methods runs, all on the same cases.

    Parameters
    ----------
    cases, common
        Cases that were judged, of those that all compared methods and the exact engine place.
    is_proven
        Whether the exact engine's placements are proven optima in all these cases.
    exact
        Mean shares of the exact engine's placements.
    methods
        Method -> mean shares, least traffic across racks and nodes first.
    left_out
        Methods with too few placements to be compared.
    """

    cases: int
    common: int
    is_proven: bool
    exact: Shares
    methods: tuple[tuple[str, Shares], ...]
    left_out: tuple[str, ...]


def traffic(rows: Iterable[Row], problem_of: ProblemOf) -> Traffic | None:
    """Return the traffic by level; ``None`` where no case has placements of all to compare."""
    placed: dict[str, dict[Case, Row]] = defaultdict(dict)
    exact: dict[Case, Row] = {}
    for row in rows:
        if row["placement"] and row["nodes"] and row["status"] in SUCCEEDED:
            if row["kind"] != Kind.EXACT:
                placed[row["method"]][case_of(row)] = row
            elif exact.setdefault(case_of(row), row)["status"] != RunStatus.OPTIMAL:
                exact[case_of(row)] = row
    methods, common = shared_cases({m: found.keys() & exact.keys() for m, found in placed.items()})
    small = sorted(case for case in common if exact[case]["tasks"] <= MOST_TASKS)
    every = -(-len(small) // MOST_CASES) or 1
    chosen: list[Case] = []
    shares: list[list[Shares]] = []
    for case in small[::every]:
        problem = problem_of(case[0])
        if problem is None:
            continue
        runs = [exact[case], *(placed[method][case] for method in methods)]
        found = [some for row in runs if (some := _shares(problem, row)) is not None]
        if len(found) == len(runs):
            chosen.append(case)
            shares.append(found)
    if not chosen:
        return None
    best, *means = (_means(some) for some in zip(*shares, strict=True))
    return Traffic(
        cases=len(chosen),
        common=len(common),
        is_proven=all(exact[case]["status"] == RunStatus.OPTIMAL for case in chosen),
        exact=best,
        methods=tuple(
            sorted(zip(methods, means, strict=True), key=lambda one: (_far(one[1]), one[0]))
        ),
        left_out=tuple(method for method in placed if method not in methods),
    )


def _shares(problem: Problem, row: Row) -> Shares | None:
    """Return the shares of a row's placement; ``None`` where no tasks communicate."""
    levels = judge(problem, placement_of(row, problem)).flow_by_level
    total = sum(levels)
    return tuple(float(flow / total) for flow in levels) if total else None


def _means(shares: Sequence[Shares]) -> Shares:
    return tuple(fmean(level) for level in zip(*shares, strict=True))


def _far(shares: Shares) -> float:
    """Return the mean level: 0 = all inside workers, 3 = all across racks."""
    return sum(index * share for index, share in enumerate(shares))
