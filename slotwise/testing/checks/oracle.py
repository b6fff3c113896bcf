"""The optimum of small instances, by the exact engines in this process."""

from __future__ import annotations

from dataclasses import dataclass, field

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED
from slotwise.models.instance_file import instance_hash
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result, Status
from slotwise.solver.solve import solve
from slotwise.testing.checks.finding import NotJudgedError

MOST_TASKS = 8
"""Instances of more tasks are not given to ``exhaustive``, which would enumerate for long."""

EXHAUSTIVE_S, AUTO_S = 1.0, 2.0
"""Wall-clock limits; what neither engine settles is not judged."""

NOT_PROVEN = f"no optimum is proven within {EXHAUSTIVE_S + AUTO_S:g} s"


@dataclass(frozen=True, slots=True)
class Optimum:
    """A proven answer: value of each term in integer steps, and whether all tasks are placed.

    `values` is ``None`` where the instance is proven infeasible.
    """

    values: tuple[int, ...] | None
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Oracle:
    """Proves optima, and remembers them."""

    _known: dict[str, Optimum | None] = field(default_factory=dict)

    def optimum(self, instance: Instance) -> Optimum:
        """Return the proven optimum.

        Raises
        ------
        NotJudgedError
            When none is proven in time.
        """
        key = instance_hash(instance)
        if key not in self._known:
            self._known[key] = _optimum(compile_problem(instance))
        found = self._known[key]
        if found is None:
            raise NotJudgedError(NOT_PROVEN)
        return found


def _optimum(problem: Problem) -> Optimum | None:
    if problem.task_count <= MOST_TASKS:
        found = _proven(solve(problem, engine="exhaustive", time_limit_s=EXHAUSTIVE_S))
        if found is not None:
            return found
    return _proven(solve(problem, time_limit_s=AUTO_S))


def _proven(result: Result) -> Optimum | None:
    if result.status is Status.INFEASIBLE:
        return Optimum(None, is_complete=False)
    if result.status is not Status.OPTIMAL or result.verdict is None or result.placement is None:
        return None
    return Optimum(result.verdict.scaled, UNPLACED not in result.placement.nodes)
