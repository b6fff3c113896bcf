"""Engine choice ``auto``: node configurations where the problem allows them, then CP-SAT."""

from __future__ import annotations

import time
from dataclasses import replace

from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.configurations import CONFIGURATIONS
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.engine import Engine, NotTakenError
from slotwise.solver.result import Limits, Outcome, Status

SHARE_OF_CONFIGURATIONS = 0.5
"""Of the time limit; they end far earlier on what they can prove."""


def run_auto(
    problem: Problem, limits: Limits, hint: Placement | None
) -> tuple[tuple[Engine, ...], Outcome]:
    """Return the engines that ran, and what they found and proved together."""
    started = time.perf_counter()
    if CONFIGURATIONS.supports(problem) is not None:
        return (CP_SAT,), CP_SAT.run(problem, limits, hint)
    try:
        share = replace(limits, time_s=limits.time_s * SHARE_OF_CONFIGURATIONS)
        first = CONFIGURATIONS.run(problem, share, hint)
    except NotTakenError:
        left = replace(limits, time_s=_left(limits, started))
        return (CP_SAT,), CP_SAT.run(problem, left, hint)
    if first.interrupted or first.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return (CONFIGURATIONS,), first
    left = replace(limits, time_s=_left(limits, started))
    second = CP_SAT.run(problem, left, first.placement or hint)
    return (CONFIGURATIONS, CP_SAT), together(first, second)


def _left(limits: Limits, started: float) -> float:
    return max(0.0, limits.time_s - (time.perf_counter() - started))


def together(first: Outcome, second: Outcome) -> Outcome:
    """Return the better placement of two outcomes, and the better bound of each term.

    A bound holds given that the terms before it are at their best, in both outcomes alike; it
    counts up to the first term that is not proven.
    """
    if Status.INFEASIBLE in (first.status, second.status):
        return first if first.status == Status.INFEASIBLE else second
    best = min((first, second), key=lambda o: (o.values is None, o.values or ()))
    bounds = _bounds(first, second, best.values)
    status = Status.UNKNOWN if best.values is None else Status.FEASIBLE
    if best.values is not None and best.values == bounds:
        status = Status.OPTIMAL
    return Outcome(
        status=status,
        placement=best.placement,
        values=best.values,
        bounds=bounds,
        proof="; ".join(dict.fromkeys(p for p in (first.proof, second.proof) if p)),
        deterministic_work=second.deterministic_work,
        trace=(*first.trace, *second.trace),
        interrupted=first.interrupted or second.interrupted,
    )


def _bounds(
    first: Outcome, second: Outcome, values: tuple[int, ...] | None
) -> tuple[int | None, ...]:
    bounds: list[int | None] = []
    for index, pair in enumerate(zip(first.bounds, second.bounds, strict=True)):
        proven_so_far = all(
            values is not None and bound == value
            for bound, value in zip(bounds, values or (), strict=False)
        )
        known = [bound for bound in pair if bound is not None]
        bounds.append(max(known) if known and (not index or proven_so_far) else None)
    return tuple(bounds)
