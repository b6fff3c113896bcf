"""What checks compare with each other: the same problem, and larger or smaller ones."""

from __future__ import annotations

import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import Cli
from hypothesis import assume, given, settings
from planted_faults import exact

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.instance_file import instance_from_text, instance_text, read_instance
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.edges import edges
from slotwise.testing.checks.finding import Finding
from slotwise.testing.checks.functions import CheckFailed, check
from slotwise.testing.checks.properties import renamed, reordered
from slotwise.testing.checks.reduction import smallest
from slotwise.testing.checks.report import Failure
from slotwise.testing.strategies.instances import instances

SOME = settings(max_examples=30)
SMALL = {"most_tasks": 4, "most_nodes": 3}


def costs(instance: Instance) -> list[object] | None:
    answer = exact(instance)
    if not isinstance(answer, Placement):
        return None
    return [term.value for term in judge(instance, answer).objective]


@SOME
@given(instances(**SMALL))
def test_other_names_and_orders_are_the_same_problem(instance: Instance):
    best = costs(instance)
    assert costs(renamed(instance)) == best
    assert costs(reordered(instance)) == best


@SOME
@given(instances(**SMALL))
def test_names_change_and_their_order_turns_round(instance: Instance):
    before = [node.id for node in instance.cluster.nodes]
    after = [node.id for node in renamed(instance).cluster.nodes]
    assert set(before).isdisjoint(after)
    ranks = [sorted(before).index(one) for one in before]
    assert [sorted(after).index(one) for one in after] == [len(before) - 1 - r for r in ranks]


CLICKS = read_instance(Path(__file__).parents[3] / "docs" / "examples" / "clicks.json")
"""Two racks, each with an uplink."""


def test_uplinks_follow_their_racks():
    cluster = replace(CLICKS.cluster, uplink_mbit_s={"r1": Decimal(10), "r2": Decimal(20)})
    other = renamed(replace(CLICKS, cluster=cluster)).cluster
    assert [other.uplink_mbit_s[rack] for rack in other.racks] == [10, 20]
    assert set(other.racks).isdisjoint(cluster.racks)


def test_a_cluster_with_uplinks_can_be_made_plainer():
    made = smallest(CLICKS, lambda one: len(one.cluster.nodes) == 4)
    assert made.cluster.racks == ("r1",)
    assert made.cluster.uplink_mbit_s.keys() <= {"r1"}


@SOME
@given(instances("feasible", **SMALL))
def test_at_an_edge_the_placement_no_longer_fits(instance: Instance):
    answer = exact(instance)
    assume(isinstance(answer, Placement))
    for edge in edges(instance, answer):
        assert len({v.rule for v in judge(edge, answer).violations}) == 1
        assert instance_from_text(instance_text(edge)) == edge


@SOME
@given(instances("running"))
def test_what_always_fails_becomes_one_empty_node(instance: Instance):
    made = smallest(instance, lambda one: True)
    assert len(made.cluster.nodes) == 1
    assert made.task_names() == ()
    assert not made.running


@SOME
@given(instances())
def test_a_smallest_instance_still_fails(instance: Instance):
    def has_two_tasks(one: Instance) -> bool:
        return len(one.task_names()) >= 2

    assume(has_two_tasks(instance))
    assert len(smallest(instance, has_two_tasks).task_names()) == 2


@settings(max_examples=5)
@given(instances("running"))
def test_a_smaller_instance_is_judged_as_its_file_has_it(instance: Instance):
    seen: list[Instance] = []

    def runs_in_name_only(one: Instance) -> bool:
        seen.append(one)
        return bool(one.running) and not any(one.running.values())

    smallest(instance, runs_in_name_only)
    smallest(instance, lambda one: not runs_in_name_only(one))
    assert all(instance_from_text(instance_text(one)) == one for one in seen)


def test_a_crash_at_a_limit_of_moves_is_shown_again(cli: Cli, tmp_path: Path):
    found = cli(
        *(
            "test-scheduler",
            "planted_faults:crashes_at_a_limit_of_moves",
            "--check",
            "moves<=0",
            "--examples",
            60,
        ),
        *("--seed", 0, "--save", tmp_path, "--json"),
    )
    assert found.code == 1, found
    again = cli(*shlex.split(found.json["checks"][0]["again"])[1:], "--json")
    assert again.json["checks"][0]["finding"] == found.json["checks"][0]["finding"]


def of_size(tasks: int, *, is_reduced: bool | None) -> str:
    nodes = tuple(Node(f"n{index}", "r") for index in range(2))
    instance = Instance("i", Cluster(nodes), (Topology("t", (Component("a", "bolt", tasks),)),))
    return Failure(instance, Finding("fails"), is_reduced).why_not_smaller()


def test_lost_nodes_have_other_names_too() -> None:
    made = Instance(
        "lost",
        Cluster((Node("n1", "r"),)),
        (Topology("t", (Component("a", "bolt", 2),)),),
        running={"t": {"a[0]": Place("n1", 0), "a[1]": Place("n2", 0)}},
    )
    other = renamed(made)
    (lost,) = other.lost
    (topology,) = other.topologies
    assert lost not in ("n1", "n2", other.cluster.nodes[0].id)
    assert other.lost[lost] == ((topology.id, f"{topology.components[0].id}[1]"),)


def test_why_a_large_instance_is_not_smaller_is_told():
    assert of_size(4, is_reduced=True).startswith("No smaller instance was found")
    assert of_size(4, is_reduced=False).startswith("The time")
    assert of_size(4, is_reduced=None) == of_size(3, is_reduced=True) == ""


def test_a_scheduler_that_needs_four_tasks_to_fail_is_told_so():
    def fails_from_four_tasks(instance: Instance) -> Placement:
        assert len(instance.task_names()) < 4
        return Placement(*[(0,) * len(instance.task_names())] * 2)

    with pytest.raises(CheckFailed, match="without any one node, or a task of any component"):
        check(fails_from_four_tasks, "time<=5", max_examples=60, seed=0)
