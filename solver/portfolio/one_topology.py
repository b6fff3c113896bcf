"""One topology of several in a run of its own, its relaxation without least cpu first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.reporter import Reporter, report_outcome
from slotwise.solver.portfolio.run import Auto
from slotwise.solver.presolve.least_cpu import without_least_cpu

SolveWith = Callable[[Auto, Problem, Reporter], None]
"""Solve a problem in a run of its own."""


def solve_one_topology(
    auto: Auto,
    problem: Problem,
    time_s: float,
    start: Placement | None,
    token: RunToken,
    solve: SolveWith,
    *,
    is_told: bool = True,
) -> Auto:
    """Return a run on `problem` that has ended: what it knows, and which engines ran.

    Its list of picks is its own. `is_told` says whether the user hears which engines start.

    Where workers count a least cpu, most of the time goes to the problem without it: its bound
    holds, and its placement, where it is valid, is as good.
    """
    inner = auto.within(problem, time_s)
    inner.hint = start
    inner.known.picked = []
    if not is_told:
        inner.known.tell = lambda event: None
    reporter = Reporter(inner.known, "auto", token=token)
    relaxed = without_least_cpu(problem)
    if relaxed is not None:
        share = inner.params.whole_cluster.relaxation_fraction
        outer = inner.within(relaxed, share * time_s)
        outer.hint = start
        solve(outer, relaxed, Reporter(outer.known, "auto", token=token))
        _, found = outer.answer(token)
        proofs = [one for one in outer.known.proofs() if one is not None]
        kinds = ", ".join(dict.fromkeys(one.kind for one in proofs)) or None
        by_solver = any(one.by_solver for one in proofs)
        claimed = replace(found, bound_kind=kinds, by_solver=by_solver)
        report_outcome(reporter.by("+".join(outer.known.provers())), claimed)
        inner.engines += outer.engines
    solve(inner, problem, reporter)
    return inner
