"""A first placement at once: the best of the published heuristics, judged."""

from __future__ import annotations

from slotwise.heuristics import HEURISTICS
from slotwise.heuristics.place import run_method
from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem


def first_placement(problem: Problem, seed: int) -> Placement | None:
    """Return the best valid placement of the heuristics; ``None`` where none finds one."""
    best: tuple[tuple[int, ...], Placement] | None = None
    for method in HEURISTICS.values():
        placement = run_method(problem, method, seed)
        if not isinstance(placement, Placement):
            continue
        verdict = judge(problem, placement)
        if verdict.valid and (best is None or verdict.scaled < best[0]):
            best = (verdict.scaled, placement)
    return None if best is None else best[1]
