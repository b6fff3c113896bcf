"""When workers restart: what they count since their start begins again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from slotwise.models.errors import InputError
from slotwise.pipeline.simulated_logs.draws import Counts
from slotwise.pipeline.simulated_logs.scene import Machine, Scene
from slotwise.pipeline.simulated_logs.settings import LogSettings

APART = 3
"""Buckets between two restarts of a worker: a total must have grown enough to fall visibly."""

Worker = tuple[Machine, int]
"""Node and port."""


@dataclass(slots=True)
class Lives:
    """The lives of a topology's workers: the buckets in which they restart, and running totals.

    Parameters
    ----------
    begins
        Worker -> buckets at whose beginning it restarts, ascending; the first bucket not listed.
    fallen
        Metric -> how many of its running totals are below the one before.
    """

    begins: dict[Worker, list[int]] = field(default_factory=dict)
    fallen: Counter[str] = field(default_factory=Counter)
    _totals: dict[tuple[Worker, str, int], int] = field(default_factory=dict)

    def birth(self, worker: Worker, first: int, buckets: int) -> Counts:
        """Return for each bucket the one in which the worker last began."""
        births = np.array([0, *self.begins.get(worker, ())], np.int64)
        at = np.searchsorted(births, np.arange(first, first + buckets), side="right") - 1
        return births[at]

    def total(self, worker: Worker, task: int, name: str, counts: Counts, first: int) -> Counts:
        """Return the running total of a task's `counts` since the worker's start.

        Call it for each name once per range of buckets, in order.
        """
        before = self._totals.get((worker, name, task), 0)
        total = before + np.cumsum(counts, dtype=np.int64)
        for bucket in self.begins.get(worker, ()):
            at = bucket - first
            if 0 <= at < len(total):
                last = int(total[at - 1]) if at else before
                total[at:] -= last
                self.fallen[name] += bool(total[at] < last)
        self._totals[worker, name, task] = int(total[-1])
        return total


def plan_restarts(
    scenes: Sequence[Scene], settings: LogSettings, buckets: int
) -> list[dict[Worker, list[int]]]:
    """Return, by topology, when its workers restart.

    Raises
    ------
    InputError
        When there are too few buckets for that number of restarts, `APART` buckets apart.
    """
    begins: list[dict[Worker, list[int]]] = [{} for _ in scenes]
    if not settings.restarts:
        return begins
    workers = [(i, worker) for i, scene in enumerate(scenes) for worker in scene.workers]
    times = list(range(APART, buckets, APART))
    places = len(workers) * len(times)
    if settings.restarts > places:
        rule = f"must be at most {places} in {buckets} buckets, {APART} apart; choose more `lines`"
        raise InputError(rule, field="restarts", value=settings.restarts)
    random = np.random.default_rng([settings.seed, 2])
    for place in sorted(random.choice(places, settings.restarts, replace=False).tolist()):
        scene, worker = workers[place % len(workers)]
        begins[scene].setdefault(worker, []).append(times[place // len(workers)])
    return begins
