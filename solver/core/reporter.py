"""How an engine tells what it finds and proves, through the reductions it works on.

A `Reporter` carries placements back to the problem that was asked, and hands them with the bounds
to the `SolveState` of the solve. It has the engine's token, too: when to stop.
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
    """Another problem made of one, with placements carried over."""

    def restore(self, placement: Placement) -> Placement:
        """Return a placement of the other problem as one of the first."""
        ...

    def project(self, placement: Placement) -> Placement | None:
        """Return a placement of the first problem as one of the other; ``None`` if it is none."""
        ...


@dataclass(frozen=True, slots=True)
class Reporter:
    """One engine's view of `SolveState`, through the reductions of the problem that it works on.

    Parameters
    ----------
    known
        What it tells.
    engine
        Its name.
    reductions
        From the problem that was asked to the engine's own.
    bounds_hold
        Whether bounds of the engine's problem are bounds of the one that was asked.
    token
        When the engine must stop, and what memory it has.
    same_optimum
        Whether the engine's problem has the same optimum as the one that was asked, in every term.
    """

    known: SolveState
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
        """Return the view from a problem made of this one's."""
        return replace(
            self,
            reductions=(*self.reductions, reduction),
            bounds_hold=self.bounds_hold and bounds_hold,
            same_optimum=self.same_optimum and same_optimum,
        )

    def offer(self, placement: Placement, verdict: Verdict | None = None) -> bool:
        """Tell of a placement; return whether it is the new best.

        `verdict` is the judge's on the engine's problem, where it was asked already: where that is
        a reduction the restored placement is judged, too.
        """
        for reduction in reversed(self.reductions):
            placement = reduction.restore(placement)
        if self.reductions or (verdict and verdict.problem is not self.known.problem):
            verdict = None
        return self.known.offer(placement, self.engine, verdict)

    def judged(self, problem: Problem, placement: Placement) -> Verdict:
        """Return what the judge says of a placement of the engine's own problem."""
        if problem is self.known.problem:
            return self.known.judged(placement)
        return judge(problem, placement)

    def prove(
        self,
        bounds: Bounds,
        kind: str | None = None,
        *,
        by_solver: bool = False,
        given: int = 0,
    ) -> None:
        """Tell of bounds, each given that those before it are reached; the first may be None.

        The first `given` are not the engine's: others had proven them.
        """
        if self.bounds_hold:
            kind = self.engine if kind is None else kind
            self.known.prove(bounds, self.engine, kind, by_solver=by_solver, given=given)

    def optima(self) -> tuple[int, ...]:
        """Return the values of the leading terms that are proven, and optimal here, too."""
        return self.known.optima if self.same_optimum else ()

    def note(self, what: str) -> None:
        """Note, for people, what the engine leaves out; once."""
        line = f"{self.engine}: {what}"
        if line not in self.known.notes:
            self.known.notes.append(line)

    def best(self) -> Placement | None:
        """Return the best placement as one of the engine's problem; ``None`` if it is none."""
        best = self.known.best
        return self.project(None if best is None else best.placement)

    def project(self, placement: Placement | None) -> Placement | None:
        """Return a placement of the problem that was asked as one of the engine's, if it is one."""
        for reduction in self.reductions:
            placement = None if placement is None else reduction.project(placement)
        return placement


def null_reporter(problem: Problem, engine: str, token: RunToken | None = None) -> Reporter:
    """Return a reporter whose state nobody reads; ``None`` = a token that nobody cancels."""
    return Reporter(SolveState(problem), engine, token=RunToken() if token is None else token)


def report_outcome(reporter: Reporter, outcome: Outcome) -> None:
    """Tell what an engine found and proved, for engines that do not tell while they run."""
    if outcome.placement is not None:
        reporter.offer(outcome.placement)
    reporter.prove(
        outcome.bounds, outcome.bound_kind, by_solver=outcome.by_solver, given=outcome.given
    )
    if outcome.status == Status.INFEASIBLE and reporter.bounds_hold:
        reporter.known.prove_infeasible(reporter.engine, by_solver=outcome.by_solver)
