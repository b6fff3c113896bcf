"""What a task would cost elsewhere is what the judge says of the moved placement."""

from __future__ import annotations

import pytest
from explained_cases import placed_cases

import slotwise
from slotwise.models.explanation.alternatives import alternatives, moved
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem


@pytest.mark.slow
def test_each_place_is_judged():
    refused = set()
    for one, placement, rng in placed_cases(60):
        task = int(rng.integers(one.problem.task_count))
        before = judge(one.problem, placement)
        ids = [node.id for node in one.instance.cluster.nodes]
        found = alternatives(one.problem, placement, task)
        assert sum(place.here for place in found) == 1, one.number
        assert found[0].here
        for place in found:
            there = moved(placement, task, ids.index(place.node), place.worker)
            verdict = judge(one.problem, there)
            assert place.objective == verdict.objective
            changes = zip(verdict.objective, before.objective, strict=True)
            assert list(place.change.values()) == [now.value - old.value for now, old in changes]
            worse = {(v.rule, v.place, v.subject) for v in verdict.violations}
            assert {(v.rule, v.place, v.subject) for v in place.forbidden_by} <= worse
            broken = {v for v in verdict.violations if v.rule != "placed"}
            assert broken == {*place.forbidden_by, *place.also_before}, one.number
            if before.valid:
                assert bool(place.forbidden_by) == (not verdict.valid), one.number
            refused |= {v.rule for v in place.forbidden_by}
    assert refused >= {"capacity", "slots", "heap"}


def test_every_node_has_a_fresh_worker_and_those_of_the_topology():
    for one, placement, rng in placed_cases(60):
        task = int(rng.integers(one.problem.task_count))
        owner = [one.problem.classes[c].topology for c in one.problem.task_class.tolist()]
        ids = [node.id for node in one.instance.cluster.nodes]
        found = {(ids.index(p.node), p.worker) for p in alternatives(one.problem, placement, task)}
        mine = {
            (node, label)
            for other, (node, label) in enumerate(
                zip(placement.nodes, placement.workers, strict=True)
            )
            if owner[other] == owner[task]
        }
        assert mine <= found
        others = set(zip(placement.nodes, placement.workers, strict=True)) - {
            (placement.nodes[task], placement.workers[task])
        }
        fresh = {node for node, label in found if (node, label) not in others}
        assert fresh == set(range(one.problem.node_count))


def test_a_worker_shared_with_another_topology_is_here_and_not_fresh():
    component = (Component("a", "spout", 1),)
    topologies = (Topology("t", component), Topology("u", component))
    problem = compile_problem(Instance("i", Cluster((Node("n1", "r"),)), topologies))
    found = alternatives(problem, Placement((0, 0), (0, 0)), 1)
    assert [(p.worker, p.here, p.fresh) for p in found] == [(0, True, False), (1, False, True)]
    assert [v.rule for v in found[0].also_before] == ["one_topology_per_worker"]
    assert not found[1].forbidden_by


def test_an_unplaced_task_has_places_but_none_of_its_own(examples):
    problem = compile_problem(slotwise.read_instance("word-count.json"))
    empty = Placement((UNPLACED,) * 9, (UNPLACED,) * 9)
    found = alternatives(problem, empty, 0)
    assert [(p.node, p.here, p.forbidden_by) for p in found] == [
        (node, False, ()) for node in ("n1", "n2", "n3")
    ]


@pytest.mark.parametrize(
    ("worker", "rules"), [(0, {"capacity", "heap"}), (1, {"capacity"}), (2, {"capacity"})]
)
def test_full_node_by_hand(examples, worker, rules):
    instance = slotwise.read_instance("word-count.json")
    problem = compile_problem(instance)
    placement = slotwise.place(instance, "r-storm", seed=0)
    task = instance.task_names().index(("wc", "split[1]"))
    found = alternatives(problem, placement, task)
    there = next(p for p in found if p.node == "n1" and p.worker == worker)
    assert {v.rule for v in there.forbidden_by} == rules
