"""Whether one rack may hold everything: never denied where it does, and denied for its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_cases import LIMITS, racked

from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.result import Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.presolve.rack_cut import may_fit_one_rack, one_rack


def test_what_is_placed_in_one_rack_is_never_denied() -> None:
    rng = np.random.default_rng(5)
    placed = 0
    for _ in range(60):
        problem = compile_problem(racked(rng))
        rack = one_rack(problem).problem
        if EXHAUSTIVE.supports(rack) is not None:
            continue
        if EXHAUSTIVE.run(rack, LIMITS, None).status == Status.OPTIMAL:
            placed += 1
            assert may_fit_one_rack(problem)
    assert placed >= 10


@pytest.mark.parametrize(("offered", "fits"), [(0, False), (NO_LIMIT, True)])
def test_the_size_of_a_rack_decides(offered: int, fits: bool) -> None:
    rng = np.random.default_rng(6)
    problem = next(p for p in iter(lambda: compile_problem(racked(rng)), None) if p.demand.any())
    capacity = np.full_like(problem.capacity, offered)
    hard = np.ones_like(problem.hard)
    assert may_fit_one_rack(replace(problem, capacity=capacity, hard=hard)) is fits
    assert may_fit_one_rack(replace(problem, capacity=capacity, hard=~hard))
