"""Additive rules on what workers hold: weights of the kinds, and the most of them in one worker.

A node with S workers holds at most S times that. By the heap alone, 50 workers of 1,984 MB hold
387 tasks of 256 MB; but each holds 7, and all 350. So tasks are also weighed in whole parts of a
worker (the dual feasible functions of Fekete and Schepers, Mathematical Programming 91, 2001), and
their weights lifted one after the other, as those of cover inequalities are. What a worker holds at
most is computed for each weighing by dynamic programming, so that none needs a proof of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.models.values import NO_LIMIT

PARTS = 32
"""Most parts of a worker in which tasks are weighed."""

GRAIN = 12
"""Lifted weights are multiples of this fraction of a part."""

LARGEST_UNITS = 1 << 30
"""Of a worker, in which the rules of several topologies are exact."""

WHOLE_WEIGHTS = 16
"""Weights that are tried as a whole number of units."""

MOST_ROUNDED = 2_000_000
"""Weights times numbers of units that are tried for each of these; more would gain next to nothing.
"""

MOST_LIFTED, MOST_UNITS = 8, 10_000
"""Kinds whose weights are lifted: those that take most heap; units of heap of a worker."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkerRule:
    """Weights [K] of the kinds, and the most of them in one worker."""

    weights: IntArray
    most: int

    def workers(self, counts: IntArray) -> IntArray:
        """Return [Y] how many workers the tasks [Y, K] need at least."""
        return np.asarray(-(-(counts @ self.weights) // self.most))


def find_worker_rules(
    heap: IntArray, limit: int, per_worker: IntArray, sizes: IntArray
) -> list[WorkerRule]:
    """Return the rule of the heap, and one of whole parts by which all tasks need more workers.

    Parameters
    ----------
    heap, limit
        [K] memory on the heap of a task, and of a worker; 0 or `NO_LIMIT` = there is no rule.
    per_worker
        [K] most tasks of a kind in a worker.
    sizes
        [K] number of tasks.
    """
    if limit in (0, NO_LIMIT) or not heap.any():
        return []
    by_heap = WorkerRule(heap, limit)
    unit = int(np.gcd.reduce(heap))
    if not 0 < limit // unit <= MOST_UNITS:
        return [by_heap]
    worker = _Worker(heap // unit, limit // unit, per_worker, sizes)
    rules = sorted(worker.weighings(), key=worker.needed)[-1:]
    by_parts = [worker.lifted(rule) for rule in rules]
    return [by_heap, *(rule for rule in by_parts if worker.needed(rule) > worker.needed(by_heap))]


def in_common_units(rules: Sequence[WorkerRule]) -> tuple[IntArray, int]:
    """Return the rules of all topologies as one, weights [K] and the most of them in any worker.

    Where the common units would be too fine, weights are rounded down: a worker that keeps the rule
    of its topology keeps this one. A task that is too large for a worker weighs a whole one.
    """
    limits = [rule.most for rule in rules if 0 < rule.most < NO_LIMIT] or [rules[0].most]
    most = math.lcm(*limits)
    most = most if most <= LARGEST_UNITS else min(max(limits), LARGEST_UNITS)
    weights = [
        0 if rule.most == NO_LIMIT else min(weight, rule.most) * most // max(rule.most, 1)
        for rule in rules
        for weight in rule.weights.tolist()
    ]
    return np.array(weights, dtype=np.int64), most


def coarse(weights: IntArray, capacity: int, most: int) -> tuple[IntArray, int]:
    """Return a rule in at most `most` units: what keeps the rule keeps it rounded down.

    With any t > 0, ``weights.y <= capacity`` gives ``floor(t weights).y <= floor(t capacity)``.
    Where t < 1 is needed it is chosen such that some weight becomes whole and the weights lose
    least against the capacity, in fewer units than `most` if these were too many to try.
    """
    divisor = math.gcd(*weights.tolist()) or 1
    weights, capacity = weights // divisor, capacity // divisor
    if capacity <= most:
        return weights, capacity
    weights = np.minimum(weights, capacity + 1)  # a task that fits nowhere
    distinct, times = np.unique(weights[weights > 0], return_counts=True)
    sample = distinct[
        np.linspace(0, len(distinct) - 1, min(len(distinct), WHOLE_WEIGHTS)).astype(np.int64)
    ]
    most = min(most, max(1, MOST_ROUNDED // max(len(distinct), 1)))
    best = 0.0, most, capacity
    for whole in sample.tolist():
        units = np.arange(1, most * whole // capacity + 1)
        unit = units[:, None] / whole
        rounded = np.floor(distinct * unit + 1e-9) / (distinct * unit) @ times
        room = np.floor(capacity * unit[:, 0] + 1e-9)  # in int64 the product could overflow
        tightness = rounded * capacity * units / whole / np.maximum(room, 1)
        if len(units) and tightness.max() > best[0]:
            chosen = int(tightness.argmax())
            best = float(tightness[chosen]), chosen + 1, whole
    _, number, whole = best
    rounded_weights = [weight * number // whole for weight in weights.tolist()]
    return np.array(rounded_weights, dtype=np.int64), capacity * number // whole


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    """A worker as a knapsack of `room` units, in which kinds take `units` [K] each."""

    units: IntArray
    room: int
    per_worker: IntArray
    sizes: IntArray

    def times(self, k: int) -> int:
        """Return how many tasks of a kind that takes heap fit together."""
        return min(int(self.per_worker[k]), self.room // max(int(self.units[k]), 1))

    def needed(self, rule: WorkerRule) -> float:
        """Return how many workers all tasks need by a rule."""
        return int(self.sizes @ rule.weights) / rule.most

    def weighings(self) -> list[WorkerRule]:
        """Return rules that weigh in whole parts of a worker, an exact part as one or as none."""
        rules = []
        for parts in range(2, PARTS + 2):
            for less in (0, 1):
                weights = np.maximum(parts * self.units - less, 0) // self.room
                most = int(self.most_weight(weights)[-1])
                if most:
                    rules.append(WorkerRule(GRAIN * weights, GRAIN * most))
        return rules

    def lifted(self, rule: WorkerRule) -> WorkerRule:
        """Raise the weight of one kind after the other as far as `most` allows."""
        weights = rule.weights.copy()
        for k in np.argsort(-self.sizes * self.units, kind="stable")[:MOST_LIFTED].tolist():
            unit, times = int(self.units[k]), np.arange(1, self.times(k) + 1)
            if unit and len(times):
                weights[k] = 0
                beside = self.most_weight(weights)[self.room - unit * times]
                weights[k] = int(((rule.most - beside) // times).min())
        return WorkerRule(weights, rule.most)

    def most_weight(self, weights: IntArray) -> IntArray:
        """Return [room + 1] the most weight of tasks that take at most 0, 1, ... units."""
        most = np.zeros(self.room + 1, dtype=np.int64)
        for k in np.flatnonzero(weights).tolist():
            unit, weight = int(self.units[k]), int(weights[k])
            for _ in range(self.times(k)):
                most[unit:] = np.maximum(most[unit:], most[:-unit] + weight)
        return most
