"""A compact model in CP-SAT, for cross-checks of small cases; it shares nothing with the columns.

For each slot and task a choice of option, and its rate as a whole number of steps. Steps are made
fine or coarse on purpose: rates in the model are rounded so that what it packs is a packing
(`Side.INSIDE`), or so that what it cannot pack cannot be packed (`Side.OUTSIDE`). With N slots, a
packing inside shows that N suffice, no packing outside that they do not.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from fractions import Fraction

from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.compact.cp_sat.run import run_cp_sat
from slotwise.solver.core.result import Limits
from slotwise.solver.slots.problem import WHOLE_SLOT, SlotProblem

STEPS = 2000
"""Steps of a bundle's load from idle to its peak."""
CAPACITY = 10**6
"""Steps of a slot's CPU, and of its memory."""


class Side(Enum):
    """Which way the model rounds."""

    INSIDE = auto()
    OUTSIDE = auto()


def slots_suffice(problem: SlotProblem, slots: int, *, token: CancellationToken) -> bool | None:
    """Return whether `problem` fits `slots` slots; ``None`` where rounding or time leave it open.

    Slot-aware routing.
    """
    if _packs(problem, slots, Side.INSIDE, token) is True:
        return True
    return False if _packs(problem, slots, Side.OUTSIDE, token) is False else None


def _packs(problem: SlotProblem, slots: int, side: Side, token: CancellationToken) -> bool | None:
    if token.is_cancelled:
        return None
    builder = _Builder(cp_model.CpModel(), problem, side)
    for _ in range(slots):
        builder.add_slot()
    for carried in builder.carried:
        builder.model.add(sum(carried) >= CAPACITY * STEPS)
    answer = run_cp_sat(builder.model, Limits(time_s=token.remaining), token)
    if answer.has_solution:
        return True
    return False if answer.status == cp_model.INFEASIBLE else None


class _Builder:
    """The model; `carried` are the terms of each task's rate over all slots."""

    def __init__(self, model: cp_model.CpModel, problem: SlotProblem, side: Side) -> None:
        self.model = model
        self.carried: list[list[cp_model.LinearExprT]] = [[] for _ in problem.tasks]
        self._problem = problem
        self._side = side

    def add_slot(self) -> None:
        """Add a slot with a bundle of each task, or none."""
        cpu: list[cp_model.LinearExprT] = []
        memory: list[cp_model.LinearExprT] = []
        held: list[list[cp_model.IntVar]] = []
        for i, task in enumerate(self._problem.tasks):
            here = [self.model.new_bool_var("") for _ in task.options]
            self.model.add_at_most_one(here)
            held.append(here)
            for chosen, option in zip(here, task.options, strict=True):
                steps, loaded = self._steps(chosen)
                self.carried[i].append(self._gain(option.peak / task.rate) * steps)
                cpu.append(self._load(option.cpu / WHOLE_SLOT) * loaded)
                memory.append(self._load(option.memory / WHOLE_SLOT) * loaded)
        self.model.add(sum(cpu) <= CAPACITY * STEPS)
        self.model.add(sum(memory) <= CAPACITY * STEPS)
        for i, task in enumerate(self._problem.tasks):
            others = [one for j, of_task in enumerate(held) if j != i for one in of_task]
            for chosen, option in zip(held[i], task.options, strict=True):
                if option.alone:
                    self.model.add(sum(others) == 0).only_enforce_if(chosen)

    def _steps(self, chosen: cp_model.IntVar) -> tuple[cp_model.LinearExprT, cp_model.LinearExprT]:
        """Return the steps that a bundle carries, and those that it is charged for."""
        if not self._problem.scaled:
            return STEPS * chosen, STEPS * chosen
        steps = self.model.new_int_var(0, STEPS, "")
        self.model.add(steps <= STEPS * chosen)
        if self._side is Side.INSIDE:
            return steps, steps
        # Any load lies between two steps: it carries the upper one and is charged for the lower.
        self.model.add(steps >= chosen)
        return steps, steps - chosen

    def _gain(self, part: Fraction) -> int:
        scaled = part * CAPACITY
        return math.floor(scaled) if self._side is Side.INSIDE else math.ceil(scaled)

    def _load(self, part: Fraction) -> int:
        scaled = part * CAPACITY
        return math.ceil(scaled) if self._side is Side.INSIDE else math.floor(scaled)
