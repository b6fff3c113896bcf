"""Several topologies on one cluster: judged by exhaustive search of all of them together."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_clusters import LIMITS, TERMS, planted, tight_shared, tiny_shared

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.portfolio.auto import run_auto
from slotwise.solver.portfolio.params import AutoParams
from slotwise.solver.whole_cluster import search
from slotwise.solver.whole_cluster.bounds import ClusterBounds
from slotwise.solver.whole_cluster.placing import Placer, WholeClusterParams
from slotwise.solver.whole_cluster.plan import Plan
from slotwise.solver.whole_cluster.search import PlanSearch
from slotwise.solver.whole_cluster.topologies import may_fit, topology_parts

SHORT = AutoParams(whole_cluster=WholeClusterParams(from_tasks=1, idle_steps=1))
"""Even tiny problems by topologies, and a short search: the engines that prove come after it."""


def proven_by_topologies(problem: Problem) -> tuple[ClusterBounds, list[Outcome]]:
    """Return what the optima of the topologies alone prove, by exhaustive search."""
    parts = topology_parts(problem)
    alone = [EXHAUSTIVE.run(part.problem, LIMITS, None) for part in parts]
    nothing = (0,) * (len(problem.terms) - problem.may_reject)
    impossible = {i for i, one in enumerate(alone) if one.status is Status.INFEASIBLE}
    values = [nothing if one.values is None else one.values for one in alone]
    return ClusterBounds(problem, parts, values, impossible), alone


def check_bounds(problem: Problem) -> str:
    """Compare the bounds with the optimum of the whole; return what kind of instance it is."""
    known, _ = proven_by_topologies(problem)
    whole = EXHAUSTIVE.run(problem, LIMITS, None)
    if whole.values is None:
        assert not problem.may_reject
        return "infeasible"
    assert not known.is_infeasible
    rejected = whole.values[0] if problem.may_reject else 0
    assert not problem.may_reject or known.least_rejected() <= rejected
    cost = known.least_cost(rejected)
    own = whole.values[1:] if problem.may_reject else whole.values
    assert cost is not None
    assert cost <= own
    if rejected:
        return "rejected"
    return "sum of optima" if cost == own else "above the sum"


def test_sums_of_bounds_are_bounds() -> None:
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(60):
        make = tight_shared if number % 2 else tiny_shared
        seen[check_bounds(compile_problem(make(rng, TERMS[number % 3])))] += 1
    assert set(seen) == {"infeasible", "rejected", "sum of optima", "above the sum"}, seen


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), terms=st.sampled_from(TERMS))
def test_no_bound_is_above_the_optimum(seed: int, terms: tuple[str, ...]) -> None:
    check_bounds(compile_problem(tight_shared(np.random.default_rng(seed), terms)))


def test_auto_agrees_with_exhaustive_search() -> None:
    rng = np.random.default_rng(6)
    seen: Counter[str] = Counter()
    for number in range(9):
        make = tight_shared if number % 3 else tiny_shared
        problem = compile_problem(make(rng, TERMS[number % 2]))
        expected = EXHAUSTIVE.run(problem, LIMITS, None)
        _, found = run_auto(problem, LIMITS, None, params=SHORT)
        assert (found.status, found.values) == (expected.status, expected.values), number
        if found.placement is not None:
            assert judge(problem, found.placement).scaled == found.values
            seen["rejected"] += problem.may_reject and expected.values[0] > 0
        seen[str(found.status)] += 1
    assert seen[Status.OPTIMAL] >= 5
    assert seen[Status.INFEASIBLE] >= 1
    assert seen["rejected"] >= 1


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_packing_reaches_the_sum(seed: int) -> None:
    """No engine is needed: the topologies' own optima are packed, and their sum is the proof."""
    problem = compile_problem(planted(np.random.default_rng(seed)))
    known, alone = proven_by_topologies(problem)
    plan, _ = searched(problem, known, alone)
    assert plan.left_out == []
    verdict = judge(problem, plan.placement())
    assert verdict.valid
    assert verdict.scaled == (0, *(known.least_cost(0) or ()))


def test_auto_proves_a_planted_packing() -> None:
    problem = compile_problem(planted(np.random.default_rng(9)))
    _, found = run_auto(problem, LIMITS, None, params=SHORT)
    assert found.status is Status.OPTIMAL
    assert "sum over the topologies" in found.proof


def test_what_does_not_fit_is_left_out() -> None:
    """Three topologies of 60 points on a node of 100: two are left out, the least important."""
    topologies = tuple(
        Topology(f"t{i}", (Component("a", "spout", 2, {"cpu": 30}),), (), priority=priority)
        for i, priority in enumerate((2, 0, 1))
    )
    cluster = Cluster((Node("n", "r", "", 4, {"cpu": 100}),))
    objective = Objective(("rejected", "network"))
    problem = compile_problem(Instance("full", cluster, topologies, objective=objective))
    known, alone = proven_by_topologies(problem)
    weights = sorted(part.weight or 0 for part in known.parts)
    assert known.least_rejected() == sum(weights[:2])
    plan, _ = searched(problem, known, alone)
    assert plan.value[0] == sum(weights[:2])
    assert [part.topology for part in known.parts if part.like != 0] == []


def test_a_topology_that_fits_nowhere_is_left_out_or_proves_that_nothing_fits() -> None:
    topologies = tuple(
        Topology(f"t{cpu}", (Component("a", "spout", 1, {"cpu": cpu}),), ()) for cpu in (10, 200)
    )
    cluster = Cluster((Node("n", "r", "", 4, {"cpu": 100}),))
    for terms, status in ((TERMS[0], Status.INFEASIBLE), (TERMS[1], Status.OPTIMAL)):
        instance = Instance("large", cluster, topologies, objective=Objective(terms))
        _, found = run_auto(compile_problem(instance), LIMITS, None, params=SHORT)
        assert found.status is status
        assert found.values is None or found.values[0] == 1


def on_nodes(cpus: tuple[int, ...], *topologies: Topology) -> Problem:
    """Return topologies on nodes of a rack with this much cpu."""
    nodes = tuple(Node(f"n{i}", "r", "", 9, {"cpu": cpu}) for i, cpu in enumerate(cpus))
    objective = Objective(("rejected", "network"))
    return compile_problem(Instance("rack", Cluster(nodes), topologies, objective=objective))


def tasks(name: str, first: int, second: int, cpu: int, *flows: Stream) -> Topology:
    """Return a topology of two components of `first` and `second` tasks, each of `cpu`."""
    pair = tuple(
        Component(one, "bolt", count, {"cpu": cpu})
        for one, count in zip("ab", (first, second), strict=True)
    )
    return Topology(name, pair, flows)


FLOW = Stream("a", "b")


def test_what_sends_most_per_capacity_is_placed_first() -> None:
    """Largest first would take the large node, and part the pairs that fit on it."""
    large, dense = tasks("large", 1, 3, 30, FLOW), tasks("dense", 2, 2, 23, FLOW)
    problem = on_nodes((100, 60, 60, 60), large, dense)
    known, alone = proven_by_topologies(problem)
    plan, offered = built(problem, known, alone)
    assert plan.value == EXHAUSTIVE.run(problem, LIMITS, None).values
    assert len(offered) == 1  # the first order was enough


def test_what_needs_certain_nodes_is_placed_while_they_are_free() -> None:
    """The dense pair would take the small node, where one of the large tasks must go."""
    problem = on_nodes((100, 60), tasks("large", 1, 1, 55), tasks("dense", 1, 1, 20, FLOW))
    known, alone = proven_by_topologies(problem)
    plan, offered = built(problem, known, alone)
    assert plan.value == (0, 0)
    assert len(offered) == 1


def test_where_nothing_helps_one_is_left_out() -> None:
    problem = on_nodes((100, 60), tasks("large", 1, 1, 55), tasks("dense", 1, 1, 30, FLOW))
    known, alone = proven_by_topologies(problem)
    plan, _ = built(problem, known, alone)
    assert len(plan.left_out) == 1


def test_placing_all_anew_helps_the_one_that_lost_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """By flow per capacity `small` is first; on two nodes it loses 4, and `large` loses 6."""
    monkeypatch.setattr(search, "CHANCE_OF_REBUILDING", 1.0)
    small, large = tasks("small", 2, 2, 16, FLOW), tasks("large", 2, 3, 20, FLOW)
    problem = on_nodes((100, 60, 60, 60), small, large)
    known, alone = proven_by_topologies(problem)
    first, _ = built(problem, known, alone)
    plan, _ = built(problem, known, alone, improves=True)
    assert first.value == (0, 6)
    assert plan.value == EXHAUSTIVE.run(problem, LIMITS, None).values == (0, 4)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_fits_may_fit(seed: int) -> None:
    problem = compile_problem(tight_shared(np.random.default_rng(seed), TERMS[1]))
    known, alone = proven_by_topologies(problem)
    for part, one in zip(known.parts, alone, strict=True):
        fits = may_fit(part, problem.capacity, problem.slots)
        assert fits or one.status is Status.INFEASIBLE
        assert not may_fit(part, 0 * problem.capacity, problem.slots)


def built(
    problem: Problem, known: ClusterBounds, alone: list[Outcome], *, improves: bool = False
) -> tuple[Plan, list[Plan]]:
    """Return the plan that first fit builds of the optima alone, and what was offered."""
    params = replace(SHORT.whole_cluster, max_packing_size=0)
    return searched(problem, known, alone, params, improves=improves)


def searched(
    problem: Problem,
    known: ClusterBounds,
    alone: list[Outcome],
    params: WholeClusterParams = SHORT.whole_cluster,
    *,
    improves: bool = True,
) -> tuple[Plan, list[Plan]]:
    """Return the plan that a search makes of the optima alone, and what it offered."""
    offered: list[Plan] = []
    token = CancellationToken(time.perf_counter() + 20)

    def solve(one: Problem, start: Placement | None, seconds: float) -> Placement | None:
        return EXHAUSTIVE.run(one, LIMITS, None).placement

    placer = Placer(problem, known.parts, solve, token, params)
    for i, one in enumerate(alone):
        if one.placement is not None:
            placer.layouts.learn(i, one.placement)
    plans = PlanSearch(
        problem, known.parts, known.alone, placer, lambda s: None, offered.append, token, params
    )
    plans.build()
    if improves:
        plans.improve()
    return plans.best, offered
