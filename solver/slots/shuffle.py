"""Shuffle grouping: every thread of a task receives an equal share, so thread totals are chosen.

With tau threads of a task in all, each receives s = w / tau, and a bundle of q threads carries q s,
which must be at most I(q). For fixed totals the bundles have fixed loads, and packing them is the
problem of `branching` without loads to choose. More threads than tau only lower the share of each,
so "at least tau threads" is not a relaxation.

The totals are found by diving: tau = ceil(w q / I(q)) for the measured q make the levels of a task;
column generation mixes all levels of all tasks, the level that carries most of a task is fixed, and
so on. That is a heuristic. The bound is that of slot-aware routing, which allows more.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.branching import fewest
from slotwise.solver.slots.contents import NONE
from slotwise.solver.slots.master import Master
from slotwise.solver.slots.packing import Packing
from slotwise.solver.slots.problem import Option, SlotProblem, SlotTask, undominated

MOST_LEVELS = 5
DIVE_PART = 0.5
"""Part of the time that may go into the choice of levels."""


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A packing under shuffle grouping, and the problem with the totals that it is of."""

    problem: SlotProblem
    packing: Packing


def fewest_by_shuffle(problem: SlotProblem, *, token: CancellationToken) -> Shuffled | None:
    """Return a packing under shuffle grouping; ``None`` if none was found in time."""
    levels = [_levels(task) for task in problem.tasks]
    dive = token.child(time.perf_counter() + DIVE_PART * token.remaining)
    for _ in problem.tasks:
        if all(len(of_task) == 1 for of_task in levels):
            break
        _fix_one(problem, levels, dive)
    fixed = _at_levels(problem, [of_task[:1] for of_task in levels])
    packed = fewest(fixed, Master(fixed), token=token)
    return None if packed.packing is None else Shuffled(fixed, _shared(fixed, packed.packing))


def _levels(task: SlotTask) -> list[Fraction]:
    """Return rates per thread, the greatest first."""
    shares = {
        task.rate / math.ceil(task.rate * option.threads / option.peak) for option in task.options
    }
    ordered = sorted(shares, reverse=True)
    step = max(1, math.ceil(len(ordered) / MOST_LEVELS))
    return ordered[::step]


def _fix_one(problem: SlotProblem, levels: list[list[Fraction]], token: CancellationToken) -> None:
    """Fix the level of the task whose LP solution mixes its levels least."""
    mixed = _at_levels(problem, levels)
    relaxed = Master(mixed).solve(mixed, token=token)
    carried: dict[tuple[int, Fraction], float] = defaultdict(float)
    for contents, slots in relaxed.used:
        for i, option in enumerate(contents.options):
            if option != NONE:
                used = mixed.tasks[i].options[option]
                carried[i, used.peak / used.threads] += slots * float(used.peak)
    open_tasks = {i for i, of_task in enumerate(levels) if len(of_task) > 1}
    shares = [
        (amount / float(problem.tasks[i].rate), i, level)
        for (i, level), amount in carried.items()
        if i in open_tasks
    ]
    _, task, level = max(shares)
    levels[task][:] = [level]


def _at_levels(problem: SlotProblem, levels: list[list[Fraction]]) -> SlotProblem:
    """Return the problem in which each thread receives one of the shares of its task."""
    tasks = []
    for task, shares in zip(problem.tasks, levels, strict=True):
        options = (one for share in shares for one in _at_level(task, share, problem.scaled))
        tasks.append(SlotTask(task.name, task.rate, tuple(options)))
    return SlotProblem(tuple(tasks), scaled=False)


@lru_cache(maxsize=1000)
def _at_level(task: SlotTask, share: Fraction, scaled: bool) -> tuple[Option, ...]:
    """Return what the options of a task are where each thread receives `share`."""
    options = [
        _at_share(option, share, scaled=scaled)
        for option in task.options
        if option.threads * share <= min(option.peak, task.rate)
    ]
    fitting = [one for one in options if one.cpu <= 100 and one.memory <= 100]
    return undominated(fitting, scaled=False)


def _at_share(option: Option, share: Fraction, *, scaled: bool) -> Option:
    rate = option.threads * share
    load = rate / option.peak if scaled else Fraction(1)
    return Option(option.threads, rate, option.cpu * load, option.memory * load, option.alone)


def _shared(problem: SlotProblem, packing: Packing) -> Packing:
    """Return the packing with the rates that equal shares of all threads give."""
    threads = [
        sum(
            count * task.options[kind[i]].threads
            for kind, count in packing.counts.items()
            if kind[i] != NONE
        )
        for i, task in enumerate(problem.tasks)
    ]
    rates = {
        kind: tuple(
            Fraction(0) if option == NONE else task.options[option].threads * task.rate / total
            for task, option, total in zip(problem.tasks, kind, threads, strict=True)
        )
        for kind in packing.counts
    }
    return Packing(packing.counts, rates)
