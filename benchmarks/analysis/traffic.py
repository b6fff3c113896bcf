"""Where the traffic of placements runs: inside workers, between them, between nodes and racks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.analysis.gaps import values_of
from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.models.explanation.network_split import LEVELS
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem

Shares = tuple[float, float, float, float]
"""Shares of an instance's traffic by the lowest place that holds both tasks, see `LEVELS`."""


@dataclass(frozen=True, slots=True)
class MethodTraffic:
    """Where the traffic of a method's placements runs, beside the exact engine's.

    Parameters
    ----------
    method
        As in the rows.
    cases
        Cases that both placed and in which tasks communicate.
    shares, exact_shares
        Mean of the shares of the method and of the exact engine, both over `cases`.
    """

    method: str
    cases: int
    shares: Shares
    exact_shares: Shares


def traffic(
    rows: Iterable[Row],
    problem_of: Callable[[str], Problem | None],
    placement_of: Callable[[Row], Placement],
) -> tuple[MethodTraffic, ...]:
    """Return the traffic of each method that has a valid placement beside one of the exact engine.

    Parameters
    ----------
    rows
        The last row of each case and method, see `cases.latest`.
    problem_of
        From an instance hash to the problem; ``None`` = it is not known, the case is left out.
    placement_of
        The placement of a row that has one.
    """
    by_case: dict[Case, list[Row]] = defaultdict(list)
    for row in rows:
        if row["placement"] and values_of(row) is not None:
            by_case[case_of(row)].append(row)
    found: dict[str, list[tuple[Shares, Shares]]] = defaultdict(list)
    for case, some in by_case.items():
        exact = [row for row in some if row["kind"] == Kind.EXACT]
        problem = problem_of(case[0]) if exact and len(some) > len(exact) else None
        if problem is None:
            continue
        beside = _shares(problem, placement_of(exact[0]))
        for row in some:
            mine = None if row["kind"] == Kind.EXACT else _shares(problem, placement_of(row))
            if mine is not None and beside is not None:
                found[row["method"]].append((mine, beside))
    return tuple(_mean(method, pairs) for method, pairs in sorted(found.items()))


def _shares(problem: Problem, placement: Placement) -> Shares | None:
    """Return the shares of a placement; ``None`` where nothing communicates."""
    levels = [float(flow) for flow in judge(problem, placement).flow_by_level]
    total = sum(levels)
    if not total:
        return None
    worker, node, rack, cluster = (flow / total for flow in levels)
    return worker, node, rack, cluster


def _mean(method: str, pairs: Sequence[tuple[Shares, Shares]]) -> MethodTraffic:
    mine, exact = (_means([pair[side] for pair in pairs]) for side in (0, 1))
    return MethodTraffic(method, len(pairs), mine, exact)


def _means(shares: Sequence[Shares]) -> Shares:
    worker, node, rack, cluster = (mean(level) for level in zip(*shares, strict=True))
    return worker, node, rack, cluster


def costly(one: Shares) -> float:
    """Return the share that leaves its node."""
    return one[LEVELS.index("rack")] + one[LEVELS.index("cluster")]
