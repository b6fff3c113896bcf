"""How far a grading is: counts, and the time that is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from slotwise.benchmarks.grading.rows import FAILED, PROVEN, Kind, Row, RunStatus

COUNTED_AS_FAILED = (RunStatus.INVALID, *FAILED)
"""While a grading runs; whether a refusal is right shows in the end only."""

OVERHEAD_S = 0.05
"""About what a run costs besides its own seconds."""


class Tally:
    """Counts of the runs of one call.

    Parameters
    ----------
    clock
        Gives seconds, of any origin.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.statuses: Counter[str] = Counter()
        self._to_run: Counter[str] = Counter()
        self._slots = 1
        self._clock = clock
        self._started = clock()
        self._done: Counter[str] = Counter()
        self._work: dict[str, float] = {}
        self._proven = 0

    def expect(self, to_run: Mapping[str, int], slots: int) -> None:
        """Add runs that are to be done, `Kind` -> how many; `slots` of them run at a time."""
        self._to_run.update(to_run)
        self._slots = slots

    def take(self, rows: Iterable[Row]) -> None:
        """Count runs that have ended."""
        for row in rows:
            kind = row["kind"]
            self.statuses[row["status"]] += 1
            self._done[kind] += 1
            seconds = OVERHEAD_S + (row["wall_s"] or 0.0)
            self._work[kind] = self._work.get(kind, 0.0) + seconds
            self._proven += kind == Kind.EXACT and row["status"] in PROVEN

    @property
    def total(self) -> int:
        """Runs that were expected so far."""
        return self._to_run.total()

    @property
    def done(self) -> int:
        """Runs that have ended, in whatever way."""
        return self._done.total()

    @property
    def failed(self) -> int:
        """Runs that ended in one of the ways of `COUNTED_AS_FAILED`."""
        return sum(self.statuses[status] for status in COUNTED_AS_FAILED)

    @property
    def proven(self) -> int:
        """Instances with a proof: of the optimum, or that there is no placement."""
        return self._proven

    @property
    def running(self) -> int:
        """Runs under way, at most: one for each slot, as long as there are enough."""
        return max(0, min(self._slots, self.total - self.done))

    @property
    def seconds(self) -> float:
        """Seconds since the tally was made."""
        return self._clock() - self._started

    def seconds_left(self) -> tuple[float, bool] | None:
        """Return the seconds left, and whether that is a lower bound; ``None`` = not known.

        Each remaining run is taken to cost the mean of its kind so far. Of a kind that none has
        ended of nothing is known, so that the time left is a lower bound.
        """
        means = {kind: self._work[kind] / count for kind, count in self._done.items() if count}
        left = {kind: count - self._done[kind] for kind, count in self._to_run.items()}
        done = sum(self._work.values())
        if not done:
            return None
        timed = sum(count * means[kind] for kind, count in left.items() if kind in means)
        partly = any(count > 0 and kind not in means for kind, count in left.items())
        return self.seconds * timed / done, partly
