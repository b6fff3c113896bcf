"""What one engine found and proved in one run: the incumbent, the bounds, and when each came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Improvement, Outcome, Status


@dataclass(slots=True, eq=False)
class Incumbent:
    """The best placement and bounds of an engine, reported to its `reporter` as they come.

    It holds the engine's claim and does not check whether bounds contradict the placement: those
    who receive the claim do (`contradiction`, `SolveState`). What a search computes in its inner
    loop (costs of moves, values in the units of a model) stays there until it is offered here. Not
    safe to use from several threads; a solver calls back from one at a time while the engine waits.

    Parameters
    ----------
    problem
        The engine's own.
    reporter
        Receives every better placement and bound.
    kind
        The kind of the bounds; ``None`` = the engine's name.
    by_solver
        Whether the proofs rely on CP-SAT or a MIP solver.

    Attributes
    ----------
    placement, values
        The best so far and its value per term, in integer steps; ``None`` = none yet.
    bounds
        Of the first terms, each given that those before it are reached.
    infeasible
        Whether it is proven that there is no valid placement.
    interrupted
        Whether the search was asked to stop.
    proven_before
        Number of leading terms that other engines had proven before (`resume`).
    trace
        One entry for each better bound, and for each better placement one of the first term that
        is not proven by then.
    """

    problem: Problem
    reporter: Reporter
    kind: str | None = None
    by_solver: bool = False
    started: float = field(init=False)
    placement: Placement | None = field(init=False, default=None)
    values: tuple[int, ...] | None = field(init=False, default=None)
    bounds: tuple[int, ...] = field(init=False, default=())
    infeasible: bool = field(init=False, default=False)
    interrupted: bool = field(init=False, default=False)
    proven_before: int = field(init=False, default=0)
    trace: list[Improvement] = field(init=False, default_factory=list)

    @classmethod
    def from_outcome(cls, problem: Problem, claim: Outcome, reporter: Reporter) -> Incumbent:
        """Return an incumbent that starts from a claim that an engine has already reported."""
        incumbent = cls(problem, reporter, claim.bound_kind, claim.by_solver)
        incumbent.placement, incumbent.values = claim.placement, claim.values
        incumbent.bounds = _leading(claim.bounds)
        incumbent.bounds = incumbent.bounds[: len(incumbent.optima) + 1]
        incumbent.trace += claim.trace
        incumbent.proven_before = claim.proven_before
        return incumbent

    def __post_init__(self) -> None:
        """Start the clock, that of the reporter's token."""
        self.started = self.reporter.token.now()

    def resume(self) -> None:
        """Take over the leading terms proven by others, with the placement that attains them."""
        optima, placement = self.reporter.optima(), self.reporter.best()
        if optima and placement is not None:
            self.offer(placement)
        if self.values is not None and self.values[: len(optima)] == optima:
            self.bounds, self.proven_before = optima, len(optima)

    @property
    def seconds(self) -> float:
        """Time since the run began, on the clock of the reporter's token."""
        return self.reporter.token.now() - self.started

    @property
    def optima(self) -> tuple[int, ...]:
        """The values of the leading terms that are proven optimal."""
        pairs = zip(self.values or (), self.bounds, strict=False)
        return tuple(value for value, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to find or prove."""
        return self.infeasible or self.values == self.bounds

    def offer(self, placement: Placement) -> bool:
        """Keep a placement if it is valid and better; return whether it was."""
        verdict = self.reporter.judged(self.problem, placement)
        return verdict.valid and self._take(placement, verdict)

    def offer_solution(self, placement: Placement) -> bool:
        """Keep a solution of an exact model that is at least as good; return whether it is better.

        Raises
        ------
        InternalError
            When it is not a valid placement: then the model is wrong.
        """
        verdict = self.reporter.judged(self.problem, placement)
        if verdict.violations:
            raise InternalError(f"a solution of the model is invalid: {verdict.violations[0]}")
        if self.values == verdict.scaled:
            self.placement = placement
        return self._take(placement, verdict)

    def _take(self, placement: Placement, verdict: Verdict) -> bool:
        if self.values is not None and self.values <= verdict.scaled:
            return False
        self.keep(placement, verdict.scaled)
        self.reporter.offer(placement, verdict)
        return True

    def keep(self, placement: Placement, values: tuple[int, ...]) -> None:
        """Keep a better placement with the engine's own values, neither judged nor reported."""
        self.placement, self.values = placement, values
        self._note(min(len(self.optima), len(values) - 1))

    def prove(
        self, bounds: Sequence[int | None], kind: str | None = None, *, by_solver: bool = False
    ) -> None:
        """Raise the bounds, if these are better in the first term in which they differ.

        Each holds for placements that attain those before it; those after a ``None`` do not count.
        `kind` and `by_solver` describe the better bounds; by default they stay as they were.
        """
        better = _leading(bounds)
        if better <= self.bounds:
            return
        pairs = zip(better, self.bounds, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self.bounds = better
        self.kind = kind or self.kind
        self.by_solver |= by_solver
        for term in range(same, len(better)):
            self._note(term)
        self.reporter.prove(
            better, self.kind, by_solver=self.by_solver, proven_before=self.proven_before
        )

    def prove_infeasible(self) -> None:
        """Record that there is no valid placement; bounds mean nothing then."""
        self.infeasible, self.bounds = True, ()

    def _note(self, term: int) -> None:
        value = None if self.values is None else self.values[term]
        bound = self.bounds[term] if term < len(self.bounds) else None
        self.trace.append(Improvement(self.seconds, term, value, bound))

    def outcome(self, proof: str = "", deterministic_work: float | None = None) -> Outcome:
        """Return the claim; `proof` says how the bounds were proven.

        Bounds after the first term whose value is above its bound are left out.
        """
        status = Status.UNKNOWN if self.values is None else Status.FEASIBLE
        if self.is_settled:
            status = Status.INFEASIBLE if self.infeasible else Status.OPTIMAL
        bounds = self.bounds if self.values is None else self.bounds[: len(self.optima) + 1]
        return Outcome(
            status=status,
            placement=self.placement,
            values=self.values,
            bounds=(*bounds, *(None,) * (len(self.problem.terms) - len(bounds))),
            proof=proof,
            deterministic_work=deterministic_work,
            trace=tuple(self.trace),
            interrupted=self.interrupted,
            bound_kind=self.kind,
            by_solver=self.by_solver,
            proven_before=self.proven_before,
        )


def _leading(bounds: Sequence[int | None]) -> tuple[int, ...]:
    """Return the bounds before the first that is ``None``."""
    leading: list[int] = []
    for bound in bounds:
        if bound is None:
            break
        leading.append(bound)
    return tuple(leading)
