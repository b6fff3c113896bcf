"""Code that draws from `random` or `numpy.random` is seen to waver, although Hypothesis seeds."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.testing import story_of
from slotwise.testing.checks.functions import CheckFailed, check_deterministic
from slotwise.testing.fresh_randomness import fresh_randomness
from slotwise.testing.validators.check import check_validator
from slotwise.testing.validators.report import Mistake

STORIES = settings(
    max_examples=30,
    stateful_step_count=5,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
)
DRAWS: tuple[Callable[[], float], ...] = (random.random, np.random.random)


def at_random(draw: Callable[[], float]) -> Callable[[Instance], Placement | Refusal]:
    """Return a scheduler that puts all tasks on the first node, or refuses now and then."""

    def scheduler(instance: Instance) -> Placement | Refusal:
        count = len(instance.task_names())
        if not count or draw() < 0.2:
            return Refusal("not today")
        return Placement((0,) * count, tuple(range(count)))

    return scheduler


@pytest.mark.parametrize("draw", DRAWS)
def test_a_scheduler_is_not_deterministic(draw: Callable[[], float]) -> None:
    with pytest.raises(CheckFailed, match=r"then with a refusal|answers with a refusal"):
        check_deterministic(at_random(draw), max_examples=60, seed=0)


def test_a_story_is_not_deterministic() -> None:
    def refuses_or_fails(instance: Instance) -> Refusal:
        return Refusal("" if random.random() < 0.2 else "never places anything")

    with pytest.raises(AssertionError, match="refuses without a reason"):
        run_state_machine_as_test(story_of(refuses_or_fails), settings=STORIES)


def test_a_validator_wavers() -> None:
    def validator(instance: Instance, placement: Placement) -> bool:
        return judge(instance, placement).valid != (random.random() < 0.2)

    report = check_validator(validator, rules=["slots"], max_examples=50, reproducible=True)
    assert Mistake.WAVERS in {finding.mistake for finding in report.findings}


def test_the_state_is_restored() -> None:
    before = random.getstate()
    random.seed(3)
    expected = random.Random(3).random()
    with fresh_randomness():
        random.random()
    assert random.random() == expected
    random.setstate(before)
