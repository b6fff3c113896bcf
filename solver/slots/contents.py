"""What a slot runs: its type (an option per task) and the rates that it carries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slotwise.solver.slots.problem import SlotProblem

NONE = -1
"""In place of an option: no bundle of the task."""

SlotType = tuple[int, ...]
"""Per task: index of its option, or `NONE`."""


@dataclass(frozen=True, slots=True)
class Contents:
    """A column: a slot type and, in doubles, the part of its peak that each bundle carries."""

    options: SlotType
    loads: tuple[float, ...]

    def rates(self, problem: SlotProblem) -> list[float]:
        """Return the rate of each task in the slot, tuples/s."""
        return [
            0.0 if option == NONE else load * float(task.options[option].peak)
            for task, option, load in zip(problem.tasks, self.options, self.loads, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class CountRow:
    """A row on how many slots hold a bundle of `task` with option `least` or a later one.

    Parameters
    ----------
    task, least
        Indices; `least` = 0: any bundle.
    at_least
        Whether `count` is the least number of such slots, or the most.
    count
        0 or more.
    """

    task: int
    least: int
    at_least: bool
    count: int

    def holds(self, slot_type: SlotType) -> bool:
        """Whether a slot of this type is counted."""
        return slot_type[self.task] >= self.least


@dataclass(frozen=True, slots=True)
class Prices:
    """Dual values: what a tuple/s of each task is worth, and each row, in slots.

    Parameters
    ----------
    rates
        Per task, at least 0.
    rows, duals
        The rows and their values: at least 0 where the row says "at least", at most 0 otherwise.
    """

    rates: tuple[Fraction, ...]
    rows: tuple[CountRow, ...] = ()
    duals: tuple[Fraction, ...] = ()

    def reward(self, task: int, option: int) -> Fraction:
        """Return what the rows pay for a bundle, whatever its rate."""
        return sum(
            (
                dual
                for row, dual in zip(self.rows, self.duals, strict=True)
                if row.task == task and option >= row.least
            ),
            Fraction(0),
        )

    def worth(self, problem: SlotProblem) -> Fraction:
        """Return what all demands and rows are worth: the dual objective."""
        demand = sum(
            (price * task.rate for price, task in zip(self.rates, problem.tasks, strict=True)),
            Fraction(0),
        )
        return demand + sum(
            (dual * row.count for row, dual in zip(self.rows, self.duals, strict=True)), Fraction(0)
        )
