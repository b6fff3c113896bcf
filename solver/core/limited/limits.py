"""The limits of a solve, checked."""

from __future__ import annotations

from slotwise.models.values import time_limit, whole
from slotwise.solver.core.memory_reading import default_limit_mb
from slotwise.solver.core.result import Limits


def checked_limits(
    time_limit_s: float, workers: int, seed: int, memory_mb: int | None, by_work: bool
) -> Limits:
    """Return the limits that the arguments of `solve` ask for; `InputError` names a wrong one."""
    return Limits(
        by_work=by_work,
        time_s=time_limit(time_limit_s, "time_limit_s"),
        workers=whole(workers, "workers", least=1),
        seed=whole(seed, "seed"),
        memory_mb=default_limit_mb()
        if memory_mb is None
        else whole(memory_mb, "memory_limit_mb", least=1),
    )
