"""``admits`` counts what is placed whole and validly; other answers than refusals do not pass."""

from __future__ import annotations

import pytest
from planted_faults import exact

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.testing.checks.functions import CheckFailed, check_admits
from slotwise.testing.checks.scheduler import Scheduler


def places_nothing(instance: Instance) -> dict[str, object]:
    return {}


def leaves_all_out(instance: Instance) -> Placement:
    none = (UNPLACED,) * len(instance.task_names())
    return Placement(none, none)


def puts_all_in_one_worker(instance: Instance) -> Placement:
    return Placement(*[(0,) * len(instance.task_names())] * 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheduler", "finding"),
    [
        (places_nothing, "leaves out tasks"),
        (leaves_all_out, "leaves out tasks"),
        (puts_all_in_one_worker, "where a valid placement exists"),
        (lambda _: Refusal("never"), "refuses what can be placed: never"),
    ],
)
def test_what_is_not_placed_counts_against_the_share(scheduler: Scheduler, finding: str):
    with pytest.raises(CheckFailed, match=finding):
        check_admits(scheduler, 0, max_examples=10, seed=3)


def test_the_exact_scheduler_admits_all():
    assert check_admits(exact, 0, max_examples=10, seed=3).share == 1
