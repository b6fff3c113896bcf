"""Whether a scheduler ends in time."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Refusal
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.trial import REFUSED, Trial


def ends_within(trial: Trial, instance: Instance, seconds: float) -> Finding | None:
    """Hold it that an answer comes within `seconds` of wall-clock time.

    A scheduler that takes longer, if only to refuse, is given up then, which raises `MethodError`.
    One that refuses in time has placed nothing: that is not judged.
    """
    answer = replace(trial, time_limit_s=seconds).answer_anew(instance)
    if isinstance(answer, Refusal):
        raise NotJudgedError(REFUSED)
    return None
