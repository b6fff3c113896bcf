"""Several topologies that share a cluster: each alone for a bound, then a plan for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Pick, Proof, Status
from slotwise.solver.portfolio.run import POLISH, PortfolioRun
from slotwise.solver.whole_cluster.bounds import ClusterBounds, Vector
from slotwise.solver.whole_cluster.placing import Placer
from slotwise.solver.whole_cluster.plan import Plan
from slotwise.solver.whole_cluster.search import PlanSearch
from slotwise.solver.whole_cluster.topologies import TopologyPart

WHOLE_CLUSTER, SUM_OF_TOPOLOGIES = "whole-cluster", "sum over topologies alone"
"""The name under which plans are reported, and the kind of their bounds."""

ALONE = "several topologies: each of them alone on the empty cluster"
TOGETHER = "several topologies: placed side by side, then optimised again one at a time"

SolveWith = Callable[[PortfolioRun, Problem, Reporter], None]
"""Solve a problem in a run of its own."""


@dataclass(slots=True)
class _Alone:
    """Results of the topologies solved alone, by the position of the first equal one."""

    placement: dict[int, Placement] = field(default_factory=dict)
    bound: dict[int, Vector] = field(default_factory=dict)
    impossible: set[int] = field(default_factory=set)
    provers: dict[str, None] = field(default_factory=dict)
    picked: dict[str, Pick] = field(default_factory=dict)

    def note(self, picks: Sequence[Pick]) -> None:
        """Add up the seconds of each engine."""
        for pick in picks:
            earlier = self.picked.get(pick.engine)
            seconds = pick.seconds + (0.0 if earlier is None else earlier.seconds)
            self.picked[pick.engine] = Pick(pick.engine, ALONE, seconds, pick.parameters)


def solve_whole_cluster(
    auto: PortfolioRun,
    problem: Problem,
    parts: Sequence[TopologyPart],
    reporter: Reporter,
    solve: SolveWith,
) -> None:
    """Solve every topology alone, report the bounds, and search for a plan for all together."""
    alone = _solve_alone(auto, parts, reporter, solve)
    reporter.state.picked.extend(alone.picked.values())
    nothing = (0,) * (len(problem.terms) - problem.may_reject)
    bounds = ClusterBounds(
        problem=problem,
        parts=parts,
        alone=[alone.bound.get(part.like, nothing) for part in parts],
        impossible={i for i, part in enumerate(parts) if part.like in alone.impossible},
    )
    cluster_reporter = reporter.by("+".join((WHOLE_CLUSTER, *alone.provers)))
    _prove(auto, bounds, cluster_reporter)
    if not (auto.is_over(reporter.token) or bounds.is_infeasible):
        _plan_together(auto, bounds, alone.placement, reporter, solve)
        _prove(auto, bounds, cluster_reporter)


def _plan_together(
    auto: PortfolioRun,
    bounds: ClusterBounds,
    alone: Mapping[int, Placement],
    reporter: Reporter,
    solve: SolveWith,
) -> None:
    """Search for a plan for all topologies, from their own placements and the best one so far."""
    params, token = auto.params.whole_cluster, reporter.token
    problem, parts = bounds.problem, bounds.parts

    def offer(plan: Plan) -> None:
        if problem.may_reject or not plan.left_out:
            reporter.by(WHOLE_CLUSTER).offer(plan.placement())

    def solve_one(part: Problem, start: Placement | None, seconds: float) -> Placement | None:
        share_s = min(seconds, auto.left_s)
        inner = solve_one_topology(auto, part, share_s, start, token, solve, reports_starts=False)
        return None if inner.state.best is None else inner.state.best.placement

    def polish(seconds: float) -> Placement | None:
        auto.polish(POLISH, min(1.0, seconds / max(auto.left_s, seconds)), token)
        return reporter.best()

    began = time.perf_counter()
    reporter.state.start(WHOLE_CLUSTER, TOGETHER)
    deadline = token.child(token.now() + params.search_fraction * max(auto.left_s, 0.0))
    seed = auto.limits.seed
    placer = Placer(problem, parts, solve_one, deadline, params, seed)
    for i, placement in alone.items():
        placer.layouts.learn(i, placement)
    search = PlanSearch(problem, parts, bounds.alone, placer, polish, offer, deadline, params, seed)
    incumbent = reporter.best()
    if incumbent is not None:
        search.read(incumbent)
    search.build()
    search.improve()
    seconds = time.perf_counter() - began
    reporter.state.picked.append(Pick(WHOLE_CLUSTER, TOGETHER, seconds))


def _solve_alone(
    auto: PortfolioRun, parts: Sequence[TopologyPart], reporter: Reporter, solve: SolveWith
) -> _Alone:
    """Solve each of the topologies that differ alone, the smallest first."""
    results, token, params = _Alone(), reporter.token, auto.params
    first = [i for i, part in enumerate(parts) if part.like == i]
    order = sorted(first, key=lambda i: (parts[i].alone.task_count, i))
    until = token.now() + params.whole_cluster.alone_fraction * max(auto.left_s, 0.0)
    for position, i in enumerate(order):
        if auto.is_over(token):
            break
        topology = parts[i].alone
        work = [parts[j].alone.task_count ** 2 for j in order[position:]]
        share = max(work[0] / sum(work), params.least_part_fraction)
        seconds = min(share * (until - token.now()), params.whole_cluster.alone_s)
        inner = solve_one_topology(auto, topology, seconds, None, token, solve)
        _, outcome = inner.answer(token)
        auto.engines += [engine for engine in inner.engines if engine not in auto.engines]
        results.note(inner.state.picked)
        results.provers |= dict.fromkeys(inner.state.provers())
        if outcome.status == Status.INFEASIBLE:
            results.impossible.add(i)
            if parts[i].weight is None:
                break
        results.bound[i] = _in_units_of(parts[i].problem, topology, outcome.bounds)
        if outcome.placement is not None:
            results.placement[i] = outcome.placement
    return results


def _in_units_of(whole: Problem, solved: Problem, bounds: Sequence[int | None]) -> Vector:
    """Return bounds in the steps of another problem's terms; a missing one is 0."""
    return tuple(
        int((bound or 0) * own.unit / other.unit)
        for bound, own, other in zip(bounds, solved.terms, whole.terms, strict=True)
    )


def _prove(auto: PortfolioRun, cluster: ClusterBounds, reporter: Reporter) -> None:
    """Report the bounds for all topologies that follow from those of each alone."""
    problem = cluster.problem
    if cluster.is_infeasible:
        reporter.state.prove_infeasible(reporter.engine)
        return
    least = cluster.least_rejected() if problem.may_reject else 0
    cost = cluster.least_cost(least)
    bounds = (*((least,) if problem.may_reject else ()), *(cost or ()))
    reporter.prove(bounds, SUM_OF_TOPOLOGIES)
    how = "sum over the topologies, each alone on the empty cluster"
    auto.proofs.append(Proof(WHOLE_CLUSTER, version("slotwise"), bounds, how))
    optima = reporter.optima()
    if problem.may_reject and optima and optima[0] != least:
        cost = cluster.least_cost(optima[0])
        if cost is not None:
            reporter.prove((optima[0], *cost), SUM_OF_TOPOLOGIES, proven_before=1)


def solve_one_topology(
    auto: PortfolioRun,
    problem: Problem,
    time_s: float,
    start: Placement | None,
    token: RunToken,
    solve: SolveWith,
    *,
    reports_starts: bool = True,
) -> PortfolioRun:
    """Return a run on `problem` that has ended, with its state and the engines that ran.

    Its list of picks is its own. `reports_starts` says whether starts of its engines are reported.
    """
    inner = auto.within(problem, time_s)
    inner.hint = start
    inner.state.picked = []
    if not reports_starts:
        inner.state.listener = lambda event: None
    reporter = Reporter(inner.state, "auto", token=token)
    solve(inner, problem, reporter)
    return inner
