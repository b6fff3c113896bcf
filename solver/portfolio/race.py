"""Searches side by side in threads: the first proof ends them all.

Threads serve because the searches that take long are native code that lets others run meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.supervision import GRACE_S, POLL_S, Task


def side_by_side(
    lanes: Sequence[Callable[[RunToken], None]], is_settled: Callable[[], bool], token: RunToken
) -> None:
    """Run all lanes at once, each with a child of `token`, until all have ended.

    As soon as everything is settled, or `token` is cancelled, all are told to stop; one that does
    not within `GRACE_S` is left behind. What a lane raises stops the others, too, and is raised
    here.
    """
    bell: SimpleQueue[None] = SimpleQueue()
    tasks = [Task(lane, lambda: bell.put(None), token.child()) for lane in lanes]
    patience = math.inf
    while not all(task.has_ended for task in tasks) and time.perf_counter() < patience:
        with suppress(Empty):
            bell.get(timeout=POLL_S)
        enough = token.is_cancelled or is_settled() or any(task.has_failed for task in tasks)
        if enough and patience == math.inf:
            patience = time.perf_counter() + GRACE_S
            for task in tasks:
                task.token.cancel()
    for task in tasks:
        if task.has_ended:
            task.result()
