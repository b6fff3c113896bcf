"""The best placement of a search over columns, told to the `Reporter` with each bound."""

from __future__ import annotations

import time
from collections.abc import Sequence

from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.configurations.engine import KIND
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Improvement, Outcome


class Incumbent:
    """The best placement so far, and the trace."""

    def __init__(self, problem: Problem, known: Outcome, reporter: Reporter) -> None:
        self._problem, self._reporter = problem, reporter
        self._started = time.perf_counter()
        self.placement, self.values = known.placement, known.values
        self.trace = list(known.trace)

    def offer(self, placement: Placement, term: int) -> tuple[int, ...]:
        """Keep a placement if it is better; return the best values."""
        verdict = judge(self._problem, placement)
        if verdict.violations:
            raise InternalError(
                f"a solution of the column model is no placement: {verdict.violations[0]}"
            )
        if self.values is None or verdict.scaled < self.values:
            self.placement, self.values = placement, verdict.scaled
            self._note(term, verdict.scaled[term], None)
            self._reporter.offer(placement)
        return self.values

    def prove(self, bounds: Sequence[int]) -> None:
        """Tell of bounds: that of the last term holds where the others are reached."""
        self._note(len(bounds) - 1, None, bounds[-1])
        self._reporter.prove(bounds, KIND, by_solver=True)

    def _note(self, term: int, value: int | None, bound: int | None) -> None:
        seconds = time.perf_counter() - self._started
        self.trace.append(Improvement(seconds, term, value, bound))
