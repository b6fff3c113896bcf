"""The nearest valid placement, against all placements of tiny instances."""

from __future__ import annotations

import itertools

import pytest
from explained_cases import placed_cases

import slotwise
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Topology
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


@pytest.mark.slow
def test_of_topologies_in_one_worker_all_but_one_move():
    """The nodes of the random placements, each with a single worker."""
    found = 0
    for one, placement, _ in placed_cases(120):
        if one.instance.objective.limits or one.problem.may_reject or one.problem.task_count > 5:
            continue
        shared = Placement(placement.nodes, (0,) * one.problem.task_count)
        broken = {violation.rule for violation in judge(one.problem, shared).violations}
        least = least_moves(one.problem, shared)
        if "one_topology_per_worker" in broken and least is not None:
            near = fewest_moves(one.instance, shared, time_limit_s=20)
            assert near.status is Status.OPTIMAL
            assert len(near.moved) == least, one.number
            assert judge(one.problem, near.placement).valid
            found += 1
    assert found >= 3


def test_the_topology_with_most_tasks_in_a_worker_stays():
    nodes = (Node("n1", "r"), Node("n2", "r"))
    topologies = tuple(
        Topology(name, (Component("a", "spout", count),)) for name, count in (("t", 1), ("u", 2))
    )
    instance = Instance("i", Cluster(nodes), topologies)
    near = fewest_moves(instance, Placement((0, 0, 0), (0, 0, 0)), time_limit_s=20)
    assert (near.status, near.moved) == (Status.OPTIMAL, (0,))


def test_where_that_topology_must_leave_nothing_is_proven():
    """Those of u leave the worker for t, which has most tasks there, and t must leave n1 anyhow."""
    nodes = (Node("n1", "r"), Node("n2", "r", resources={"gpu": 2}))
    large = Topology("t", (Component("a", "spout", 2, {"gpu": 1}),))
    instance = Instance("i", Cluster(nodes), (large, Topology("u", (Component("a", "spout", 1),))))
    near = fewest_moves(instance, Placement((0, 0, 0), (0, 0, 0)), time_limit_s=20)
    assert near.status is Status.FEASIBLE
    assert set(near.moved) >= {0, 1}
    assert judge(instance, near.placement).valid


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
