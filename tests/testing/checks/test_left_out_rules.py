"""A scheduler that leaves one rule out, and is exact otherwise, is found out; rule by rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from planted_faults import Answer, exact, forgets_the_last_task, two_topologies_in_a_worker

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.testing.checks import scope
from slotwise.testing.checks.functions import CheckFailed, check
from slotwise.testing.validators.case import RULES

pytestmark = pytest.mark.usefixtures("only_found")


def exact_without(rule: str, instance: Instance) -> Answer:
    """Place exactly as if the instance did not have a rule."""
    return exact(scope.within(instance, set(scope.RULES) - {rule}))


SCHEDULERS: dict[str, Callable[[Instance], Answer]] = {
    **{rule: partial(exact_without, rule) for rule in RULES},
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
