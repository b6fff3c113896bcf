"""Limits of a search: seconds, or units of its own work.

Limited by seconds (`supervised_in_time`), a search returns what it has when they are over. Limited
by work (`supervised_by_work`), its tokens have a `WorkClock`, so that all its deadlines and shares
of the time count work, and the answer is the same on a busy machine and on an idle one. Wall clock
and memory still have limits there, for safety: if one is passed there is an error, not an answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from slotwise.models.cancellation import WorkClock
from slotwise.models.errors import InputError, UnfinishedError
from slotwise.models.values import time_limit, whole
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.memory import Memory, RunToken, default_limit_mb
from slotwise.solver.core.progress import OnProgress, Progress
from slotwise.solver.core.result import Limits
from slotwise.solver.core.supervision import Supervised, TimeLimit, supervised

T = TypeVar("T")

DIGITS = 6
"""Decimal places of the work that is reported."""

MOST_SECONDS_PER_UNIT, LEAST_WALL_S = 10.0, 60.0


def wall_limit_s(units: float) -> float:
    """Return the wall-clock seconds after which a search of `units` is abandoned."""
    return LEAST_WALL_S + MOST_SECONDS_PER_UNIT * units


def check_takes_work(engine: Engine | None, workers: int) -> None:
    """Raise unless units of work can limit the search.

    Parameters
    ----------
    engine
        ``None`` = ``auto``, which then runs only engines that work can limit.
    workers
        Threads.

    Raises
    ------
    InputError
        For several threads, and for an engine that only seconds can limit.
    """
    if engine is not None and not engine.takes_work:
        rule = "is limited by seconds alone; with a limit of work use auto, cp-sat or another"
        raise InputError(rule, field="engine", value=engine.name)
    if workers != 1:
        rule = "must be 1 with a limit of work: with more, threads race"
        raise InputError(rule, field="workers", value=workers)


def supervised_by_work(
    work: Callable[[RunToken], T],
    events: SimpleQueue[Progress | None],
    on_progress: OnProgress | None,
    units: float,
    memory: Memory,
) -> tuple[Supervised[T], float]:
    """Return what `work` returns, and the units of work that it took.

    No estimate of memory changes what the search does: above the limit it is ended.

    Raises
    ------
    UnfinishedError
        When the safety limit of time or that of memory ended it.
    """
    clock = WorkClock()
    token = RunToken(clock=clock)
    leave_at = time.perf_counter() + wall_limit_s(units)
    with memory.running(token):
        try:
            ended = supervised(work, events, on_progress, TimeLimit(math.inf, leave_at), token)
        except MemoryError as error:
            raise _out_of_memory(memory) from error
    if ended.interrupted:
        return ended, round(clock.spent, DIGITS)
    if token.is_cancel_requested:
        raise _out_of_memory(memory)
    if ended.answer is None or time.perf_counter() >= leave_at:
        raise UnfinishedError(
            f"not finished within {wall_limit_s(units):g} s, the safety limit of {units:g} units "
            "of work; run it again on a less busy machine, or with fewer units",
            out_of_memory=False,
        )
    return ended, round(clock.spent, DIGITS)


def _out_of_memory(memory: Memory) -> UnfinishedError:
    return UnfinishedError(
        f"the process passed its memory limit of {memory.limit_mb:,} MB, and a deterministic "
        "search cannot work with less; raise the limit",
        out_of_memory=True,
    )


def checked_limits(
    time_limit_s: float, workers: int, seed: int, memory_mb: int | None, by_work: bool = False
) -> Limits:
    """Return the limits set by the arguments of `solve`; raises `InputError` for a wrong one."""
    return Limits(
        by_work=by_work,
        time_s=time_limit(time_limit_s, "time_limit_s"),
        workers=whole(workers, "workers", least=1),
        seed=whole(seed, "seed"),
        memory_mb=default_limit_mb()
        if memory_mb is None
        else whole(memory_mb, "memory_limit_mb", least=1),
    )


def supervised_in_time(
    name: str,
    work: Callable[[RunToken], T],
    events: SimpleQueue[Progress | None],
    on_progress: OnProgress | None,
    end: TimeLimit,
    memory: Memory,
) -> Supervised[T]:
    """Return what `work` returns by `end`; lack of memory ends it, and is noted."""
    ended: Supervised[T]
    try:
        ended = supervised(work, events, on_progress, end, RunToken(memory=memory))
    except MemoryError:
        memory.note(name, "ended because it ran out of memory")
        ended = Supervised(None, interrupted=False)
    if ended.answer is None and memory.is_overdue:
        memory.note(name, f"abandoned, over the limit of {memory.limit_mb:,} MB")
    return ended
