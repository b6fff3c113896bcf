"""Pricing: the most valuable contents of one slot, with a bound in exact arithmetic.

With prices y_i of a tuple/s and rewards g_i(q) of a bundle (from `CountRow`), a slot that runs
option q of task i at the part t of its peak is worth g_i(q) + t y_i I(q) and takes t C(q) % of the
CPU and t M(q) % of the memory; t = 1 where demand is not scaled by load. Contents of the greatest
worth are a knapsack with two capacities and one choice per task.

Branch and bound over ranges of options. The bound of a node is Lagrangian: for any lambda, mu >= 0

    worth <= 100 lambda + 100 mu + sum_i max over the points p of task i in its range
                                             of value(p) - lambda C(p) - mu M(p)

A linear program (HiGHS) proposes lambda and mu; the bound is then computed in integers, with values
rounded up and loads rounded down to a grid. No answer of the linear program is believed.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

import highspy
import numpy as np
from numpy.typing import NDArray

from slotwise.solver.slots.contents import NONE, Contents, Prices, SlotType
from slotwise.solver.slots.problem import WHOLE_SLOT, SlotProblem

GRID = 10**9
"""Steps of a slot's capacity, and of its worth where that is about 1."""
FINE = 10**6
"""Steps of a multiplier for one step of worth per capacity."""
MOST_LOAD = 4
"""Loads beyond so many slots are counted as so many: a weaker bound, never a wrong one."""
MOST_MULTIPLIER = 20
"""Same for multipliers, in worth per slot."""
SMALL = 1e-7
"""Weights below are none."""
ROUND_EACH = 8
"""Every so many nodes the point is rounded to contents."""
ENOUGH = 1e-7
"""A slot worth at most 1 + this needs no column."""
INT = np.int64
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Priced:
    """Columns of worth above 1, the best first, and a proven upper bound of the worth of any."""

    columns: tuple[Contents, ...]
    upper: Fraction


@dataclass(frozen=True, slots=True)
class _Node:
    """Ranges of option numbers per task; number 0 is no bundle, number k option k - 1."""

    low: tuple[int, ...]
    high: tuple[int, ...]


class Pricing:
    """Pricing for one problem; call `best` with one price vector after another."""

    def __init__(self, problem: SlotProblem) -> None:
        self._problem = problem
        rows = [
            (i, k, full)
            for i, task in enumerate(problem.tasks)
            for k in range(len(task.options) + 1)
            # Idle bundles are points of their own: they may earn a reward at no load.
            for full in ((False, True) if problem.scaled and k else (k > 0,))
            if not (k and task.options[k - 1].alone)
        ]
        self._task: IntArray = np.array([i for i, _, _ in rows], dtype=INT)
        self._number: IntArray = np.array([k for _, k, _ in rows], dtype=INT)
        self._full = np.array([full for _, _, full in rows])
        self._starts: IntArray = np.searchsorted(self._task, np.arange(len(problem.tasks)))
        used = [
            problem.tasks[i].options[k - 1] if full else None
            for i, k, full in rows
        ]  # fmt: skip
        self._peak = [Fraction(0) if one is None else one.peak for one in used]
        self._cpu = _floored([Fraction(0) if one is None else one.cpu for one in used])
        self._memory = _floored([Fraction(0) if one is None else one.memory for one in used])
        self._lp = self._linear_program()

    def _linear_program(self) -> highspy.Highs:
        """One row per task (one point of it), two capacities; too much load costs a lot."""
        lp = highspy.Highs()
        lp.setOptionValue("output_flag", False)
        lp.setOptionValue("threads", 1)
        lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        tasks = len(self._problem.tasks)
        for _ in range(tasks):
            lp.addRow(1.0, 1.0, 0, [], [])
        for _ in range(2):
            lp.addRow(-highspy.kHighsInf, 1.0, 0, [], [])
        for i, cpu, memory in zip(self._task, self._cpu, self._memory, strict=True):
            entries = [1.0, float(cpu) / GRID, float(memory) / GRID]
            lp.addCol(0.0, 0.0, 1.0, 3, [int(i), tasks, tasks + 1], entries)
        for row in (tasks, tasks + 1):
            lp.addCol(-float(MOST_MULTIPLIER), 0.0, highspy.kHighsInf, 1, [row], [-1.0])
        return lp

    def best(self, prices: Prices, *, deadline: float, most_nodes: int) -> Priced:
        """Return columns worth more than 1 and an upper bound of any slot's worth.

        Stops at `deadline` (`time.perf_counter`), or after `most_nodes` nodes once it has a
        column; the bound is weaker then. Exact up to `ENOUGH` otherwise.
        """
        alone = [self._alone(i, k, prices) for i, k in self._alone_options()]
        search = _Search(self, prices)
        shared = search.run(deadline, most_nodes)
        columns = [(worth, one) for worth, one in (*alone, *search.found) if worth > 1 + ENOUGH]
        columns.sort(key=lambda pair: -pair[0])
        upper = max([shared, *(worth for worth, _ in alone)])
        return Priced(tuple(one for _, one in columns), upper)

    def all_types(self, prices: Prices, least: Fraction, *, deadline: float, most: int) -> (
        list[tuple[Fraction, SlotType]] | None
    ):
        """List the types that may be worth `least` or more, each with an upper bound of its worth.

        Where demand is scaled by load, a type stands for all that have fewer bundles. ``None``
        where there are more than `most`, or the deadline passes.
        """
        alone = [self._alone(i, k, prices) for i, k in self._alone_options()]
        found = [(worth, one.options) for worth, one in alone if worth >= least]
        shared = _Search(self, prices).enumerate(least, deadline, most - len(found))
        return None if shared is None else [*shared, *found]

    def _alone_options(self) -> list[tuple[int, int]]:
        return [
            (i, k)
            for i, task in enumerate(self._problem.tasks)
            for k, option in enumerate(task.options)
            if option.alone
        ]

    def _alone(self, i: int, k: int, prices: Prices) -> tuple[Fraction, Contents]:
        """Return worth and contents of a slot with nothing but an option that wants it so."""
        option = self._problem.tasks[i].options[k]
        load = Fraction(1)
        if self._problem.scaled:
            load /= max(Fraction(1), option.cpu / WHOLE_SLOT, option.memory / WHOLE_SLOT)
        tasks = range(len(self._problem.tasks))
        contents = Contents(
            tuple(k if j == i else NONE for j in tasks),
            tuple(float(load) if j == i else 0.0 for j in tasks),
        )
        return prices.reward(i, k) + prices.rates[i] * option.peak * load, contents


class _Search:
    """One branch and bound; `found` are the contents seen, with what they are worth, about."""

    def __init__(self, pricing: Pricing, prices: Prices) -> None:
        self._of = pricing
        self.found: list[tuple[Fraction, Contents]] = []
        problem = pricing._problem
        self._problem = problem
        rewards = [
            [Fraction(0), *(prices.reward(i, k) for k in range(len(task.options)))]
            for i, task in enumerate(problem.tasks)
        ]
        worth = [
            rewards[i][k] + prices.rates[i] * peak
            for i, k, peak in zip(
                pricing._task.tolist(), pricing._number.tolist(), pricing._peak, strict=True
            )
        ]
        # Worths about 1 as a rule; scaled down where they are not, so that no sum leaves 64 bits.
        self._unit = max(1, math.ceil(max(map(abs, worth)) / MOST_LOAD))
        self._worth: IntArray = np.array([math.ceil(w * GRID / self._unit) for w in worth], INT)
        costs = self._worth / GRID
        lp = pricing._lp
        lp.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
        self._idle = [
            np.array([math.ceil(one * GRID / self._unit) for one in of_task], INT)
            for of_task in rewards
        ]
        self._best = 0.0
        self._rounds = 0
        self._closed = 0
        """The greatest bound of a node that needs no branching."""

    def run(self, deadline: float, most_nodes: int) -> Fraction:
        """Search; return the proven upper bound."""
        root = _Node(
            (0,) * len(self._problem.tasks), tuple(len(t.options) for t in self._problem.tasks)
        )
        heap: list[tuple[int, int, _Node]] = [(-(2**62), 0, root)]
        nodes = 0
        entries = count(1)
        while heap and time.perf_counter() < deadline:
            if nodes >= most_nodes and self._best > 1 + ENOUGH:
                break
            if nodes and -heap[0][0] <= self._good_enough():
                break
            _, _, node = heapq.heappop(heap)
            nodes += 1
            bound, children = self._expand(node)
            if bound <= self._good_enough() or not children:
                self._closed = max(self._closed, bound)
                continue
            for child in children:
                heapq.heappush(heap, (-bound, next(entries), child))
        upper = max([self._closed, *(-entry[0] for entry in heap)])
        return Fraction(upper * self._unit, GRID * FINE)

    def enumerate(
        self, least: Fraction, deadline: float, most: int
    ) -> list[tuple[Fraction, SlotType]] | None:
        """Return the types with a bound of at least `least`; see `Pricing.all_types`."""
        shared = [
            [k for k, option in enumerate(task.options, 1) if not option.alone]
            for task in self._problem.tasks
        ]
        low = tuple(1 if self._problem.scaled and numbers else 0 for numbers in shared)
        pending = [_Node(low, tuple(max(numbers, default=0) for numbers in shared))]
        found: list[tuple[Fraction, SlotType]] = []
        while pending:
            if len(found) > most or time.perf_counter() >= deadline:
                return None
            node = pending.pop()
            fine, weights = self._solve(node)
            bound = Fraction(fine * self._unit, GRID * FINE)
            if bound < least:
                continue
            if node.low == node.high:
                kind = tuple(k - 1 for k in node.low)
                if self._problem.scaled or fits(self._problem, kind):
                    found.append((bound, kind))
            else:
                task = max(range(len(low)), key=lambda one: node.high[one] - node.low[one])
                pending.extend(self._split(node, task, weights))
        return found

    def _good_enough(self) -> int:
        """Return the bound, in fine steps, from which on a node is of no interest."""
        return int(max(self._best, 1 + ENOUGH) / self._unit * GRID * FINE)

    def _expand(self, node: _Node) -> tuple[int, list[_Node]]:
        """Return the bound of a node, in fine steps, and its children; none where it is done."""
        bound, weights = self._solve(node)
        if node.low == node.high:
            return self._leaf(node, bound, weights)
        return bound, self._branch(node, weights)

    def _solve(self, node: _Node) -> tuple[int, NDArray[np.float64]]:
        """Return the bound of a node, in fine steps, and the weights of its points in the LP."""
        of, lp = self._of, self._of._lp
        low, high = np.array(node.low), np.array(node.high)
        active = (of._number >= low[of._task]) & (of._number <= high[of._task])
        points = len(active)
        lp.changeColsBounds(
            points, np.arange(points, dtype=np.int32), np.zeros(points), active.astype(np.float64)
        )
        lp.run()
        solution = lp.getSolution()
        return self._bound(active, solution.row_dual[-2:]), np.array(solution.col_value)

    def _bound(self, active: NDArray[np.bool_], duals: list[float]) -> int:
        """Return the Lagrangian bound at the rounded multipliers: integers throughout."""
        of = self._of
        cpu, memory = (
            min(max(round(dual * FINE), 0), MOST_MULTIPLIER * FINE) if math.isfinite(dual) else 0
            for dual in duals
        )
        left = self._worth * FINE - cpu * of._cpu - memory * of._memory
        left[~active] = -(2**62)
        return (cpu + memory) * GRID + int(np.maximum.reduceat(left, of._starts).sum())

    def _leaf(
        self, node: _Node, bound: int, weights: NDArray[np.float64]
    ) -> tuple[int, list[_Node]]:
        """One type is left: what it is worth is known, or it does not fit."""
        if not (self._problem.scaled or fits(self._problem, [k - 1 for k in node.low])):
            return 0, []
        self._keep(weights)
        return bound, []

    def _branch(self, node: _Node, weights: NDArray[np.float64]) -> list[_Node]:
        """Split the range of a task that mixes options; keep the contents where none does."""
        mixed = [task for task in range(len(node.low)) if self._mixes(task, weights)]
        whole = [int(k) for k in self._numbers(weights)]
        if not mixed:
            if self._problem.scaled or fits(self._problem, [k - 1 for k in whole]):
                self._keep(weights)
                return []
            mixed = [task for task in range(len(node.low)) if node.low[task] < node.high[task]]
        elif self._rounds % ROUND_EACH == 0:
            self._expand(_Node(tuple(whole), tuple(whole)))
        self._rounds += 1
        return self._split(node, max(mixed, key=lambda one: node.high[one] - node.low[one]), weights)

    def _split(self, node: _Node, task: int, weights: NDArray[np.float64]) -> list[_Node]:
        """Split the range of a task at what the LP takes on average."""
        here = self._of._task == task
        mean = float((weights[:-2] * self._of._number)[here].sum())
        at = min(max(math.floor(mean), node.low[task]), node.high[task] - 1)
        below = tuple(at if one == task else k for one, k in enumerate(node.high))
        above = tuple(at + 1 if one == task else k for one, k in enumerate(node.low))
        return [_Node(node.low, below), _Node(above, node.high)]

    def _mixes(self, task: int, weights: NDArray[np.float64]) -> bool:
        """Whether the point of a task is no load of one option."""
        of = self._of
        used = (of._task == task) & (weights[:-2] > SMALL)
        if not self._problem.scaled:
            return len(set(of._number[used].tolist())) > 1
        idle_worth = self._idle[task][of._number[used]]
        return (
            len(set(of._number[used & of._full].tolist())) > 1 or len(set(idle_worth.tolist())) > 1
        )

    def _numbers(self, weights: NDArray[np.float64]) -> IntArray:
        """Return the number of the heaviest point of each task, a full one if there is any."""
        of = self._of
        weighed = np.where(weights[:-2] > SMALL, weights[:-2] + of._full, 0.0)
        ends = np.append(of._starts[1:], len(weighed))
        return np.array(
            [
                of._number[start + int(weighed[start:end].argmax())]
                for start, end in zip(of._starts, ends, strict=True)
            ],
            dtype=INT,
        )

    def _keep(self, weights: NDArray[np.float64]) -> None:
        """Keep the contents that a point without mixtures stands for."""
        of = self._of
        numbers = self._numbers(weights)
        loads = np.zeros(len(numbers))
        np.add.at(loads, of._task[of._full], weights[:-2][of._full])
        contents = Contents(
            tuple(int(k) - 1 for k in numbers), tuple(min(1.0, float(t)) for t in loads)
        )
        worth = float(self._worth @ weights[:-2]) / GRID * self._unit
        self.found.append((Fraction(worth), contents))
        self._best = max(self._best, worth)


def fits(problem: SlotProblem, slot_type: Sequence[int]) -> bool:
    """Whether one slot can run the bundles of a type, all at their peak."""
    used = [
        task.options[k] for task, k in zip(problem.tasks, slot_type, strict=True) if k != NONE
    ]
    cpu = sum((one.cpu for one in used), Fraction(0))
    memory = sum((one.memory for one in used), Fraction(0))
    return cpu <= WHOLE_SLOT and memory <= WHOLE_SLOT


def _floored(percents: list[Fraction]) -> IntArray:
    most = MOST_LOAD * GRID
    return np.array([min(most, math.floor(p / WHOLE_SLOT * GRID)) for p in percents], dtype=INT)
