"""Which heuristics a solve starts with."""

from __future__ import annotations

from slotwise.heuristics.ours import HEURISTICS
from slotwise.solver.baseline import FIRST, STARTS


def test_a_solve_does_not_depend_on_optional_partitioners() -> None:
    assert STARTS[: len(FIRST)] == FIRST
    assert {"metis", "kahip", "ldg", "stromax-global"} <= HEURISTICS.keys() - set(STARTS)
    assert {"round-robin", "ras-generic", "r-storm-1.0"} < set(STARTS) < HEURISTICS.keys()
