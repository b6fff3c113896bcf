"""How an engine reports what it finds and proves, through the reductions it works on.

A `Reporter` maps placements back to the original problem and passes them, with the bounds, to the
`SolveState` of the solve. It also has the token that says when the engine must stop.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.core.solve_state import Bounds, SolveState


class ProblemMapping(Protocol):
    """A problem derived from an original one, with a map of placements both ways."""

    def restore(self, placement: Placement) -> Placement:
        """Return a placement of the derived problem as one of the original."""
        ...

    def project(self, placement: Placement) -> Placement | None:
        """Return an original placement as one of the derived problem; ``None`` if it is not."""
        ...


@dataclass(frozen=True, slots=True)
class Reporter:
    """One engine's view of `SolveState`, through the reductions of the problem that it works on.

    Parameters
    ----------
    state
        The state to which it reports.
    engine
        Its name.
    reductions
        From the original problem to the engine's own.
    bounds_hold
        Whether bounds of the engine's problem are bounds of the original one.
    token
        Says when the engine must stop, and how much memory it has.
    same_optimum
        Whether the engine's problem has the same optimum as the original one, in every term.
    """

    state: SolveState
    engine: str
    reductions: tuple[ProblemMapping, ...] = ()
    bounds_hold: bool = True
    token: RunToken = field(default_factory=RunToken)
    same_optimum: bool = True

    def stopped_by(self, token: RunToken) -> Reporter:
        """Return the same view for an engine that `token` stops."""
        return replace(self, token=token)

    def by(self, engine: str) -> Reporter:
        """Return the same view for another engine."""
        return replace(self, engine=engine)

    def on(
        self, reduction: ProblemMapping, *, bounds_hold: bool = True, same_optimum: bool = False
    ) -> Reporter:
        """Return the view from a problem derived from this one's."""
        return replace(
            self,
            reductions=(*self.reductions, reduction),
            bounds_hold=self.bounds_hold and bounds_hold,
            same_optimum=self.same_optimum and same_optimum,
        )

    def offer(self, placement: Placement, verdict: Verdict | None = None) -> bool:
        """Report a placement; return whether it is the new best.

        `verdict` is the judge's on the engine's problem, if there is one already; where that
        problem is a reduction, the restored placement is judged, too.
        """
        for reduction in reversed(self.reductions):
            placement = reduction.restore(placement)
        if self.reductions or (verdict and verdict.problem is not self.state.problem):
            verdict = None
        return self.state.offer(placement, self.engine, verdict)

    def judged(self, problem: Problem, placement: Placement) -> Verdict:
        """Return the verdict on a placement of the engine's own problem."""
        if problem is self.state.problem:
            return self.state.judged(placement)
        return judge(problem, placement)

    def prove(
        self,
        bounds: Bounds,
        kind: str | None = None,
        *,
        by_solver: bool = False,
        proven_before: int = 0,
    ) -> None:
        """Report bounds, each for placements that attain those before it; the first may be None.

        The first `proven_before` are not the engine's own: other engines had proven them.
        """
        if self.bounds_hold:
            kind = self.engine if kind is None else kind
            self.state.prove(
                bounds, self.engine, kind, by_solver=by_solver, proven_before=proven_before
            )

    def optima(self) -> tuple[int, ...]:
        """Return the proven optima of the leading terms that are also optima of this problem."""
        return self.state.optima if self.same_optimum else ()

    def note(self, what: str) -> None:
        """Note, for people, what the engine leaves out; once."""
        line = f"{self.engine}: {what}"
        if line not in self.state.notes:
            self.state.notes.append(line)

    def best(self) -> Placement | None:
        """Return the best placement as one of the engine's problem; ``None`` if it is not."""
        best = self.state.best
        return self.project(None if best is None else best.placement)

    def project(self, placement: Placement | None) -> Placement | None:
        """Return a placement of the original problem as one of the engine's, if it is one."""
        for reduction in self.reductions:
            placement = None if placement is None else reduction.project(placement)
        return placement


def null_reporter(problem: Problem, engine: str, token: RunToken | None = None) -> Reporter:
    """Return a reporter to a state of its own; `token` is ``None`` = never cancelled."""
    return Reporter(SolveState(problem), engine, token=RunToken() if token is None else token)


def report_outcome(reporter: Reporter, outcome: Outcome) -> None:
    """Report an engine's outcome, for engines that do not report while they run."""
    if outcome.placement is not None:
        reporter.offer(outcome.placement)
    reporter.prove(
        outcome.bounds,
        outcome.bound_kind,
        by_solver=outcome.by_solver,
        proven_before=outcome.proven_before,
    )
    if outcome.status == Status.INFEASIBLE and reporter.bounds_hold:
        reporter.state.prove_infeasible(reporter.engine, by_solver=outcome.by_solver)
