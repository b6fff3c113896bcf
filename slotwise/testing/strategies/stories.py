"""Stories: topologies come and go, nodes fail, and a scheduler is asked each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal

Answer = Placement | Refusal | Mapping[str, Mapping[str, Any]]
SchedulerFunction = Callable[[Instance], Answer]


class SchedulerStory(RuleBasedStateMachine):
    """A cluster and topologies over time; subclasses name the scheduler. See `story_of`."""

    scheduler: SchedulerFunction


def story_of(scheduler: SchedulerFunction) -> type[SchedulerStory]:
    """Return the state machine that tells stories to a scheduler."""
    raise NotImplementedError
