"""Stopping a search: at a deadline, by Ctrl-C, or from another thread.

A search receives a `CancellationToken` from its caller. A loop that may take long calls `check` of
the token now and then, which raises `CancelledError` if the token is cancelled; the search catches
that to keep its results. A part of a search that has less time gets a `child`.
"""

from __future__ import annotations

import math
import time


class CancelledError(Exception):
    """A search was asked to stop, or its deadline has passed."""


class CancellationToken:
    """A request to stop, which any thread may make, for good.

    Parameters
    ----------
    deadline
        Moment (`now`) from which the token counts as cancelled.
    parent
        A token that this one also follows, and whose clock it uses.
    clock
        Counts work instead of seconds, for a token without a parent; ``None`` = it uses seconds.
    """

    def __init__(
        self,
        deadline: float = math.inf,
        parent: CancellationToken | None = None,
        clock: WorkClock | None = None,
    ) -> None:
        self._deadline = deadline if parent is None else min(deadline, parent.deadline)
        self._parent = parent
        self._cancelled = False
        self.clock: WorkClock | None = clock if parent is None else parent.clock

    def now(self) -> float:
        """Return the time of the clock of the deadlines; reading a clock of work advances it."""
        return time.perf_counter() if self.clock is None else self.clock.now()

    @property
    def deadline(self) -> float:
        """The earliest deadline of the token and its parents; infinite = none."""
        return self._deadline

    @property
    def remaining(self) -> float:
        """Seconds or units of work to the deadline, below 0 after it; infinite = there is none."""
        return self._deadline - self.now()

    @property
    def is_cancelled(self) -> bool:
        """Whether the token or a parent was cancelled, or the deadline has passed."""
        now = time.perf_counter() if self.clock is None else self.clock.spent
        return self.is_cancel_requested or now >= self._deadline

    @property
    def is_cancel_requested(self) -> bool:
        """Whether the token or a parent was cancelled, whatever the deadline is."""
        token: CancellationToken | None = self
        while token is not None:
            if token._cancelled:
                return True
            token = token._parent
        return False

    def spend(self, units: float) -> None:
        """Add work that a solver counted itself; only a clock of work counts it."""
        if self.clock is not None:
            self.clock.spend(units)

    def cancel(self) -> None:
        """Cancel the token and its children, but not its parent."""
        self._cancelled = True

    def check(self) -> None:
        """Raise `CancelledError` if the token is cancelled; cheap."""
        if self.clock is not None:
            self.clock.now()
        if self.is_cancelled:
            raise CancelledError

    def child(self, deadline: float = math.inf) -> CancellationToken:
        """Return a token that is cancelled with this one, at `deadline`, or by itself."""
        return CancellationToken(deadline, self)


UNLIMITED = CancellationToken()
"""The default for callers without a limit; never cancelled."""


# A clock that counts the work of a search instead of seconds.
#
# A search whose tokens have such a clock reads its deadlines from it. Only the search itself
# advances it, so the search does the same however busy the machine is.

READINGS_PER_UNIT = 10_000.0
"""Readings of the clock that make one unit of work.

Searches read it once or twice in each step of their loops. One unit took 0.3 to 4 s of CPU time in
the runs that were measured; see ``docs/grading.md``.
"""


class WorkClock:
    """Units of work of a search: readings of the clock, and work added to it.

    Not for several threads at once: the order of their readings would be random.

    Parameters
    ----------
    readings_per_unit
        Infinite = the clock stands still, and no limit on it is ever reached.
    """

    def __init__(self, readings_per_unit: float = READINGS_PER_UNIT) -> None:
        self.spent = 0.0
        self._reading = 1 / readings_per_unit

    def now(self) -> float:
        """Return the units spent; the reading itself counts as work."""
        self.spent += self._reading
        return self.spent

    def spend(self, units: float) -> None:
        """Add the work of a solver that counts its own."""
        self.spent += units
