"""The nearest valid placement, against all placements of tiny instances."""

from __future__ import annotations

import itertools

import pytest
from explained_cases import placed_cases

import slotwise
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Status
from slotwise.solver.explain.comparison import fewest_moves


def least_moves(problem, placement):
    """Try all placements with few moves first: a fresh worker of a node has the next free label."""
    count = problem.task_count
    places = [
        (node, label)
        for node in range(problem.node_count)
        for label in {*placement.workers, max(placement.workers) + 1}
    ]
    for size in range(min(count, 2) + 1):
        for tasks in itertools.combinations(range(count), size):
            for chosen in itertools.product(places, repeat=size):
                nodes, workers = list(placement.nodes), list(placement.workers)
                for task, (node, label) in zip(tasks, chosen, strict=True):
                    nodes[task], workers[task] = node, label
                verdict = judge(problem, Placement(tuple(nodes), tuple(workers)))
                if verdict.valid:
                    return size
    return None


@pytest.mark.slow
def test_no_fewer_moves_suffice():
    found = 0
    for one, placement, _ in placed_cases(120):
        if one.instance.objective.limits or one.problem.task_count > 3:
            continue
        near = fewest_moves(one.instance, placement, time_limit_s=20)
        least = least_moves(one.problem, placement)
        if least is not None and not one.problem.may_reject:
            assert near.status is Status.OPTIMAL
            assert len(near.moved) == least, one.number
            assert judge(one.problem, near.placement).valid
            found += 1
    assert found >= 3


def test_the_tight_example_by_hand(examples):
    """Two tasks must change places: 500 and 300 against 400, 300 and 500."""
    instance = slotwise.read_instance("tight.json")
    placement = slotwise.place(instance, "round-robin", seed=0)
    problem = compile_problem(instance)
    assert not judge(problem, placement).valid
    near = fewest_moves(instance, placement, time_limit_s=20)
    assert near.status is Status.OPTIMAL
    assert len(near.moved) == 2
    assert near.placed == ()


def test_tasks_without_a_place_are_placed_and_do_not_count_as_moves(examples):
    instance = slotwise.read_instance("word-count.json")
    whole = slotwise.solve(instance).placement
    part = Placement((UNPLACED, *whole.nodes[1:]), (UNPLACED, *whole.workers[1:]))
    near = fewest_moves(instance, part, time_limit_s=20)
    assert (near.moved, near.placed) == ((), (0,))


def test_an_infeasible_instance_has_none(examples):
    instance = slotwise.read_instance("too-big.json")
    count = len(instance.task_names())
    near = fewest_moves(instance, Placement((0,) * count, (0,) * count), time_limit_s=20)
    assert near.status is Status.INFEASIBLE
    assert near.placement is None
