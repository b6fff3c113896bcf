"""Contradictions found: never on a feasible instance, always where a kind is one short."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from slotwise.benchmarks.experiments.proofs.one_short import KINDS, one_short
from slotwise.models.cancellation import (
    UNLIMITED,
    CancellationToken,
    CancelledError,
    WorkClock,
)
from slotwise.models.infeasibility.contradictions import holds
from slotwise.models.infeasibility.statement import stated
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver import solve as solving
from slotwise.solver.contradictions import (
    COUNTING,
    contradictions,
    find_contradiction,
    left_over,
)
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.portfolio import auto
from slotwise.solver.portfolio.params import AUTO_DEFAULTS
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import mixed_instance

SEEDS = range(3)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_one_short_is_proven_by_the_rule_at_fault(kind: str) -> None:
    for seed in SEEDS:
        case = one_short(kind, seed, 1, most_tasks=200)
        problem = compile_problem(case.instance)
        found = find_contradiction(problem)
        assert found is not None, seed
        assert holds(compile_problem(case.instance), found), seed
        assert case.rule in stated(problem, found).rules, seed


@pytest.mark.parametrize("kind", KINDS)
def test_just_enough_room_is_no_contradiction(kind: str) -> None:
    for seed in SEEDS:
        case = one_short(kind, seed, 0, most_tasks=200)
        assert case.placement is not None
        assert judge(case.instance, case.placement).valid, seed
        assert find_contradiction(compile_problem(case.instance)) is None, seed


def larger(instance: Instance) -> Instance:
    """Return the instance with one unit of everything more on each node."""

    def more(value: Decimal | None) -> Decimal | None:
        return None if value is None else value + 1

    nodes = tuple(
        replace(
            node,
            slots=None if node.slots is None else node.slots + 1,
            resources={key: more(value) for key, value in node.resources.items()},
        )
        for node in instance.cluster.nodes
    )
    return replace(instance, cluster=replace(instance.cluster, nodes=nodes))


@pytest.mark.parametrize("kind", KINDS)
def test_more_capacity_never_makes_a_contradiction(kind: str) -> None:
    instance = one_short(kind, 0, 0, most_tasks=100).instance
    assert find_contradiction(compile_problem(larger(instance))) is None


@pytest.mark.parametrize("seed", range(8))
def test_every_contradiction_of_a_random_instance_is_true(seed: int) -> None:
    """`exhaustive` knows; whatever is named holds, and can be said."""
    for number in range(12):
        instance = mixed_instance(np.random.default_rng((seed, number)))
        problem = compile_problem(instance)
        found = list(contradictions(problem))
        if not found:
            continue
        assert all(holds(problem, one) for one in found), number
        assert all(stated(problem, one).required > stated(problem, one).available for one in found)
        result = solve(instance, engine="exhaustive", time_limit_s=60)
        assert result.status is Status.INFEASIBLE, (number, found)


def test_solve_proves_it_without_a_search_and_says_why() -> None:
    result = solve(one_short("max per node", 0, 1).instance)
    assert result.status is Status.INFEASIBLE
    assert result.engine == "counting"
    assert result.contradiction is not None
    assert result.contradiction.rules == ("max_per_node",)
    assert result.to_document()["contradiction"]["kind"] == "too_many_tasks"
    assert result.proof == result.contradiction.text


def test_an_engine_that_was_named_proves_it_itself_and_the_sentence_is_added() -> None:
    instance = one_short("one task per worker", 0, 1, most_tasks=20).instance
    result = solve(instance, engine="cp-sat")
    assert (result.status, result.engine) == (Status.INFEASIBLE, "cp-sat")
    assert result.contradiction is not None


def one_of_each(count: int) -> Instance:
    """Return as many components as nodes, all of different sizes, that fit one by one."""
    sizes = [100 + 7 * i for i in range(count)]
    nodes = tuple(Node(f"n{i}", "r", resources={"cpu": cpu + 6}) for i, cpu in enumerate(sizes))
    components = tuple(Component(f"c{i}", "bolt", 1, {"cpu": cpu}) for i, cpu in enumerate(sizes))
    topology = Topology("t", components)
    return Instance("one of each", Cluster(nodes), (topology,), objective=Objective(("nodes",)))


def test_it_can_be_ended_while_weights_are_tried() -> None:
    problem = compile_problem(one_of_each(12))
    assert find_contradiction(problem) is None
    clock = WorkClock(readings_per_unit=1)
    assert find_contradiction(problem, CancellationToken(clock=clock)) is None
    with pytest.raises(CancelledError):
        find_contradiction(problem, CancellationToken(clock.spent // 2, clock=WorkClock(1)))
    assert clock.spent > 1_000
    with pytest.raises(CancelledError):
        COUNTING.run(problem, Limits(time_s=0.0), None)


def test_auto_goes_on_where_its_share_of_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []

    def never_done(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
    ) -> Outcome:
        shares.append(limits.time_s)
        raise CancelledError

    monkeypatch.setattr(auto, "COUNTING", replace(COUNTING, run=never_done))
    result = solve(one_of_each(3), time_limit_s=30)
    assert result.status is Status.OPTIMAL
    assert 0 < shares[0] <= AUTO_DEFAULTS.counting_fraction * 30


@pytest.mark.parametrize("deterministic", [False, True])
def test_the_sentence_for_a_named_engine_has_the_time_that_is_left(
    deterministic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = []

    def never_done(problem: Problem, token: CancellationToken = UNLIMITED) -> None:
        left.append(token.remaining)
        raise CancelledError

    monkeypatch.setattr(solving, "find_contradiction", never_done)
    instance = one_short("one task per worker", 0, 1, most_tasks=20).instance
    result = solve(instance, engine="cp-sat", time_limit_s=60, deterministic=deterministic)
    assert (result.status, result.contradiction) == (Status.INFEASIBLE, None)
    assert 0 < left[0] < 60


def test_a_flow_sends_tasks_round_when_the_first_way_is_full() -> None:
    assert left_over([1, 1], [1, 1], [[1, 1], [1, 0]]) == ()
    assert left_over([1, 1, 2], [1, 2], [[1, 0], [1, 0], [0, 2]]) == (0, 1)
