"""Engine ``few-moves`` against exhaustive search, and where it does not apply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.few_moves.engine import FEW_MOVES
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=60.0)


def limited(instance: Instance, moves: int) -> Problem | None:
    """The instance with at most so many moves; ``None`` where the engine does not take it."""
    objective = replace(instance.objective, limits={"moved": moves})
    try:
        problem = compile_problem(replace(instance, objective=objective))
    except InputError:  # nothing runs
        return None
    return problem if FEW_MOVES.supports(problem) is None else None


def test_equals_exhaustive_search() -> None:
    rng = np.random.default_rng(3)
    statuses: list[Status] = []
    for _ in range(1500):
        problem = limited(tiny_instance(rng), int(rng.integers(0, 4)))
        if problem is None:
            continue
        truth = ENGINES["exhaustive"].run(problem, LIMITS, None)
        found = FEW_MOVES.run(problem, LIMITS, None)
        assert (found.status, found.values) == (truth.status, truth.values)
        statuses.append(found.status)
        if len(statuses) == 60:
            break
    assert {Status.OPTIMAL, Status.INFEASIBLE} <= set(statuses)
    assert len(statuses) == 60
