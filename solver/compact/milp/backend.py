"""The question to HiGHS and its reply."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.compact.milp.builder import Column, Expr, MilpBuilder, coefficients

RELATIVE_MARGIN = 1e-9
MARGIN = 1e-6
INEXACT_FROM = 10**7
MOST_TRUSTED_SUM = 2**35
"""Largest sum for which bounds are trusted: at 9.5e10 HiGHS was found to cut off solutions."""


class Ended(Enum):
    """How a search ended."""

    COMPLETE = auto()
    """Nothing is better than the last solution by more than the requested gap."""
    INFEASIBLE = auto()
    """There is no solution."""
    STOPPED = auto()
    """At a limit; solutions and the bound count."""
    TROUBLE = auto()
    """Numerical trouble; solutions count if the judge accepts them, the bound does not."""
    FAILED = auto()
    """An end that cannot occur: an error in our code."""


Values = Callable[[Column], float]
"""Value of a column in a solution."""

Report = Callable[[Values | None, float | None], None]
"""Called with each new solution, and with each new bound."""


@dataclass(frozen=True, slots=True)
class Question:
    """A model, what to minimise and within which limits.

    Parameters
    ----------
    model
        Rows and columns.
    objective
        Sum of columns, without a constant, of whole numbers in lowest terms.
    start
        Columns and their values in a placement to start from.
    gap
        Largest distance of the final bound below the best solution.
    time_s, threads, seed
        Limits.
    presolve
        Whether the solver may simplify the model first.
    token
        Ends the search.
    below
        Accept only solutions whose objective is below this; ``None`` = accept any.
    any_serves
        Whether the objective is only limited, not minimised.
    """

    model: MilpBuilder
    objective: Expr
    start: tuple[tuple[Column, int], ...]
    gap: float
    time_s: float
    threads: int
    seed: int
    presolve: bool
    token: CancellationToken
    below: float | None = None
    any_serves: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """How it ended; a lower bound of the objective, ``None`` = none; whether Ctrl-C ended it."""

    ended: Ended
    bound: float | None
    interrupted: bool


def whole_bound(bound: float | None) -> int | None:
    """Return the least whole number that a bound in floating point proves.

    A bound is trusted to `MARGIN`, and to `RELATIVE_MARGIN` of its size: far above what the
    solvers' tolerances let through, and less than one step of an objective below 1e9. Beyond,
    bounds get weaker, never wrong.
    """
    if bound is None or not math.isfinite(bound):
        return None
    return math.ceil(bound - max(MARGIN, RELATIVE_MARGIN * abs(bound)))


def just_above(whole: int) -> float:
    """Return a number between a whole number and the next, for a limit that rounding cannot blur.

    Only where sums are so large that they are less exact than the solvers' tolerances.
    """
    return float(whole) if abs(whole) < INEXACT_FROM else whole + 0.5


def largest_sum(objective: Expr) -> float:
    """Return the largest size, of either sign, that a sum of columns can have."""
    ends = [weight * column.upBound for column, weight in coefficients(objective).items()]
    return float(max(sum(e for e in ends if e > 0), -sum(e for e in ends if e < 0)))


def sufficient_gap(objective: Expr) -> float:
    """Return a gap at which `whole_bound` still proves the optimum of a whole objective.

    It is below one step by a little more than twice the margin of `whole_bound`.
    """
    return max(0.0, 0.9 - 2 * RELATIVE_MARGIN * largest_sum(objective))
