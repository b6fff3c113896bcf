"""What jobs use at the same time: cores, which they share, and links, before which they queue."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simpy import Environment

Then = Callable[[], None]
"""What happens next."""


def after(env: Environment, seconds: float, then: Then) -> None:
    """Call `then` after a number of seconds of simulated time."""
    env.timeout(seconds).callbacks.append(lambda _: then())


class SharedServer:
    """Servers that any number of jobs share evenly, each job on one server at most.

    Of n jobs on c servers each advances at the rate min(1, c / n). All advance alike, so that one
    clock, `attained`, tells how far: a job ends when the clock has advanced by its seconds.

    Parameters
    ----------
    env
        The simulation's.
    servers
        How many: the cores of a node.
    """

    def __init__(self, env: Environment, servers: int = 1) -> None:
        self._env = env
        self._servers = servers
        self._jobs: list[tuple[float, int, Then]] = []
        self._number = count()
        self._attained = 0.0
        self._since = 0.0
        self._timer = 0
        self._used = 0.0

    @property
    def attained(self) -> float:
        """Seconds of service that a job has had which has been here from the start."""
        self._advance()
        return self._attained

    @property
    def used(self) -> float:
        """Seconds of one server that all jobs together have had."""
        self._advance()
        return self._used

    def use(self, seconds: float, then: Then) -> None:
        """Start a job that takes `seconds` alone; `then` is called at its end."""
        self._advance()
        jobs, end = self._jobs, self._attained + seconds
        is_next = not jobs or end < jobs[0][0]
        heappush(jobs, (end, next(self._number), then))
        if is_next or len(jobs) > self._servers:
            self._set_timer()

    def _advance(self) -> None:
        now, jobs = self._env.now, len(self._jobs)
        if jobs:
            each = (now - self._since) * min(1.0, self._servers / jobs)
            self._attained += each
            self._used += each * jobs
        self._since = now

    def _set_timer(self) -> None:
        """Wake up when the next job ends; an earlier timer no longer counts."""
        left = max(0.0, self._jobs[0][0] - self._attained)
        self._timer += 1
        number = self._timer
        slowdown = max(1.0, len(self._jobs) / self._servers)
        after(self._env, left * slowdown, lambda: self._end(number))

    def _end(self, timer: int) -> None:
        if timer != self._timer:
            return
        self._advance()
        end, _, then = heappop(self._jobs)
        self._attained = end  # but for rounding it is
        then()
        if timer == self._timer and self._jobs:
            self._set_timer()


class Link:
    """A link that sends one tuple after the other, in the order in which they come.

    Parameters
    ----------
    env
        The simulation's.
    """

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._free = 0.0
        self._taken = 0.0

    @property
    def used(self) -> float:
        """Seconds in which it has sent."""
        return self._taken - max(0.0, self._free - self._env.now)

    def use(self, seconds: float, then: Then) -> None:
        """Queue a tuple that takes `seconds`; `then` is called when all of it has passed."""
        now = self._env.now
        self._free = max(now, self._free) + seconds
        self._taken += seconds
        after(self._env, self._free - now, then)
