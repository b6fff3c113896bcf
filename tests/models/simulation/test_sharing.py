"""Cores that are shared, and links that queue, by hand."""

from __future__ import annotations

import pytest
from simpy import Environment

from slotwise.models.simulation.sharing import Link, SharedServer, after


def ends(servers: int | None, jobs: list[tuple[float, float]]) -> tuple[list[float], float]:
    """Return when each job (start, seconds alone) ends, and the seconds of a server in all.

    ``None``: of a link.
    """
    env = Environment()
    server = Link(env) if servers is None else SharedServer(env, servers)
    found = [0.0] * len(jobs)

    def start(job: int) -> None:
        def end() -> None:
            found[job] = env.now

        server.use(jobs[job][1], end)

    for job, (begin, _) in enumerate(jobs):
        after(env, begin, lambda job=job: start(job))  # type: ignore[misc]
    env.run()
    return found, server.used


@pytest.mark.parametrize(
    ("servers", "jobs", "expected"),
    [
        (1, [(0, 3)], [3]),
        # One after the other, and idle from 4 to 6.
        (None, [(0, 3), (1, 1), (6, 2)], [3, 4, 8]),
        # Alone until 1, then half each: the second is done at 3, the first 1 later.
        (1, [(0, 3), (1, 1)], [4, 3]),
        # A core for each of two.
        (2, [(0, 3), (1, 1)], [3, 2]),
        # Three on two cores from 0 on, 2/3 each: the short one ends at 1.5, the others alone then.
        (2, [(0, 3), (0, 3), (0, 1)], [3.5, 3.5, 1.5]),
        # The third comes when 1 s is left of each: 1.5 s for that, and 1 s alone for the rest.
        (2, [(0, 2), (0, 2), (1, 2)], [2.5, 2.5, 3.5]),
        # Equal ends, and a job of no time.
        (1, [(0, 1), (0, 1), (1, 0)], [2, 2, 1]),
    ],
)
def test_ends_of_jobs(
    servers: int | None, jobs: list[tuple[float, float]], expected: list[float]
) -> None:
    found, used = ends(servers, jobs)
    assert found == pytest.approx(expected)
    assert used == pytest.approx(sum(seconds for _, seconds in jobs))
