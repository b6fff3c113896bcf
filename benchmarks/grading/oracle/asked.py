"""What a call of `grade` asks of exact runs, checked and in the terms of runs."""

from __future__ import annotations

from dataclasses import replace

from slotwise.benchmarks.grading.plan import RunLimits
from slotwise.models.errors import InputError
from slotwise.solver.core.limited import wall_limit_s


def by_work(limits: RunLimits) -> RunLimits:
    """Return limits whose seconds are units of work instead, on one thread, with a safety limit."""
    units = limits.time_limit_s
    return replace(limits, time_limit_s=wall_limit_s(units), workers=1, work=units)


def checked_share(share: object) -> float:
    """Return the share of instances that is cross-checked.

    Raises
    ------
    InputError
        When it is not a number from 0 to 1.
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError("must be a share from 0 to 1", field="crosscheck", value=share)
    return float(share)
