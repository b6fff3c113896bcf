"""A clock that counts the work of a search instead of seconds.

A search whose tokens have such a clock reads its deadlines from it. It moves on by what the search
itself does, so the search does the same whatever else the machine does meanwhile.
"""

from __future__ import annotations

READINGS_PER_UNIT = 10_000.0
"""So many readings of the clock are one unit of work.

Searches read it once or twice in each step of their loops. One unit took 0.3 to 4 s of CPU time in
the runs that were measured; see ``docs/grading.md``.
"""


class WorkClock:
    """Units of work that a search has done: readings of the clock, and what it is told of.

    Not for several threads at once: the order of their readings would be anybody's.

    Parameters
    ----------
    readings_per_unit
        Infinite = the clock stands still, and no limit on it ever strikes.
    """

    def __init__(self, readings_per_unit: float = READINGS_PER_UNIT) -> None:
        self.spent = 0.0
        self._reading = 1 / readings_per_unit

    def now(self) -> float:
        """Return the units spent; the reading itself is some work."""
        self.spent += self._reading
        return self.spent

    def spend(self, units: float) -> None:
        """Add the work of a solver that counts its own."""
        self.spent += units
