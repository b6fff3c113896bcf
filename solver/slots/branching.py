"""Branch and price: fewest slots, proven by branching on how many slots hold a bundle.

A node is a set of `CountRow`; its bound is that of its LP (`master`), rounded up. Branching picks a
task and a least option whose number of slots is fractional in the LP and asks for at most the
number below, or at least the number above. At the root each task holds at least
ceil(rate / best rate) slots, which every packing does. A node whose LP is fractional although all
these numbers are whole cannot be branched: it stays open, and so does the bound.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import count

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.master import Master, Relaxed
from slotwise.solver.slots.packing import (
    NO_LIMIT,
    NONE,
    Contents,
    CountRow,
    Packing,
    SlotType,
    pack,
    with_rates,
)
from slotwise.solver.slots.problem import Option, SlotProblem, SlotTask, undominated

PACK_S = 1.0
"""Most seconds of one search for a packing into known types."""
PACK_EACH = 10
"""Nodes from one such search to the next."""
FRACTION = 1e-6


@dataclass(frozen=True, slots=True)
class Packed:
    """The best packing found, ``None`` if none was, and the proven lower bound in slots."""

    packing: Packing | None
    bound: int
    nodes: int

    @property
    def optimal(self) -> bool:
        """Whether the packing needs no more slots than the bound."""
        return self.packing is not None and self.packing.slots == self.bound


def fewest(
    problem: SlotProblem, master: Master, *, token: CancellationToken, at_most: int | None = None
) -> Packed:
    """Pack `problem`, which has the options of `master`, into as few slots as possible.

    Parameters
    ----------
    token
        Ends the search.
    at_most
        End as soon as it is known whether these slots suffice; ``None`` = find the fewest.
    """
    return _Tree(problem, master, token, at_most).run()


@dataclass(slots=True)
class _Tree:
    problem: SlotProblem
    master: Master
    token: CancellationToken
    at_most: int | None
    best: Packing | None = None
    bound: int = 0
    nodes: int = 0
    heap: list[tuple[int, int, tuple[CountRow, ...]]] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    packed: int = 0
    """Columns known at the last search for a packing."""

    def run(self) -> Packed:
        rows = tuple(
            CountRow(i, 0, True, math.ceil(task.rate / max(one.peak for one in task.options)))
            for i, task in enumerate(self.problem.tasks)
        )
        entries = count()
        self.heap = [(max((row.count for row in rows), default=0), next(entries), rows)]
        while self.heap:
            self._update()
            if self._ends():
                break
            _, _, node = heapq.heappop(self.heap)
            self.nodes += 1
            relaxed = self.master.solve(self.problem, node, token=self.token, enough=self._cutoff())
            least = max(math.ceil(relaxed.bound), self.bound)
            children = self._children(node, relaxed) if relaxed.done else []
            if self.nodes % PACK_EACH == 1 or not children:
                self._pack(relaxed)
            if not children:
                self.stuck.append(least)
            for child in children:
                heapq.heappush(self.heap, (least, next(entries), child))
        self._update()
        return Packed(self.best, self.bound, self.nodes)

    def _ends(self) -> bool:
        done = self.best is not None and self.best.slots <= max(self.bound, self.at_most or 0)
        beyond = self.at_most is not None and self.bound > self.at_most
        stuck = bool(self.stuck) and min(self.stuck) <= self.bound
        late = self.nodes > 0 and self.token.is_cancelled
        return done or beyond or stuck or late

    def _cutoff(self) -> int | None:
        """Return the bound from which on a node is of no interest."""
        ends = [] if self.best is None else [self.best.slots]
        ends += [] if self.at_most is None else [self.at_most + 1]
        return min(ends, default=None)

    def _update(self) -> None:
        """Set the lower bound: the least of all nodes that are left, and of the best packing."""
        left = [*self.stuck, *(entry[0] for entry in self.heap[:1])]
        if self.best is not None:
            left.append(self.best.slots)
        self.bound = max(self.bound, min(left, default=0))

    def _pack(self, relaxed: Relaxed) -> None:
        """Round the LP up, then search for better among the known types, if there are new ones."""
        if self.best is None:
            self.best = _rounded_up(self.problem, relaxed)
        if len(self.master.columns) > self.packed:
            self.packed = len(self.master.columns)
            packing = pack(
                self.problem,
                self._types(),
                token=self.token.child(time.perf_counter() + PACK_S),
                least=max(self.bound, 1),
                most=NO_LIMIT if self.best is None else self.best.slots - 1,
            )
            self.best = packing or self.best

    def _types(self) -> list[SlotType]:
        return [one.options for one in self.master.columns]

    def _children(self, node: tuple[CountRow, ...], relaxed: Relaxed) -> list[tuple[CountRow, ...]]:
        """Return the two children of a node; none where no number of slots is fractional."""
        enough = self._cutoff()
        if enough is not None and relaxed.bound > enough - 1:
            return []
        split = _most_fractional(relaxed.used)
        if split is None:
            return []
        task, least, slots = split
        return [
            (*node, CountRow(task, least, False, math.floor(slots))),
            (*node, CountRow(task, least, True, math.ceil(slots))),
        ]


def _rounded_up(problem: SlotProblem, relaxed: Relaxed) -> Packing | None:
    counts: Counter[SlotType] = Counter()
    for contents, slots in relaxed.used:
        counts[contents.options] += math.ceil(slots - FRACTION)
    return with_rates(problem, {kind: slots for kind, slots in counts.items() if slots})


def _most_fractional(used: tuple[tuple[Contents, float], ...]) -> tuple[int, int, float] | None:
    """Return task, least option and their slots, the most fractional; ``None`` if all are whole."""
    candidates: list[tuple[float, int, int, float]] = []
    for task in range(len(used[0][0].options) if used else 0):
        for least in sorted({one.options[task] for one, _ in used if one.options[task] >= 0} | {0}):
            slots = sum(n for one, n in used if one.options[task] >= least)
            off = abs(slots - round(slots))
            if off > FRACTION:
                candidates.append((-off, least, task, slots))
    if not candidates:
        return None
    _, least, task, slots = min(candidates)
    return task, least, slots


# Shuffle grouping: every thread of a task receives an equal share, so thread totals are chosen.
#
# With tau threads of a task in all, each receives s = w / tau, and a bundle of q threads carries
# q s, which must be at most I(q). For fixed totals the bundles have fixed loads, and packing them
# is the problem of `branching` without loads to choose. More threads than tau only lower the
# share of each, so "at least tau threads" is not a relaxation.
#
# The totals are found by diving: tau = ceil(w q / I(q)) for the measured q make the levels of a
# task, I(q) at most what a slot has CPU and memory for; column generation mixes all levels of all
# tasks, the level that carries most of a task is fixed, and so on. That is a heuristic. The bound
# is that of slot-aware routing, which allows more.

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
    levels = [_levels(task, scaled=problem.scaled) for task in problem.tasks]
    dive = token.child(time.perf_counter() + DIVE_PART * token.remaining)
    for _ in problem.tasks:
        if all(len(of_task) == 1 for of_task in levels):
            break
        _fix_one(problem, levels, dive)
    fixed = _at_levels(problem, [of_task[:1] for of_task in levels])
    packed = fewest(fixed, Master(fixed), token=token)
    return None if packed.packing is None else Shuffled(fixed, _shared(fixed, packed.packing))


def _levels(task: SlotTask, *, scaled: bool) -> list[Fraction]:
    """Return rates per thread, the greatest first; at each some option fits."""
    totals = {
        option.threads: math.ceil(task.rate * option.threads / option.most_rate(scaled=scaled))
        for option in task.options
    }
    least = min(max(threads, total) for threads, total in totals.items())
    ordered = sorted({task.rate / max(least, total) for total in totals.values()}, reverse=True)
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
