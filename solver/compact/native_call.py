"""Running a native search so that cancelling its token ends it and keeps its results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from slotwise.models.cancellation import CancellationToken

POLL_S = 0.05


def run_interruptible(
    work: Callable[[], None], stop: Callable[[], None], token: CancellationToken
) -> bool:
    """Run `work` in a thread; once `token` is cancelled call `stop`, wait, and return ``True``.

    An exception in `work` is raised here. An exception in this thread while it waits (Ctrl-C where
    no handler is set) also stops `work` before it propagates.
    """
    interrupted = False
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        try:
            while not future.done() and not interrupted:
                wait([future], timeout=POLL_S)
                # On a clock of work the deadline is the solver's own: here it would race with it.
                interrupted = (
                    token.is_cancelled if token.clock is None else token.is_cancel_requested
                )
        finally:
            while not future.done():
                stop()  # again and again: a call before the search began would be lost
                wait([future], timeout=POLL_S)
    future.result()
    return interrupted
