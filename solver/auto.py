"""Engine choice ``auto``: cheap reductions, node configurations where they apply, then CP-SAT."""

from __future__ import annotations

import time
from dataclasses import replace

from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.configurations import CONFIGURATIONS
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.engine import Engine, NotTakenError
from slotwise.solver.matrix_auto import Turns, matrix_turns
from slotwise.solver.one_node import as_one_node
from slotwise.solver.parts import flow_parts, sum_of_parts
from slotwise.solver.rack_cut import over_racks
from slotwise.solver.racks import all_in_one_rack, one_rack, racks_matter
from slotwise.solver.reduction import reduce_nodes
from slotwise.solver.result import Limits, Outcome, Proof, Status
from slotwise.solver.sub_problem import SubProblem

SHARE_OF_CONFIGURATIONS = 0.8
"""Of the time limit; they end far earlier on what they can prove."""

SHARE_OF_PARTS = 0.9
"""Of the time left, for the largest of the parts that no flow connects."""

SHARE_OF_A_RACK = 0.4
"""Of the time limit, for each of the two problems that enclose one with several racks."""

Answer = tuple[tuple[Engine, ...], Outcome]
"""The engines that ran, and what they found and proved together."""


def run_auto(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Solve the parts that no flow connects one by one, else the whole; then what is simple."""
    started = time.perf_counter()
    ran: tuple[Engine, ...] = ()
    known = _of_placement(problem, hint)
    parts = flow_parts(problem)
    if len(parts) > 1:
        ran, known = _run_parts(problem, parts, limits, hint)
    left = limits.time_s - (time.perf_counter() - started)
    if not _is_settled(known) and (not ran or left > 0):
        share = replace(limits, time_s=max(left, 0.0))
        more, found = _run_reduced(problem, share, known.placement)
        ran, known = _all(ran, more), together(known, found)
    if ran and (_is_settled(known) or _first_bound_is_useful(known)):
        return ran, known
    more, found = _run_one(BASELINE, problem, limits, 1.0, None)
    return _all(ran, more), together(known, found)


def _run_parts(
    problem: Problem, parts: tuple[SubProblem, ...], limits: Limits, hint: Placement | None
) -> Answer:
    """Solve every part alone, the smallest first, and put their placements side by side."""
    deadline = time.perf_counter() + limits.time_s
    ran: tuple[Engine, ...] = ()
    outcomes: list[Outcome] = []
    for i, part in enumerate(reversed(parts)):
        left = max(deadline - time.perf_counter(), 0.0)
        share = replace(limits, time_s=left * (1.0 if i + 1 < len(parts) else SHARE_OF_PARTS))
        more, found = _run_reduced(part.problem, share, None)
        ran = _all(ran, more)
        outcomes.insert(0, found)
        if found.status == Status.INFEASIBLE or found.interrupted:
            break
    joined, found = sum_of_parts(problem, parts, outcomes)
    known = together(_of_placement(problem, hint), _of_placement(problem, joined))
    interrupted = any(outcome.interrupted for outcome in outcomes)
    return ran, replace(together(known, found), interrupted=interrupted)


def _all(ran: tuple[Engine, ...], more: tuple[Engine, ...]) -> tuple[Engine, ...]:
    return (*ran, *(engine for engine in more if engine not in ran))


def _run_reduced(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Solve on the nodes that an optimal placement needs; see `reduce_nodes`."""
    reduction = reduce_nodes(problem)
    projected = None if hint is None else reduction.project(hint)
    one = as_one_node(reduction.problem)
    if one is None:
        engines, outcome = _run_by_racks(reduction.problem, limits, projected)
    else:
        engines, outcome = _run_in_turn(one.problem, limits, None)
        if outcome.placement is not None:
            outcome = replace(outcome, placement=one.restore(outcome.placement))
    if outcome.placement is not None:
        outcome = replace(outcome, placement=reduction.restore(outcome.placement))
    if projected is None:
        outcome = together(outcome, _of_placement(problem, hint))
    return engines, outcome


def _first_bound_is_useful(outcome: Outcome) -> bool:
    """Return whether the engines found a placement and, for the term in question, a bound."""
    if outcome.values is None:
        return False
    for value, bound in zip(outcome.values, outcome.bounds, strict=True):
        if value != bound:
            return bool(bound)
    return True


def _run_by_racks(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Solve by splits of two racks, else enclose the optimum of several, else the whole."""
    if not racks_matter(problem):
        return _run_in_turn(problem, limits, hint)
    started = time.perf_counter()
    ran, known = _run_one(CONFIGURATIONS, problem, limits, SHARE_OF_CONFIGURATIONS, hint)
    if not ran:
        ran, known = _enclose(problem, limits, hint)
    left = limits.time_s - (time.perf_counter() - started)
    if _is_settled(known) or left <= 0:
        return ran, known
    more, found = _run_one(CP_SAT, problem, replace(limits, time_s=left), 1.0, known.placement)
    return (*ran, *(e for e in more if e not in ran)), together(known, found)


def _enclose(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Take the bound of all nodes in one rack; its placement, or that of one rack alone."""
    share = replace(limits, time_s=limits.time_s * SHARE_OF_A_RACK)
    known = _of_placement(problem, hint)
    flat = all_in_one_rack(problem)
    ran, outer = _run_one(CONFIGURATIONS, flat.problem, share, 1.0, None)
    bounds = replace(outer, placement=None, values=None)
    if outer.placement is not None:
        known = together(known, _of_placement(problem, flat.restore(outer.placement)))
    known = together(known, bounds)
    if _is_settled(known):
        return ran, known
    rack = one_rack(problem)
    more, inner = _run_in_turn(rack.problem, share, None)
    if inner.placement is not None:
        placed = _of_placement(problem, rack.restore(inner.placement))
        known = together(together(known, placed), bounds)
    known = together(known, over_racks(problem, outer, inner))
    ran = _all(ran, more)
    return ran, replace(known, interrupted=known.interrupted or inner.interrupted)


def _run_in_turn(problem: Problem, limits: Limits, hint: Placement | None) -> Answer:
    """Run the engines one after the other, each from the incumbent of those before."""
    started = time.perf_counter()
    ran: tuple[Engine, ...] = ()
    known = _of_placement(problem, hint)
    turns: Turns = ((CONFIGURATIONS, SHARE_OF_CONFIGURATIONS), (CP_SAT, 1.0))
    for engine, share in turns if problem.matrix is None else matrix_turns(problem):
        left = limits.time_s - (time.perf_counter() - started)
        if _is_settled(known) or (ran and left <= 0):
            break
        part = replace(limits, time_s=max(left, 0.0))
        more, found = _run_one(engine, problem, part, share, known.placement)
        ran, known = (*ran, *more), together(known, found)
    return ran, known


def _run_one(
    engine: Engine, problem: Problem, limits: Limits, share: float, hint: Placement | None
) -> Answer:
    """Run one engine for a share of the time; no engine and nothing known if it declines."""
    declined: Answer = ((), _of_placement(problem, None))
    if engine.supports(problem) is not None:
        return declined
    try:
        found = engine.run(problem, replace(limits, time_s=limits.time_s * share), hint)
    except NotTakenError:
        return declined
    proof = Proof(engine.name, engine.version(), found.bounds, found.proof)
    return (engine,), replace(found, proofs=(proof,))


def _is_settled(known: Outcome) -> bool:
    return known.interrupted or known.status in (Status.OPTIMAL, Status.INFEASIBLE)


def _of_placement(problem: Problem, placement: Placement | None) -> Outcome:
    """Return what a placement alone tells: its values if it is valid, and no bound."""
    nothing = (None,) * len(problem.terms)
    if placement is None or not (verdict := judge(problem, placement)).valid:
        return Outcome(Status.UNKNOWN, None, None, nothing, "")
    return Outcome(Status.FEASIBLE, placement, verdict.scaled, nothing, "")


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
