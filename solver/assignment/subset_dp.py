"""Engine ``subset-dp``: dynamic programming over sets of tasks (docs/design.md, 8.8).

For few tasks and any two different nodes equally far apart. A node's content T then decides its
part of the cost alone: with distance d between nodes and d_k on node k,

    cost = d * (all flow) + sum over nodes of c_k(T_k),
    c_k(T) = linear costs of T on k - (d - d_k) * (flow inside T),

and with f_k(S) = the least cost of the tasks S on the first k nodes,

    f_k(S) = min over T in S that fit node k of f_{k-1}(S - T) + c_k(T).

Exact in 64-bit integers. The first and the last node are cheap (no choice of T is left), so the
two nodes with most fitting sets come first and last; nodes alike from some node on are filled in
the order of their lowest task. A tabu search finds an incumbent beforehand, and task prices rule
out the contents that nothing as good can have (`subset_pricing`).
"""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.model import Assignment, make_assignment, reason_against
from slotwise.solver.assignment.subset_pricing import narrow
from slotwise.solver.assignment.subset_tables import (
    NO_WAY,
    Tables,
    backtrack,
    distances_apart,
    fill,
    make_tables,
)
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.core.ctrl_c import check_stop
from slotwise.solver.core.engine import Engine, NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter, report_outcome
from slotwise.solver.core.result import Improvement, Limits, Outcome, Status

MOST_TASKS = 22
MOST_BYTES = 2 * 2**30
"""Of the tables f_k, one entry a set."""
SHARE_OF_SEARCH, STEPS_A_PLACE = 0.1, 200
"""For the incumbent: most of the time limit, and steps per task and node."""


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    reason = reason_against(problem)
    if reason is not None:
        return reason
    tasks = problem.task_count
    if tasks > MOST_TASKS:
        return f"{tasks} tasks; sets of at most {MOST_TASKS} are enumerated"
    if problem.node_count * 2**tasks * 8 > MOST_BYTES:
        return f"tables for {tasks} tasks on {problem.node_count} nodes exceed {MOST_BYTES:,} bytes"
    apart = distances_apart(make_assignment(problem))
    if len(apart) > 1:
        return f"two different nodes are {len(apart)} distances apart, not one"
    return None


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Find an incumbent, rule out contents, fill the tables node by node."""
    reason = supports(problem)
    if reason is not None:
        raise NotTakenError(reason)
    reporter = reporter or null_reporter(problem, "subset-dp")
    started = time.perf_counter()
    known = _known(problem, hint)
    steps = 0
    try:
        model = make_assignment(problem)
        known = _with_search(problem, model, known, limits)
        report_outcome(reporter, known)
        if time.perf_counter() - started > limits.time_s:
            return known
        tables = make_tables(model)
        if known.values is not None:
            known = _with_prices(tables, known, known.values[model.term])
            report_outcome(reporter, known)
        for done in () if known.status == Status.OPTIMAL else fill(tables):
            steps += done
            check_stop()
            if time.perf_counter() - started > limits.time_s:
                return replace(known, deterministic_work=float(steps))
    except KeyboardInterrupt:
        return replace(known, deterministic_work=float(steps), interrupted=True)
    if known.status == Status.OPTIMAL:
        return known
    return _proven(problem, tables, steps, time.perf_counter() - started)


def _with_search(problem: Problem, model: Assignment, known: Outcome, limits: Limits) -> Outcome:
    """Return `known` with the better incumbent of a short tabu search, if it finds one."""
    found = search_assignment(
        model,
        np.random.default_rng(limits.seed),
        seconds=limits.time_s * SHARE_OF_SEARCH,
        steps=STEPS_A_PLACE * model.task_count * model.node_count,
        start=None if known.placement is None else np.array(known.placement.nodes),
    )
    if found is None:
        return known
    placement = model.placement(found)
    values = judge(problem, placement).scaled
    if known.values is not None and known.values <= values:
        return known
    return replace(known, status=Status.FEASIBLE, placement=placement, values=values)


def _with_prices(tables: Tables, known: Outcome, value: int) -> Outcome:
    """Narrow the tables' contents to those of placements as good; return `known` with a bound."""
    tables.chosen, bound = narrow(tables.chosen, tables.model.task_count, value - tables.constant)
    term = tables.model.term
    bound = max(0, min(bound + tables.constant, value))
    bounds: list[int | None] = [*[0] * term, bound, *[None] * (len(known.bounds) - term - 1)]
    if bound == value:
        bounds[term + 1 :] = [0] * (len(bounds) - term - 1)
    return replace(
        known,
        status=Status.OPTIMAL if bound == value else Status.FEASIBLE,
        bounds=tuple(bounds),
        proof="prices of tasks over all contents of a node",
    )


def _known(problem: Problem, hint: Placement | None) -> Outcome:
    """Return what is known before the search: the hint where it is valid."""
    nothing: tuple[None, ...] = (None,) * len(problem.terms)
    if hint is not None:
        verdict = judge(problem, hint)
        if verdict.valid:
            return Outcome(Status.FEASIBLE, hint, verdict.scaled, nothing, "")
    return Outcome(Status.UNKNOWN, None, None, nothing, "")


def _proven(problem: Problem, tables: Tables, steps: int, seconds: float) -> Outcome:
    """Return the optimum in the full tables, or that there is none."""
    work = float(steps)
    proof = f"dynamic programming over all sets of {problem.task_count} tasks"
    if tables.levels[-1][tables.full] >= NO_WAY:
        nothing: tuple[None, ...] = (None,) * len(problem.terms)
        return Outcome(Status.INFEASIBLE, None, None, nothing, proof, work)
    placement = tables.model.placement(backtrack(tables))
    term = tables.model.term
    bounds = [0] * len(problem.terms)
    bounds[term] = int(tables.levels[-1][tables.full]) + tables.constant
    return Outcome(
        status=Status.OPTIMAL,
        placement=placement,
        values=tuple(bounds),
        bounds=tuple(bounds),
        proof=proof,
        deterministic_work=work,
        trace=(Improvement(seconds, term, bounds[term], bounds[term]),),
    )


SUBSET_DP = Engine(
    name="subset-dp",
    run=run,
    supports=supports,
    version=lambda: f"numba {version('numba')}",
)
