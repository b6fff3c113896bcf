"""Telling a search to stop: at a deadline, from Ctrl-C, or from another thread.

Whoever starts a search hands it a `CancellationToken`. A loop that may take long calls its
`check` now and then, and ends by `CancelledError` where the token is cancelled; the search catches
that to keep what it found. A part of a search that has less time gets a `child`.
"""

from __future__ import annotations

import math
import time

from slotwise.models.work_clock import WorkClock


class CancelledError(Exception):
    """A search was told to stop, or its deadline has passed."""


class CancellationToken:
    """A wish to stop; any thread may express it, once and for all.

    Parameters
    ----------
    deadline
        Moment (`now`) from which the token counts as cancelled.
    parent
        A token that this one follows, too, and whose clock it has.
    clock
        Counts work instead of seconds, for a token without a parent; ``None`` = seconds count.
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
        """Return the moment on the clock of the deadlines; reading a clock of work moves it on."""
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
        """Whether somebody cancelled the token or a parent, or the deadline has passed."""
        now = time.perf_counter() if self.clock is None else self.clock.spent
        return self.is_told or now >= self._deadline

    @property
    def is_told(self) -> bool:
        """Whether somebody cancelled the token or a parent, whatever the deadline is."""
        token: CancellationToken | None = self
        while token is not None:
            if token._cancelled:
                return True
            token = token._parent
        return False

    def spend(self, units: float) -> None:
        """Add work that a solver counted itself; only a clock of work heeds it."""
        if self.clock is not None:
            self.clock.spend(units)

    def cancel(self) -> None:
        """Cancel the token and its children; its parent goes on."""
        self._cancelled = True

    def check(self) -> None:
        """Raise `CancelledError` where the token is cancelled; costs next to nothing."""
        if self.clock is not None:
            self.clock.now()
        if self.is_cancelled:
            raise CancelledError

    def child(self, deadline: float = math.inf) -> CancellationToken:
        """Return a token that is cancelled with this one, at `deadline`, or by itself."""
        return CancellationToken(deadline, self)


UNLIMITED = CancellationToken()
"""For whoever sets no limit; nobody cancels it."""
