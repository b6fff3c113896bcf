"""Running a native search so that Ctrl-C ends it and keeps what it found."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from slotwise.solver.core.ctrl_c import is_stop_requested

POLL_S = 0.05


def run_interruptible(work: Callable[[], None], stop: Callable[[], None]) -> bool:
    """Run `work` in a thread; on Ctrl-C call `stop`, wait for it, and return ``True``.

    The same where this thread is told to stop (`ctrl_c`). Python delivers signals between byte
    codes of the main thread only, so a native call there would not see them. An exception in
    `work` is raised here.
    """
    interrupted = False
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        while not future.done():
            try:
                wait([future], timeout=POLL_S)
            except KeyboardInterrupt:
                interrupted = True
            if interrupted or is_stop_requested():
                interrupted = True
                stop()  # again and again: a call before the search began would be lost
    future.result()
    return interrupted
