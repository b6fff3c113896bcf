"""Storm's even scheduler: vectors by hand, and what it shares with every method."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, Refusal, to_places
from slotwise.models.instance.topology import Ackers, Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.testing import instances

ROUND_ROBIN = HEURISTICS["round-robin"]


def cluster(**slots: int | None) -> Cluster:
    return Cluster(
        tuple(
            Node(node, "r", slots=most, resources={"cpu": Decimal(100)})
            for node, most in slots.items()
        )
    )


def topology(key: str, workers: int | None, **parallelism: int) -> Topology:
    components = tuple(
        Component(name, "bolt", count, {"cpu": Decimal(10)}) for name, count in parallelism.items()
    )
    return Topology(key, components, workers=workers)


def placed(nodes: Cluster, *topologies: Topology, objective: Objective | None = None) -> Placement:
    answer = refused_or_placed(nodes, *topologies, objective=objective)
    assert isinstance(answer, Placement)
    return answer


def refused_or_placed(
    nodes: Cluster, *topologies: Topology, objective: Objective | None = None
) -> Placement | Refusal:
    instance = Instance("vector", nodes, topologies, objective=objective or Objective())
    return run_method(compile_problem(instance), ROUND_ROBIN, 0)


def test_slots_are_interleaved_most_free_first_and_tasks_go_by_component_name() -> None:
    # Nodes by free slots: n2 (3), n3 (2), n1 (1). Slots in turn: n2/0 n3/0 n1/0, n2/1 n3/1, n2/2;
    # four workers take the first four. Storm numbers tasks by component name: a before b.
    #   a[0] n2/0   a[1] n3/0   a[2] n1/0   b[0] n2/1   b[1] n2/0 (the fifth starts over)
    answer = placed(cluster(n1=1, n2=3, n3=2), topology("t", 4, b=2, a=3))
    assert answer == Placement(nodes=(1, 1, 1, 2, 0), workers=(1, 0, 0, 0, 0))


def test_the_next_topology_uses_the_slots_left() -> None:
    # After four workers (n2 two, n3 and n1 one each): n2 and n3 have one left, n1 none.
    # Three are asked for, two are there: n2/2, n3/1.
    answer = placed(cluster(n1=1, n2=3, n3=2), topology("t", 4, a=4), topology("u", 3, a=3))
    assert answer.nodes[4:] == (1, 2, 1)
    assert answer.workers[4:] == (2, 1, 2)


def test_ties_of_free_slots_go_by_node_id() -> None:
    answer = placed(cluster(n2=1, n10=1, n1=1), topology("t", 3, a=3))
    assert answer.nodes == (2, 1, 0)  # n1, n10, n2: text order, as Storm's TreeMap has it


def test_ackers_are_numbered_by_name_too() -> None:
    # "Count" < "__acker" < "spout" in code point order.
    parts = topology("t", 4, spout=1, Count=1)
    with_ackers = Topology("t", parts.components, workers=4, ackers=Ackers(1))
    assert placed(cluster(n1=4), with_ackers).workers == (2, 0, 1)


def test_without_workers_each_node_with_a_free_slot_has_one() -> None:
    answer = placed(cluster(n1=2, n2=0, n3=2), topology("t", None, a=5))
    assert answer.nodes == (0, 2, 0, 2, 0)
    assert answer.workers == (0, 0, 0, 0, 0)


def test_unlimited_slots_give_as_many_as_are_asked_for() -> None:
    answer = placed(cluster(n1=2, n2=None), topology("t", 4, a=4), topology("u", 2, a=2))
    # t: n2/0 n1/0 n2/1 n1/1; n1 is full, so u has n2/2 n2/3.
    assert answer.nodes == (1, 0, 1, 0, 1, 1)
    assert answer.workers == (0, 0, 1, 1, 2, 3)


def test_slots_that_no_task_reaches_stay_free() -> None:
    answer = placed(cluster(n1=2), topology("t", 2, a=1), topology("u", 2, a=2))
    assert answer.workers == (0, 1, 1)


def test_resources_are_ignored_and_the_judge_says_so() -> None:
    nodes = cluster(n1=1)
    instance = Instance("vector", nodes, (topology("t", 1, a=11),))
    answer = run_method(compile_problem(instance), ROUND_ROBIN, 0)
    assert isinstance(answer, Placement)
    assert [v.rule for v in judge(instance, answer).violations] == ["capacity"]  # 110 of 100


def test_no_slot_left_is_refused_by_name() -> None:
    answer = refused_or_placed(cluster(n1=1), topology("t", 1, a=1), topology("u", 1, a=1))
    assert answer == Refusal("no slot is left for topology u")


def test_no_slot_left_is_left_out_where_that_is_allowed() -> None:
    objective = Objective(terms=("rejected", "network"))
    answer = placed(
        cluster(n1=1), topology("t", 1, a=1), topology("u", 1, a=2), objective=objective
    )
    assert answer.nodes == (0, -1, -1)


def test_a_topology_without_tasks_needs_no_slot() -> None:
    assert placed(cluster(n1=0), topology("t", 1, a=0)) == Placement((), ())


@given(instances(wide_numbers=True))
def test_only_slots_and_topologies_per_worker_are_heeded(instance: Instance) -> None:
    problem = compile_problem(instance)
    answer = ROUND_ROBIN.place(problem, np.random.default_rng(0))
    if isinstance(answer, Refusal):
        assert "no slot is left" in answer.reason
        return
    broken = {violation.rule for violation in judge(problem, answer).violations}
    assert broken.isdisjoint({"placed", "slots", "one_topology_per_worker"})


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_the_order_of_the_nodes_changes_nothing(order: tuple[int, ...]) -> None:
    nodes = cluster(n1=1, n2=3, n3=2).nodes
    shuffled = Cluster(tuple(nodes[index] for index in order))
    instance = Instance("vector", shuffled, (topology("t", 5, a=4, b=4),))
    answer = run_method(compile_problem(instance), ROUND_ROBIN, 0)
    assert isinstance(answer, Placement)
    straight = Instance("vector", Cluster(nodes), (topology("t", 5, a=4, b=4),))
    expected = run_method(compile_problem(straight), ROUND_ROBIN, 0)
    assert isinstance(expected, Placement)
    assert to_places(instance, answer) == to_places(straight, expected)
