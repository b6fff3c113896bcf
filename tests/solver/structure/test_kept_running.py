"""Equal things of a placement exchanged so that the most tasks stay where they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

import slotwise
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve
from slotwise.solver.structure.matching import kept_running
from slotwise.testing.random_instances.tiny import tiny_instance

Place = tuple[int, int]


def drawn(rng: np.random.Generator, instance: Instance, labels: int) -> Placement:
    """A place for every task; each topology has workers of its own."""
    topologies = {t.id: i for i, t in enumerate(instance.topologies)}
    places = [
        (int(rng.integers(len(instance.cluster.nodes))), topologies[t] * labels + int(label))
        for (t, _), label in zip(
            instance.task_names(), rng.integers(labels, size=1000), strict=False
        )
    ]
    return Placement(tuple(n for n, _ in places), tuple(w for _, w in places))


def with_running(instance: Instance, placement: Placement) -> Problem:
    """The instance with what runs, and with moves as its last term."""
    terms = tuple(
        "+".join(part for part in term.split("+") if part != "moved")
        for term in instance.objective.terms
    )
    objective = replace(
        instance.objective, terms=(*(term for term in terms if term), "moved"), limits={}
    )
    return compile_problem(
        replace(instance, running=to_places(instance, placement), objective=objective)
    )


@pytest.mark.parametrize("seed", range(60))
def test_no_cost_but_moved_changes_and_no_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = tiny_instance(rng, most_tasks=9, most_nodes=5)
    problem = with_running(instance, drawn(rng, instance, 3))
    placement = drawn(rng, instance, 3)
    kept = kept_running(problem, placement)
    before, after = judge(problem, placement), judge(problem, kept)
    assert {**after.parts, "moved": 0} == {**before.parts, "moved": 0}
    assert after.parts["moved"] <= before.parts["moved"]
    assert Counter(v.rule for v in after.violations) == Counter(v.rule for v in before.violations)
    again = judge(problem, kept_running(problem, kept))
    assert again.parts["moved"] == after.parts["moved"]


def plain(seed: int) -> tuple[Instance, Placement, Placement]:
    """Up to five tasks, three of them twins, on equal nodes in racks; what runs; a placement."""
    rng = np.random.default_rng(seed)
    racks = [str(rack) for rack in rng.integers(2, size=int(rng.integers(2, 5)))]
    nodes = tuple(
        Node(f"n{i}", rack, resources={"cpu": int(rng.choice([100, 200]))})
        for i, rack in enumerate(racks)
    )
    parts = (
        Component("a", "spout", 2, {"cpu": 10}),
        Component("b", "bolt", 2, {"cpu": 20}),
        Component("c", "bolt", 1, {"cpu": 20}),
    )
    streams = (Stream("a", "b"), Stream("a", "c"))
    instance = Instance("plain", Cluster(nodes), (Topology("t", parts, streams),))
    return instance, drawn(rng, instance, 2), drawn(rng, instance, 2)


def maps_of_nodes(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Permutations of nodes that change no distance and no capacity."""
    racks, capacity = problem.node_rack, problem.capacity
    for to in permutations(range(problem.node_count)):
        same = all(
            (racks[i] == racks[j]) == (racks[to[i]] == racks[to[j]])
            for i in range(len(to))
            for j in range(i)
        )
        if same and all((capacity[i] == capacity[to[i]]).all() for i in range(len(to))):
            yield to


def fewest(problem: Problem, running: Placement, placement: Placement) -> int:
    """Fewest moves over all exchanges: twins are b[0], b[1], c[0], and the two of a."""
    kinds = (0, 0, 1, 1, 1)
    here = Counter(zip(kinds, running.nodes, running.workers, strict=True))
    used = sorted(set(zip(placement.nodes, placement.workers, strict=True)))
    most = 0
    for to in maps_of_nodes(problem):
        for labels in product(range(4), repeat=len(used)):
            names = {
                place: (to[place[0]], label) for place, label in zip(used, labels, strict=True)
            }
            if len(set(names.values())) < len(used):
                continue
            places = [names[p] for p in zip(placement.nodes, placement.workers, strict=True)]
            there = Counter((k, *place) for k, place in zip(kinds, places, strict=True))
            most = max(most, (here & there).total())
    return len(kinds) - most


@pytest.mark.parametrize("seed", range(40))
def test_no_exchange_keeps_more(seed: int) -> None:
    instance, running, placement = plain(seed)
    problem = with_running(instance, running)
    kept = judge(problem, kept_running(problem, placement))
    assert kept.parts["moved"] == fewest(problem, running, placement)


def test_exchanges_are_needed() -> None:
    """The drawn cases test something: most placements move fewer tasks once exchanged."""
    better = 0
    for seed in range(40):
        instance, running, placement = plain(seed)
        problem = with_running(instance, running)
        before = judge(problem, placement).parts["moved"]
        better += judge(problem, kept_running(problem, placement)).parts["moved"] < before
    assert better > 20


def test_without_running_nothing_changes() -> None:
    instance, _, placement = plain(0)
    assert kept_running(compile_problem(instance), placement) is placement


def one_way(back: int = 10) -> Instance:
    """A chain a, x, b on three nodes: n1, n3, n2 is cheap, and `back` the way back for each step.

    It runs the wrong way round.
    """
    nodes = tuple(Node(name, "r", resources={"cpu": 100}) for name in ("n1", "n2", "n3"))
    parts = (
        Component("a", "spout", 1, {"cpu": 60}),
        Component("x", "bolt", 1, {"cpu": 60}),
        Component("b", "bolt", 1, {"cpu": 60}),
    )
    topology = Topology("t", parts, (Stream("a", "x"), Stream("x", "b")))
    matrix = ((0, 10, 1), (10, 0, back), (back, 1, 0))
    instance = Instance("one way", Cluster(nodes, matrix=matrix), (topology,))
    return replace(instance, running=to_places(instance, Placement((1, 2, 0), (0, 0, 0))))


@pytest.mark.parametrize("back", [1, 10])
def test_sender_and_receiver_are_equal_only_where_distances_are_the_same_both_ways(
    back: int,
) -> None:
    problem = compile_problem(one_way(back))
    there = Placement((0, 2, 1), (0, 0, 0))
    kept = kept_running(problem, there)
    assert judge(problem, kept).parts["network"] == judge(problem, there).parts["network"] == 2
    assert judge(problem, kept).parts["moved"] == (0 if back == 1 else 2)


def test_an_optimum_by_an_asymmetric_matrix_is_kept() -> None:
    result = solve(one_way())
    assert [int(term.value) for term in result.objective] == [0, 2]
    assert result.status is Status.OPTIMAL


def test_a_swap_that_saves_by_an_asymmetric_matrix_is_planned() -> None:
    plan = slotwise.rebalance(one_way()).plan
    assert plan is not None
    assert int(plan.after.parts["network"]) == 2
    assert sorted(move.name for move in plan.rest) == ["t/a[0]", "t/b[0]"]  # nowhere to park


def test_more_equal_nodes_than_are_compared_stand_for_themselves() -> None:
    """501 equal nodes: the tasks stay on their nodes, and only workers take other names."""
    nodes = tuple(Node(f"n{i}", "r") for i in range(501))
    parts = (Component("a", "bolt", 501),)
    instance = Instance("wide", Cluster(nodes), (Topology("t", parts),), objective=Objective())
    everywhere = tuple(range(501))
    problem = with_running(instance, Placement(everywhere, (7,) * 501))
    shifted = Placement((1, *everywhere[1:]), (0,) * 501)
    assert judge(problem, kept_running(problem, shifted)).parts["moved"] == 1
