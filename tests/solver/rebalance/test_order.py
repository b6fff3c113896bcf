"""The order of moves: no state between breaks a rule, and an order is found if there is one."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.explanation.alternatives import moved
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.rebalance import order as order_module
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.rebalance.order import StepByStep, ordered
from slotwise.solver.rebalance.plan import make_plan


def problem_of(sizes: list[int], room: list[int], nodes: tuple[int, ...]) -> Problem:
    """One task of each size, all different, on nodes with that much room; running on `nodes`."""
    machines = tuple(
        Node(f"n{n}", "r", resources={"cpu": Decimal(cpu)}) for n, cpu in enumerate(room)
    )
    components = tuple(
        Component(f"c{i}", "bolt" if i else "spout", 1, {"cpu": Decimal(size)})
        for i, size in enumerate(sizes)
    )
    streams = tuple(Stream("c0", f"c{i}") for i in range(1, len(sizes)))
    topology = Topology("t", components, streams)
    instance = Instance("i", Cluster(machines), (topology,), objective=Objective(("network",)))
    running = to_places(instance, Placement(nodes, (0,) * len(nodes)))
    return with_limit(replace(instance, running=running), None)


def order_of(
    problem: Problem, start: tuple[int, ...], end: tuple[int, ...], parking: int = 0
) -> StepByStep:
    first, second = (Placement(nodes, (0,) * len(nodes)) for nodes in (start, end))
    return ordered(problem, first, second, UNLIMITED, parking=parking)


def keeps_rules(problem: Problem, start: Placement, found: StepByStep) -> bool:
    state = start
    for task, source, target, _ in found.moves:
        assert (state.nodes[task], state.workers[task]) == source
        state = moved(state, task, *target)
        if not judge(problem, state).valid:
            return False
    return state == found.placement


def test_the_way_is_cleared_first() -> None:
    """c0 goes where c1 is, and c1 where there is room."""
    problem = problem_of([60, 70], [100, 100, 100], (0, 1))
    found = order_of(problem, (0, 1), (1, 2))
    assert [(task, target[0]) for task, _, target, _ in found.moves] == [(1, 2), (0, 1)]
    assert found.blocked == ()


def test_a_swap_without_room_is_proven_to_have_no_order() -> None:
    problem = problem_of([60, 70], [100, 100], (0, 1))
    found = order_of(problem, (0, 1), (1, 0))
    assert found.moves == ()
    assert found.is_proven
    lacks = {(one.violation.place, one.violation.needed) for one in found.blocked}
    assert lacks == {("node n1", 130), ("node n0", 130)}


def test_a_parking_move_makes_room() -> None:
    problem = problem_of([60, 70], [100, 100, 80], (0, 1))
    assert order_of(problem, (0, 1), (1, 0)).blocked
    found = order_of(problem, (0, 1), (1, 0), parking=1)
    assert [parked for *_, parked in found.moves] == [True, False, False]
    assert keeps_rules(problem, Placement((0, 1), (0, 0)), found)
    assert found.placement == Placement((1, 0), (0, 0))


def test_a_place_to_park_may_come_free_later() -> None:
    """c0 and c1 swap; c0 can wait on n2 once c2 has left it."""
    problem = problem_of([60, 70, 50], [100, 100, 100, 50], (0, 1, 2))
    found = order_of(problem, (0, 1, 2), (1, 0, 3), parking=1)
    assert [(task, target[0]) for task, _, target, _ in found.moves] == [
        (2, 3),
        (0, 2),
        (1, 0),
        (0, 1),
    ]
    assert keeps_rules(problem, Placement((0, 1, 2), (0, 0, 0)), found)


def test_no_place_to_park_is_proven_where_all_others_together_leave_too_little() -> None:
    problem = problem_of([60, 70, 50], [100, 100, 55, 50], (0, 1, 2))
    found = order_of(problem, (0, 1, 2), (1, 0, 3), parking=1)
    assert [task for task, *_ in found.moves] == [2]
    assert {one.task for one in found.blocked} == {0, 1}
    assert found.is_proven


def test_parking_in_between_the_moves_of_others_is_not_ruled_out() -> None:
    """c0 could wait on n2 after c2 has left it and before c3 comes."""
    problem = problem_of([60, 70, 50, 45], [100, 100, 100, 50, 45], (0, 1, 2, 4))
    found = order_of(problem, (0, 1, 2, 4), (1, 0, 3, 2), parking=1)
    assert {one.task for one in found.blocked} == {0, 1}
    assert not found.is_proven


def test_what_is_ordered_stays_when_the_time_ends_in_a_second_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of([60, 70, 50], [100, 100, 100, 50], (0, 1, 2))
    token, tries = CancellationToken(), []
    failed = order_module._failed

    def tried(*arguments: Any) -> Any:
        tries.append(arguments)
        if len(tries) == 3:
            token.cancel()
        return failed(*arguments)

    monkeypatch.setattr(order_module, "_failed", tried)
    start, end = (Placement(nodes, (0, 0, 0)) for nodes in ((0, 1, 2), (1, 0, 3)))
    found = ordered(problem, start, end, token, parking=1)
    assert [(task, target[0]) for task, _, target, _ in found.moves] == [(2, 3)]
    assert {one.task for one in found.blocked} == {0, 1}
    assert not found.is_proven


def test_the_greedy_choice_may_be_wrong() -> None:
    """c0 could go at once, but then c2 has no room, and nothing can make any."""
    problem = problem_of([50, 51, 52], [100, 104, 60], (0, 1, 1))
    start, end = (2, 0, 1), (0, 1, 0)
    found = order_of(problem, start, end)
    assert found.is_proven
    assert keeps_rules(problem, Placement(start, (0, 0, 0)), found) or found.blocked


def test_finds_an_order_if_and_only_if_there_is_one() -> None:
    rng = np.random.default_rng(5)
    outcomes = set()
    for _ in range(60):
        sizes = (10 * np.arange(3, 8) + np.arange(5)).tolist()
        room = rng.integers(110, 170, 3).tolist()
        start, end = (tuple(rng.integers(0, 3, 5).tolist()) for _ in range(2))
        problem = problem_of(sizes, room, start)
        placements = [Placement(nodes, (0,) * 5) for nodes in (start, end)]
        if not all(judge(problem, one).valid for one in placements):
            continue
        found = ordered(problem, *placements, UNLIMITED)
        assert found.is_proven
        exists = _has_order(problem, placements[0], end)
        assert (not found.blocked) == exists
        if exists:
            assert keeps_rules(problem, placements[0], found)
            assert found.placement == placements[1]
        outcomes.add(exists)
    assert outcomes == {True, False}


def _has_order(problem: Problem, start: Placement, end: tuple[int, ...]) -> bool:
    """Try every order."""
    tasks = [task for task in range(len(end)) if start.nodes[task] != end[task]]
    for order in permutations(tasks):
        state = start
        for task in order:
            state = moved(state, task, end[task], 0)
            if not judge(problem, state).valid:
                break
        else:
            return True
    return False


def test_equal_tasks_are_exchanged() -> None:
    """Two equal tasks that change places need not move."""
    component = Component("a", "spout", 2, {"cpu": Decimal(60)})
    nodes = tuple(Node(f"n{n}", "r", resources={"cpu": Decimal(60)}) for n in range(3))
    instance = Instance("i", Cluster(nodes), (Topology("t", (component,)),))
    problem = compile_problem(instance)
    start, end = Placement((0, 1), (0, 0)), Placement((1, 0), (0, 0))
    assert ordered(problem, start, end, UNLIMITED).moves == ()
    third = ordered(problem, start, Placement((1, 2), (0, 0)), UNLIMITED)
    assert third.moves == ((0, (0, 0), (2, 0), False),)


def test_what_is_broken_now_may_stay_so() -> None:
    """n0 is overfull; relieving it in two steps passes through a state that is, too."""
    problem = problem_of([60, 70, 80], [100, 100, 100], (0, 0, 0))
    found = order_of(problem, (0, 0, 0), (0, 1, 2))
    assert len(found.moves) == 2
    assert found.blocked == ()


def test_a_plan_says_what_each_move_saves() -> None:
    problem = problem_of([10, 11, 12], [100, 100], (0, 1, 1))
    start, end = Placement((0, 1, 1), (0, 0, 0)), Placement((0, 0, 0), (0, 0, 0))
    plan = make_plan(problem, start, end, UNLIMITED)
    assert [one.saves for one in plan.moves] == [{"network": 2}, {"network": 2}]
    assert (int(plan.before.objective[0].value), int(plan.after.objective[0].value)) == (4, 0)
    assert plan.is_ordered


def test_a_plan_names_what_is_missing() -> None:
    problem = problem_of([60, 70], [100, 100], (0, 1))
    plan = make_plan(problem, Placement((0, 1), (0, 0)), Placement((1, 0), (0, 0)), UNLIMITED)
    assert not plan.is_ordered
    assert [move.name for move in plan.rest] == ["t/c0[0]", "t/c1[0]"]
    assert {(one.violation.place, one.missing) for one in plan.missing} == {
        ("node n0", 30),
        ("node n1", 30),
    }
    assert plan.placement == Placement((1, 0), (0, 0))


def test_equal_tasks_that_have_moved_are_not_left_over() -> None:
    """The swap of a and b has no order; the two x have moved, in whichever way."""
    sizes = (("a", 1, 60), ("b", 1, 70), ("x", 2, 10))
    components = tuple(
        Component(name, "spout", count, {"cpu": Decimal(cpu)}) for name, count, cpu in sizes
    )
    nodes = tuple(Node(f"n{n}", "r", resources={"cpu": Decimal(100)}) for n in range(6))
    instance = Instance("i", Cluster(nodes), (Topology("t", components),))
    start = Placement((0, 1, 2, 3), (0,) * 4)
    problem = with_limit(replace(instance, running=to_places(instance, start)), None)
    for ends in ((4, 5), (5, 4)):
        plan = make_plan(problem, start, Placement((1, 0, *ends), (0,) * 4), UNLIMITED)
        assert [one.move.name for one in plan.moves] == ["t/x[0]", "t/x[1]"]
        assert [one.name for one in plan.rest] == ["t/a[0]", "t/b[0]"]
        state = start
        for move in (*(one.move for one in plan.moves), *plan.rest):
            assert move.after is not None
            state = moved(state, move.task, int(move.after[0][1:]), move.after[1])
        assert state == plan.placement


@pytest.mark.parametrize("parking", [0, 1])
def test_a_cancelled_search_orders_nothing(parking: int) -> None:
    problem = problem_of([60, 70], [100, 100, 100], (0, 1))
    token = CancellationToken()
    token.cancel()
    start, end = Placement((0, 1), (0, 0)), Placement((1, 2), (0, 0))
    plan = make_plan(problem, start, end, token, parking)
    assert not plan.is_proven
    assert len(plan.rest) == 2
