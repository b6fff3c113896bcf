"""A search limited by seconds and memory: what it has when they end is its answer."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from slotwise.solver.core.memory import Memory, RunToken
from slotwise.solver.core.progress import OnProgress, Progress
from slotwise.solver.core.supervision import Supervised, TimeLimit, supervised

T = TypeVar("T")


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
