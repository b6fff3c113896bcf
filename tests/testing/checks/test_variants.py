"""What checks compare with each other: the same problem, and larger or smaller ones."""

from __future__ import annotations

from hypothesis import assume, given, settings
from planted_faults import exact

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.properties.edges import edges
from slotwise.testing.checks.properties.renamed import renamed
from slotwise.testing.checks.properties.reordered import reordered
from slotwise.testing.checks.reduction.smallest import smallest
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


@SOME
@given(instances("feasible", **SMALL))
def test_at_an_edge_the_placement_no_longer_fits(instance: Instance):
    answer = exact(instance)
    assume(isinstance(answer, Placement))
    for edge in edges(instance, answer):
        assert {v.rule for v in judge(edge, answer).violations} == {"capacity"}


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
