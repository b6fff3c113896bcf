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

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.contents import NONE, Contents, Prices
from slotwise.solver.slots.points import FINE, GRID, INT, FloatArray, IntArray, Node, Points
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
        alone = [self._alone(i, k, prices) for i, k in self._alone_options()]
        self._points.price(self._problem, prices)
        search = _Search(self._problem, self._points)
        shared = search.run(token, most_nodes)
        columns = [(worth, one) for worth, one in (*alone, *search.found) if worth > 1 + ENOUGH]
        columns.sort(key=lambda pair: -pair[0])
        upper = max([shared, *(worth for worth, _ in alone)])
        return Priced(tuple(one for _, one in columns), upper)

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
        of = self._points
        used = (of.task == task) & (weights > SMALL)
        if not self._problem.scaled:
            return len(set(of.number[used].tolist())) > 1
        idle_worth = of.idle[task][of.number[used]]
        return len(set(of.number[used & of.full].tolist())) > 1 or len(set(idle_worth.tolist())) > 1

    def _numbers(self, weights: FloatArray) -> IntArray:
        """Return the number of the heaviest point of each task, a full one if there is any."""
        of = self._points
        weighed = np.where(weights > SMALL, weights + of.full, 0.0)
        ends = np.append(of.starts[1:], len(weighed))
        return np.array(
            [
                of.number[start + int(weighed[start:end].argmax())]
                for start, end in zip(of.starts, ends, strict=True)
            ],
            dtype=INT,
        )

    def _keep(self, weights: FloatArray) -> None:
        """Keep the contents that a point without mixtures stands for."""
        of = self._points
        numbers = self._numbers(weights)
        loads = np.zeros(len(numbers))
        np.add.at(loads, of.task[of.full], weights[of.full])
        contents = Contents(
            tuple(int(k) - 1 for k in numbers), tuple(min(1.0, float(t)) for t in loads)
        )
        worth = float(of.worth @ weights) / GRID * self._points.unit
        self.found.append((Fraction(worth), contents))
        self._best = max(self._best, worth)


def fits(problem: SlotProblem, slot_type: Sequence[int]) -> bool:
    """Whether one slot can run the bundles of a type, all at their peak."""
    used = [task.options[k] for task, k in zip(problem.tasks, slot_type, strict=True) if k != NONE]
    cpu = sum((one.cpu for one in used), Fraction(0))
    memory = sum((one.memory for one in used), Fraction(0))
    return cpu <= WHOLE_SLOT and memory <= WHOLE_SLOT
