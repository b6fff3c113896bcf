"""The saving of a rebalance: the current cost, and the best cost with at most K moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import TaskMove, running_placement
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve


@dataclass(frozen=True, slots=True)
class TermSaving:
    """One term of the objective, in the user's unit.

    Parameters
    ----------
    term
        Its name.
    now
        Its value as the tasks run now.
    best
        In the best placement found with at most K moves; ``None`` where none was found.
    bound
        No placement with at most K moves has less, given the best of the terms before;
        ``None`` where nothing is proven.
    """

    term: str
    now: Fraction
    best: Fraction | None
    bound: Fraction | None


@dataclass(frozen=True, slots=True)
class Saving:
    """The saving by at most K moves.

    Parameters
    ----------
    status
        How the search ended; see `Status`.
    terms
        In the order of the objective.
    violations
        The hard rules that the current placement breaks.
    moves
        The running tasks that the best placement moves; empty where none was found.
    max_moves
        K.
    """

    status: Status
    terms: tuple[TermSaving, ...]
    violations: tuple[Violation, ...]
    moves: tuple[TaskMove, ...]
    max_moves: int

    @property
    def is_repair(self) -> bool:
        """Whether the current placement breaks hard rules, and one was found that keeps them."""
        return bool(self.violations) and all(term.best is not None for term in self.terms)

    @property
    def gain(self) -> Fraction:
        """The largest relative saving of a term, from 0 to 1.

        Only terms before the first that gets worse count, because the order is lexicographic. A
        repair gains 1; without a placement the gain is 0.
        """
        if self.is_repair:
            return Fraction(1)
        gain = Fraction(0)
        for term in self.terms:
            if term.best is None or term.best > term.now:
                break
            if term.now > 0:
                gain = max(gain, (term.now - term.best) / term.now)
        return gain


@dataclass(frozen=True, slots=True)
class Search:
    """How the best placement is searched for.

    Parameters
    ----------
    max_moves
        Most running tasks that may move, 0 or more.
    engine, time_limit_s, workers, seed
        As in `slotwise.solve`.
    """

    max_moves: int = 3
    engine: str = "auto"
    time_limit_s: float = 10.0
    workers: int = 1
    seed: int = 0


def saving(instance: Instance, search: Search) -> Saving:
    """Return the saving that a search from the current placement finds.

    Parameters
    ----------
    instance
        With `running`; a stricter limit of moves of its own remains in force.
    search
        See `Search`.

    Raises
    ------
    InputError
        For an instance without `running`.
    """
    if instance.running is None:
        raise InputError("is missing: what runs now is not known", field="running", has_value=False)
    allowed = min(search.max_moves, instance.objective.limits.get("moved", search.max_moves))
    limits = {**instance.objective.limits, "moved": allowed}
    limited = replace(instance, objective=replace(instance.objective, limits=limits))
    problem = compile_problem(limited)
    running = running_placement(problem)
    assert running is not None  # the instance has it
    now = judge(problem, running)
    result = solve(
        problem,
        engine=search.engine,
        time_limit_s=search.time_limit_s,
        workers=search.workers,
        seed=search.seed,
        hint=running if now.valid else None,
    )
    return Saving(
        status=result.status,
        terms=tuple(
            TermSaving(term.term, cost.value, term.value, term.bound)
            for term, cost in zip(result.objective, now.objective, strict=True)
        ),
        violations=now.violations,
        moves=result.moves,
        max_moves=allowed,
    )
