"""What an exact engine is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome


class Run(Protocol):
    """The search of an engine."""

    def __call__(
        self,
        problem: Problem,
        limits: Limits,
        hint: Placement | None,
        reporter: Reporter | None = None,
    ) -> Outcome:
        """Return the engine's claim.

        `hint` is a placement to start from. `reporter` is told of better placements and bounds
        while the search runs, and its token tells when to stop: the engine then returns what it
        has, or raises `CancelledError` where it has nothing. ``None`` = nobody wants to know, and
        nobody stops it before its limits.
        """
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """An exact method.

    Parameters
    ----------
    name
        As users write it.
    run
        ``(problem, limits, hint, reporter)`` -> claim, see `Run`.
    supports
        ``None``, or the reason why the engine does not take a problem.
    version
        Of the solver behind it.
    """

    name: str
    run: Run
    supports: Callable[[Problem], str | None]
    version: Callable[[], str]
