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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

import highspy
import numpy as np
from numpy.typing import NDArray

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.packing import NONE, Contents, Prices
from slotwise.solver.slots.problem import WHOLE_SLOT, SlotProblem

SMALL = 1e-7
"""Weights below are none."""
ROUND_EACH = 8
"""Nodes after which the point is rounded to contents."""
ENOUGH = 1e-7
"""A slot worth at most 1 + this needs no column."""


@dataclass(frozen=True, slots=True)
class Priced:
    """Columns of worth above 1, the best first, and a proven upper bound of the worth of any."""

    columns: tuple[Contents, ...]
    upper: Fraction


class Pricing:
    """Pricing for one problem; call `best` with one price vector after another."""

    def __init__(self, problem: SlotProblem) -> None:
        self._problem = problem
        self._points = Points(problem)

    def best(self, prices: Prices, *, token: CancellationToken, most_nodes: int) -> Priced:
        """Return columns worth more than 1 and an upper bound of any slot's worth.

        Stops where `token` is cancelled, or after `most_nodes` nodes once it has a
        column; the bound is weaker then. Exact up to `ENOUGH` otherwise.
        """
        alone = [self._alone(i, k, prices) for i, k in self._lone_options()]
        self._points.price(self._problem, prices)
        search = _Search(self._problem, self._points)
        shared = search.run(token, most_nodes)
        columns = [(worth, one) for worth, one in (*alone, *search.found) if worth > 1 + ENOUGH]
        columns.sort(key=lambda pair: -pair[0])
        upper = max([shared, *(worth for worth, _ in alone)])
        return Priced(tuple(one for _, one in columns), upper)

    def _lone_options(self) -> list[tuple[int, int]]:
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

    def __init__(self, problem: SlotProblem, points: Points) -> None:
        self.found: list[tuple[Fraction, Contents]] = []
        self._problem = problem
        self._points = points
        self._best = 0.0
        self._rounds = 0
        self._closed = 0
        """The greatest bound of a node that needs no branching."""

    def run(self, token: CancellationToken, most_nodes: int) -> Fraction:
        """Search; return the proven upper bound."""
        root = Node(
            (0,) * len(self._problem.tasks), tuple(len(t.options) for t in self._problem.tasks)
        )
        heap: list[tuple[int, int, Node]] = [(-(2**62), 0, root)]
        nodes = 0
        entries = count(1)
        while heap and not token.is_cancelled:
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
        return Fraction(upper * self._points.unit, GRID * FINE)

    def _good_enough(self) -> int:
        """Return the bound, in fine steps, from which on a node is of no interest."""
        return int(max(self._best, 1 + ENOUGH) / self._points.unit * GRID * FINE)

    def _expand(self, node: Node) -> tuple[int, list[Node]]:
        """Return the bound of a node, in fine steps, and its children; none where it is done."""
        bound, weights = self._points.solve(node)
        if node.low == node.high:
            return self._leaf(node, bound, weights)
        return bound, self._branch(node, weights)

    def _leaf(self, node: Node, bound: int, weights: FloatArray) -> tuple[int, list[Node]]:
        """One type is left: what it is worth is known, or it does not fit."""
        if not (self._problem.scaled or fits(self._problem, [k - 1 for k in node.low])):
            return 0, []
        self._keep(weights)
        return bound, []

    def _branch(self, node: Node, weights: FloatArray) -> list[Node]:
        """Split the range of a task that mixes options; keep the contents where none does."""
        mixed = [task for task in range(len(node.low)) if self._mixes(task, weights)]
        whole = [int(k) for k in self._numbers(weights)]
        if not mixed:
            if self._problem.scaled or fits(self._problem, [k - 1 for k in whole]):
                self._keep(weights)
                return []
            mixed = [task for task in range(len(node.low)) if node.low[task] < node.high[task]]
        elif self._rounds % ROUND_EACH == 0:
            self._expand(Node(tuple(whole), tuple(whole)))
        self._rounds += 1
        return self._split(
            node, max(mixed, key=lambda one: node.high[one] - node.low[one]), weights
        )

    def _split(self, node: Node, task: int, weights: FloatArray) -> list[Node]:
        """Split the range of a task at what the LP takes on average."""
        here = self._points.task == task
        mean = float((weights * self._points.number)[here].sum())
        at = min(max(math.floor(mean), node.low[task]), node.high[task] - 1)
        below = tuple(at if one == task else k for one, k in enumerate(node.high))
        above = tuple(at + 1 if one == task else k for one, k in enumerate(node.low))
        return [Node(node.low, below), Node(above, node.high)]

    def _mixes(self, task: int, weights: FloatArray) -> bool:
        """Whether the point of a task is not a load of one option."""
        points = self._points
        used = (points.task == task) & (weights > SMALL)
        if not self._problem.scaled:
            return len(set(points.number[used].tolist())) > 1
        idle_worth = points.idle[task][points.number[used]]
        full_numbers = points.number[used & points.full]
        return len(set(full_numbers.tolist())) > 1 or len(set(idle_worth.tolist())) > 1

    def _numbers(self, weights: FloatArray) -> IntArray:
        """Return the number of the heaviest point of each task, a full one if there is any."""
        points = self._points
        weighed = np.where(weights > SMALL, weights + points.full, 0.0)
        ends = np.append(points.starts[1:], len(weighed))
        return np.array(
            [
                points.number[start + int(weighed[start:end].argmax())]
                for start, end in zip(points.starts, ends, strict=True)
            ],
            dtype=INT,
        )

    def _keep(self, weights: FloatArray) -> None:
        """Keep the contents that a point without mixtures stands for."""
        points = self._points
        numbers = self._numbers(weights)
        loads = np.zeros(len(numbers))
        np.add.at(loads, points.task[points.full], weights[points.full])
        contents = Contents(
            tuple(int(k) - 1 for k in numbers), tuple(min(1.0, float(t)) for t in loads)
        )
        worth = float(points.worth @ weights) / GRID * self._points.unit
        self.found.append((Fraction(worth), contents))
        self._best = max(self._best, worth)


def fits(problem: SlotProblem, slot_type: Sequence[int]) -> bool:
    """Whether one slot can run the bundles of a type, all at their peak."""
    used = [task.options[k] for task, k in zip(problem.tasks, slot_type, strict=True) if k != NONE]
    cpu = sum((one.cpu for one in used), Fraction(0))
    memory = sum((one.memory for one in used), Fraction(0))
    return cpu <= WHOLE_SLOT and memory <= WHOLE_SLOT


# The points of a pricing problem: its linear program, and Lagrangian bounds in integers.
#
# A point is a bundle of a task at its peak, idle (where demand is scaled by load), or no bundle.
# The linear program (HiGHS) chooses a mixture of points per task within the capacities; only its
# multipliers are used, and no answer of it is believed.

GRID = 10**9
"""Steps of a slot's capacity, and of its worth where that is about 1."""
FINE = 10**6
"""Steps of a multiplier for one step of worth per capacity."""
MOST_LOAD = 4
"""Most slots that a load is counted as: a weaker bound beyond, never a wrong one."""
MOST_MULTIPLIER = 20
"""Same for multipliers, in worth per slot."""
ABSENT = -(2**57)
"""Below what any point is worth, in fine steps."""
INT = np.int64
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Node:
    """Ranges of option numbers per task; number 0 means no bundle, number k means option k - 1."""

    low: tuple[int, ...]
    high: tuple[int, ...]


class Points:
    """The points of one problem, all tasks in a row; `price` sets what they are worth.

    Attributes
    ----------
    task, number, full
        Of each point: index of its task, number of its option, whether it is at its peak.
    starts
        Of each task: its first point.
    worth, unit
        Of each point, rounded up to steps of `unit` / `GRID`.
    idle
        Per task and number: what a bundle is worth at no load, in the same steps.
    """

    def __init__(self, problem: SlotProblem) -> None:
        rows = [
            (i, k, full)
            for i, task in enumerate(problem.tasks)
            for k in range(len(task.options) + 1)
            # Idle bundles are points of their own: they may earn a reward at no load.
            for full in ((False, True) if problem.scaled and k else (k > 0,))
            if not (k and task.options[k - 1].alone)
        ]
        self.task: IntArray = np.array([i for i, _, _ in rows], dtype=INT)
        self.number: IntArray = np.array([k for _, k, _ in rows], dtype=INT)
        self.full = np.array([full for _, _, full in rows])
        self.starts: IntArray = np.searchsorted(self.task, np.arange(len(problem.tasks)))
        used = [
            problem.tasks[i].options[k - 1] if full else None
            for i, k, full in rows
        ]  # fmt: skip
        self._peak = [Fraction(0) if one is None else one.peak for one in used]
        self._cpu = _floored([Fraction(0) if one is None else one.cpu for one in used])
        self._memory = _floored([Fraction(0) if one is None else one.memory for one in used])
        self._lp = self._linear_program(len(problem.tasks))
        self.worth: IntArray = np.zeros(len(rows), INT)
        self.unit = 1
        self.idle: list[IntArray] = []

    def _linear_program(self, tasks: int) -> highspy.Highs:
        """One row per task (one point of it), two capacities; too much load costs a lot."""
        lp = highspy.Highs()
        lp.setOptionValue("output_flag", False)
        lp.setOptionValue("threads", 1)
        lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for _ in range(tasks):
            lp.addRow(1.0, 1.0, 0, [], [])
        for _ in range(2):
            lp.addRow(-highspy.kHighsInf, 1.0, 0, [], [])
        for i, cpu, memory in zip(self.task, self._cpu, self._memory, strict=True):
            entries = [1.0, float(cpu) / GRID, float(memory) / GRID]
            lp.addCol(0.0, 0.0, 1.0, 3, [int(i), tasks, tasks + 1], entries)
        for row in (tasks, tasks + 1):
            lp.addCol(-float(MOST_MULTIPLIER), 0.0, highspy.kHighsInf, 1, [row], [-1.0])
        return lp

    def price(self, problem: SlotProblem, prices: Prices) -> None:
        """Set what the points are worth at these prices."""
        rewards = [
            [Fraction(0), *(prices.reward(i, k) for k in range(len(task.options)))]
            for i, task in enumerate(problem.tasks)
        ]
        worth = [
            rewards[i][k] + prices.rates[i] * peak
            for i, k, peak in zip(self.task.tolist(), self.number.tolist(), self._peak, strict=True)
        ]
        # Worths about 1 as a rule; scaled down where they are not, so that no step leaves 64 bits.
        self.unit = max(1, math.ceil(max(map(abs, worth)) / MOST_LOAD))
        self.worth = self._steps(worth)
        self.idle = [self._steps(of_task) for of_task in rewards]
        columns = np.arange(len(worth), dtype=np.int32)
        self._lp.changeColsCost(len(worth), columns, self.worth / GRID)

    def _steps(self, worth: Sequence[Fraction]) -> IntArray:
        return np.array([math.ceil(one * GRID / self.unit) for one in worth], INT)

    def solve(self, node: Node) -> tuple[int, FloatArray]:
        """Return the bound of a node, in fine steps, and the weights of its points in the LP."""
        low, high = np.array(node.low), np.array(node.high)
        active = (self.number >= low[self.task]) & (self.number <= high[self.task])
        points = len(active)
        lp = self._lp
        lp.changeColsBounds(
            points, np.arange(points, dtype=np.int32), np.zeros(points), active.astype(np.float64)
        )
        lp.run()
        solution = lp.getSolution()
        return self._bound(active, solution.row_dual[-2:]), np.array(solution.col_value)[:-2]

    def _bound(self, active: NDArray[np.bool_], duals: list[float]) -> int:
        """Return the Lagrangian bound at the rounded multipliers: integers throughout."""
        cpu, memory = (
            min(max(round(dual * FINE), 0), MOST_MULTIPLIER * FINE) if math.isfinite(dual) else 0
            for dual in duals
        )
        left = self.worth * FINE - cpu * self._cpu - memory * self._memory
        left[~active] = ABSENT
        best: list[int] = np.maximum.reduceat(left, self.starts).tolist()
        return (cpu + memory) * GRID + sum(best)


def _floored(percents: list[Fraction]) -> IntArray:
    most = MOST_LOAD * GRID
    return np.array([min(most, math.floor(p / WHOLE_SLOT * GRID)) for p in percents], dtype=INT)
