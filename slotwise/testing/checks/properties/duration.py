"""Whether a scheduler ends in time."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.instance.instance import Instance
from slotwise.testing.checks.finding import Finding
from slotwise.testing.checks.trial import Trial


def ends_within(trial: Trial, instance: Instance, seconds: float) -> Finding | None:
    """Hold it that an answer comes within `seconds` of wall-clock time, a refusal included.

    A scheduler that takes longer is given up then, which raises `MethodError`.
    """
    replace(trial, time_limit_s=seconds).answer_anew(instance)
    return None
