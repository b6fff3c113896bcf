"""A scheduler that leaves one rule out, and is exact otherwise, is found out; rule by rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from planted_faults import Answer, exact, forgets_the_last_task, two_topologies_in_a_worker

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.functions import CheckFailed, check
from slotwise.testing.validators.case import RULES

pytestmark = pytest.mark.usefixtures("only_found")


def with_nodes(change: Callable[[Node], Node]) -> Callable[[Instance], Instance]:
    def changed(instance: Instance) -> Instance:
        nodes = tuple(map(change, instance.cluster.nodes))
        return replace(instance, cluster=replace(instance.cluster, nodes=nodes))

    return changed


def with_topologies(change: Callable[[Topology], Topology]) -> Callable[[Instance], Instance]:
    return lambda one: replace(one, topologies=tuple(map(change, one.topologies)))


def without(rule: str) -> Callable[[Topology], Topology]:
    fresh = {"incompatible": (), "max_per_node": {}}
    return lambda one: replace(one, constraints=replace(one.constraints, **{rule: fresh[rule]}))


WITHOUT: dict[str, Callable[[Instance], Instance]] = {
    "capacity": with_nodes(lambda one: replace(one, resources=dict.fromkeys(one.resources))),
    "slots": with_nodes(lambda one: replace(one, slots=None)),
    "heap": with_topologies(lambda one: replace(one, worker_max_heap_mb=None)),
    "one_task_per_worker": with_topologies(lambda one: replace(one, one_task_per_worker=False)),
    "one_component_per_worker": with_topologies(
        lambda one: replace(one, one_component_per_worker=False)
    ),
    "incompatible": with_topologies(without("incompatible")),
    "max_per_node": with_topologies(without("max_per_node")),
    "max_moved": lambda one: replace(one, objective=replace(one.objective, limits={})),
}
SCHEDULERS: dict[str, Callable[[Instance], Answer]] = {
    **{rule: lambda one, change=change: exact(change(one)) for rule, change in WITHOUT.items()},
    "placed": forgets_the_last_task,
    "one_topology_per_worker": two_topologies_in_a_worker,
}

OTHERS = [pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 5)]
SEEDS = pytest.mark.parametrize("seed", [0, *OTHERS])


@pytest.mark.slow
@SEEDS
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_left_out_is_found_within_200_examples(rule: str, seed: int) -> None:
    with pytest.raises(CheckFailed) as failed:
        check(SCHEDULERS[rule], "valid", max_examples=200, seed=seed)
    instance = failed.value.failure.instance
    answer = SCHEDULERS[rule](instance)
    assert isinstance(answer, Placement)
    assert {found.rule for found in judge(instance, answer).violations} == {rule}


def ignores_the_matrix(instance: Instance) -> Answer:
    return exact(replace(instance, cluster=replace(instance.cluster, matrix=None)))


@SEEDS
def test_a_matrix_left_out_is_found_within_200_examples(seed: int) -> None:
    with pytest.raises(CheckFailed) as failed:
        check(ignores_the_matrix, "gap<=0", max_examples=200, seed=seed)
    assert failed.value.failure.instance.cluster.matrix is not None
