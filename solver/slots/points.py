"""The points of a pricing problem: its linear program, and Lagrangian bounds in integers.

A point is a bundle of a task at its peak, idle (where demand is scaled by load), or no bundle. The
linear program (HiGHS) chooses a mixture of points per task within the capacities; only its
multipliers are used, and no answer of it is believed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np
from numpy.typing import NDArray

from slotwise.solver.slots.contents import Prices
from slotwise.solver.slots.problem import WHOLE_SLOT, SlotProblem

GRID = 10**9
"""Steps of a slot's capacity, and of its worth where that is about 1."""
FINE = 10**6
"""Steps of a multiplier for one step of worth per capacity."""
MOST_LOAD = 4
"""Most slots that a load is counted as: a weaker bound beyond, never a wrong one."""
MOST_MULTIPLIER = 20
"""Same for multipliers, in worth per slot."""
NOT_THERE = -(2**57)
"""Below what any point is worth, in fine steps."""
INT = np.int64
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Node:
    """Ranges of option numbers per task; number 0 is no bundle, number k option k - 1."""

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
        left[~active] = NOT_THERE
        best: list[int] = np.maximum.reduceat(left, self.starts).tolist()
        return (cpu + memory) * GRID + sum(best)


def _floored(percents: list[Fraction]) -> IntArray:
    most = MOST_LOAD * GRID
    return np.array([min(most, math.floor(p / WHOLE_SLOT * GRID)) for p in percents], dtype=INT)
