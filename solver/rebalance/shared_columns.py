"""Engine ``configurations`` by its general way, with one list of columns for all points of a front.

The columns do not depend on how many moves there may be, only on the fact that they are limited.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.columns.model import ColumnModel, make_column_model
from slotwise.solver.column_generation.columns.search import search_columns
from slotwise.solver.column_generation.configurations.engine import KIND
from slotwise.solver.column_generation.engine import COLUMNS
from slotwise.solver.column_generation.params import COLUMNS_DEFAULTS
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome

PROOF = "node configurations listed once for all limits of moves, gap closed by CP-SAT"


@dataclass(slots=True)
class SharedColumns:
    """The columns of an instance, listed when they are first needed; ``None`` = not yet."""

    model: ColumnModel | None = None

    def engine(self) -> Engine:
        """Return the engine; it takes problems that differ in the limit of moves alone."""
        return replace(COLUMNS, run=self._run, parameters=None, with_parameters=None)

    @property
    def is_listed(self) -> bool:
        """Whether the columns are listed."""
        return self.model is not None

    def _run(
        self,
        problem: Problem,
        limits: Limits,
        hint: Placement | None,
        reporter: Reporter | None = None,
    ) -> Outcome:
        reporter = reporter or null_reporter(problem, COLUMNS.name)
        best = Incumbent(problem, reporter)
        deadline = best.started + limits.time_s
        if hint is not None:
            best.offer(hint)
        try:
            if self.model is None:
                self.model = make_column_model(problem, deadline, reporter.token)
            model = replace(self.model, problem=problem)
            left = replace(limits, time_s=max(deadline - time.perf_counter(), 0.0))
            search_columns(model, best, left, COLUMNS_DEFAULTS, reporter.token)
        except CancelledError:
            best.interrupted = reporter.token.is_cancelled
        best.kind = best.kind or KIND
        return best.outcome(PROOF)
