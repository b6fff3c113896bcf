"""The first mistake of a method, against trying every completion on tiny instances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from explained_cases import has_completion, random_placement
from ras_vectors import instances_of, read_vector
from solved import solved

import slotwise
from slotwise.heuristics.decision_log import TaskDecision
from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.explain.first_mistake import (
    Completable,
    complete,
    first_mistake,
    traced_run,
    with_fixed,
)


def in_order(placement, order):
    return tuple(
        TaskDecision(task, placement.nodes[task], placement.workers[task]) for task in order
    )


def test_completions_agree_with_trying_everything():
    answers = dict.fromkeys(Completable, 0)
    for number in range(45):
        one, rng = solved(number), np.random.default_rng((11, number))
        problem = one.problem
        if one.instance.objective.limits or not 0 < problem.task_count <= 5:
            continue
        order = rng.permutation(problem.task_count).tolist()
        some = in_order(random_placement(problem, rng), order[: int(rng.integers(len(order)))])
        found = complete(one.instance, some, time_limit_s=20)
        answers[found.answer] += 1
        assert (found.answer is Completable.YES) == has_completion(problem, some), number
        if found.placement is not None:
            fixed = compile_problem(with_fixed(one.instance, some))
            assert judge(fixed, found.placement).valid
            for step in some:
                place = (found.placement.nodes[step.task], found.placement.workers[step.task])
                assert place == (step.node, step.worker)
    assert answers[Completable.YES] >= 5
    assert answers[Completable.NO] >= 5
    assert not answers[Completable.UNDECIDED]


def test_first_mistake_agrees_with_trying_everything():
    """Before it a completion exists, after it none does."""
    mistakes = 0
    for number in range(60):
        one, rng = solved(number), np.random.default_rng((13, number))
        problem = one.problem
        if one.instance.objective.limits or not 0 < problem.task_count <= 5:
            continue
        whole = complete(one.instance, (), time_limit_s=20)
        if whole.placement is None:
            continue
        order = rng.permutation(problem.task_count).tolist()
        steps = in_order(random_placement(problem, rng), order)
        found = first_mistake(problem, steps, whole.placement, time_limit_s=30)
        assert found.settled
        assert has_completion(problem, steps[: found.possible]), number
        if found.impossible is None:
            assert found.possible == len(steps)
            continue
        mistakes += 1
        assert found.impossible == found.possible + 1
        assert found.decision == steps[found.possible]
        assert not has_completion(problem, steps[: found.impossible]), number
        for step in steps[: found.possible]:
            place = (found.completion.nodes[step.task], found.completion.workers[step.task])
            assert place == (step.node, step.worker)
        for stuck in found.stuck:
            assert all(place.forbidden_by for place in stuck.places)
    assert mistakes >= 8


@pytest.mark.parametrize("method", ["r-storm", "r-storm-1.0", "ras-paper", "ldg", "round-robin"])
def test_methods_that_fail_on_the_tight_example(examples, method):
    instance = slotwise.read_instance("tight.json")
    problem = compile_problem(instance)
    run = traced_run(problem, HEURISTICS[method], seed=0)
    assert run.failed
    assert run.decisions
    whole = complete(instance, (), time_limit_s=20)
    found = first_mistake(problem, run.decisions, whole.placement, time_limit_s=30)
    assert found.settled
    assert has_completion(problem, run.decisions[: found.possible])
    assert not has_completion(problem, run.decisions[: found.possible + 1])
    assert judge(problem, found.completion).valid


def test_a_wart_of_storm_is_no_mistake(root):
    """Freed memory that stays counted: what was decided fits, and RAS refuses all the same."""
    vector = read_vector(root / "tests" / "vectors" / "freed_node_memory_stays_counted.json")
    (instance,) = instances_of(vector)
    problem = compile_problem(instance)
    for method in vector.strategies:
        run = traced_run(problem, HEURISTICS[method], seed=0)
        assert run.refused
        whole = complete(instance, (), time_limit_s=20)
        found = first_mistake(problem, run.decisions, whole.placement, time_limit_s=30)
        assert (found.settled, found.impossible, found.decision) == (True, None, None)
        assert found.possible == len(run.decisions) == 1


def test_second_decision_of_r_storm_by_hand(examples):
    """The 400 MB of split beside the 500 of lines leave 100, where none of the others fits."""
    instance = slotwise.read_instance("tight.json")
    problem = compile_problem(instance)
    run = traced_run(problem, HEURISTICS["r-storm"], seed=0)
    whole = complete(instance, (), time_limit_s=20)
    found = first_mistake(problem, run.decisions, whole.placement, time_limit_s=30)
    assert found.possible == 1
    assert instance.task_names()[found.decision.task] == ("wc", "split[0]")
    assert found.broken == ()
    assert found.stuck == ()


def test_a_task_without_any_place_is_named():
    """Of two nodes of 1000 MB, each with a task of 500, neither has room for one of 600."""
    nodes = tuple(Node(f"n{i}", "r", resources={"memory_mb": 1000}) for i in (1, 2))
    small = Component("small", "spout", 2, {"onheap_mb": 500})
    large = Component("large", "bolt", 1, {"onheap_mb": 600})
    instance = Instance("i", Cluster(nodes), (Topology("t", (small, large)),))
    problem = compile_problem(instance)
    steps = (TaskDecision(0, 0, 0), TaskDecision(1, 1, 0))
    whole = complete(instance, (), time_limit_s=20)
    found = first_mistake(problem, steps, whole.placement, time_limit_s=30)
    assert (found.possible, found.impossible, found.broken) == (1, 2, ())
    assert [stuck.task for stuck in found.stuck] == [2]
    places = {(p.node, p.worker): p.forbidden_by for p in found.stuck[0].places}
    assert sorted(places) == [("n1", 0), ("n1", 1), ("n2", 0), ("n2", 1)]
    for broken in places.values():
        assert [(v.rule, v.needed, v.available) for v in broken] == [("capacity", 1100, 1000)]


def test_a_rule_that_is_broken_is_the_reason(examples):
    instance = slotwise.read_instance("tight.json")
    problem = compile_problem(instance)
    steps = tuple(TaskDecision(task, 0, 0) for task in range(5))
    whole = complete(instance, (), time_limit_s=20)
    found = first_mistake(problem, steps, whole.placement, time_limit_s=30)
    assert found.possible == 2
    assert [v.rule for v in found.broken] == ["capacity"]


def test_two_topologies_in_one_worker_are_the_reason():
    one = (Component("a", "spout", 1),)
    instance = Instance("i", Cluster((Node("n1", "r"),)), (Topology("t", one), Topology("u", one)))
    problem = compile_problem(instance)
    steps = (TaskDecision(0, 0, 0), TaskDecision(1, 0, 0))
    whole = complete(instance, (), time_limit_s=20)
    found = first_mistake(problem, steps, whole.placement, time_limit_s=30)
    assert (found.possible, found.impossible) == (1, 2)
    assert [v.rule for v in found.broken] == ["one_topology_per_worker"]


def test_limited_moves_are_refused(examples):
    instance = slotwise.read_instance("tight.json")
    objective = replace(instance.objective, limits={"moved": 1})
    limited = replace(instance, running={}, objective=objective)
    with pytest.raises(InputError, match="limits"):
        complete(limited, (), time_limit_s=5)
