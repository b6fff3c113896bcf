"""Engine choice ``auto``: cheap reductions, node configurations where they apply, then CP-SAT."""

from __future__ import annotations

import time
from dataclasses import replace

from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.configurations import CONFIGURATIONS
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.engine import Engine, NotTakenError
from slotwise.solver.reduction import reduce_nodes
from slotwise.solver.result import Limits, Outcome, Proof, Status

SHARE_OF_CONFIGURATIONS = 0.5
"""Of the time limit; they end far earlier on what they can prove."""

Answer = tuple[tuple[Engine, ...], Outcome]
"""The engines that ran, and what they found and proved together."""


def run_auto(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Solve on the nodes that an optimal placement needs; see `reduce_nodes`."""
    reduction = reduce_nodes(problem)
    projected = None if hint is None else reduction.project(hint)
    engines, outcome = _run_in_turn(reduction.problem, limits, projected)
    if outcome.placement is not None:
        outcome = replace(outcome, placement=reduction.restore(outcome.placement))
    if hint is not None and projected is None and judge(problem, hint).valid:
        outcome = together(outcome, _only_hint(problem, hint))
    return engines, outcome


def _run_in_turn(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Run the engines one after the other, each from the incumbent of those before."""
    started = time.perf_counter()
    ran: tuple[Engine, ...] = ()
    known = Outcome(Status.UNKNOWN, None, None, (None,) * len(problem.terms), "")
    for engine, share in ((CONFIGURATIONS, SHARE_OF_CONFIGURATIONS), (CP_SAT, 1.0)):
        left = limits.time_s - (time.perf_counter() - started)
        if engine.supports(problem) is not None or (ran and left <= 0):
            continue
        try:
            found = engine.run(
                problem, replace(limits, time_s=max(left, 0.0) * share), known.placement or hint
            )
        except NotTakenError:
            continue
        proof = Proof(engine.name, engine.version(), found.bounds, found.proof)
        ran, known = (*ran, engine), together(known, replace(found, proofs=(proof,)))
        if known.interrupted or known.status in (Status.OPTIMAL, Status.INFEASIBLE):
            break
    if hint is not None and known.placement is None and judge(problem, hint).valid:
        known = together(known, _only_hint(problem, hint))
    return ran or (CP_SAT,), known


def _only_hint(problem: Problem, hint: Placement) -> Outcome:
    values = judge(problem, hint).scaled
    return Outcome(Status.FEASIBLE, hint, values, (None,) * len(values), "")


def together(first: Outcome, second: Outcome) -> Outcome:
    """Return the better placement of two outcomes, and the better bound of each term.

    A bound holds given that the terms before it are at their best, in both outcomes alike; it
    counts up to the first term that is not proven.
    """
    for one in (first, second):
        if one.status == Status.INFEASIBLE:
            return one
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
        proofs=(*first.proofs, *second.proofs),
    )


def _bounds(
    first: Outcome, second: Outcome, values: tuple[int, ...] | None
) -> tuple[int | None, ...]:
    bounds: list[int | None] = []
    for pair in zip(first.bounds, second.bounds, strict=True):
        reached = values is not None and tuple(bounds) == values[: len(bounds)]
        known = [bound for bound in pair if bound is not None]
        bounds.append(max(known) if known and (not bounds or reached) else None)
    return tuple(bounds)
