"""Whole numbers of slots: the integer master over known types, and rates in exact fractions.

    min sum_k n_k   s.t.   sum_k X_ki >= w_i,   X_ki <= I_ki n_k,
                           sum_i (C_ki / I_ki) X_ki <= 100 n_k,  the same for memory,   n_k integer

X_ki is what all slots of type k carry of task i. Equal slots may share it equally, because what a
slot of one type can carry is a convex set. Where demand is not scaled by load, X_ki = I_ki n_k.
What HiGHS answers becomes a `Packing` only if it holds in fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pulp

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.problem import WHOLE_SLOT, SlotProblem

# What a slot runs: its type (an option per task) and the rates that it carries.

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


TIDY = (10**4, 10**7, 10**10)
"""Largest denominators to which rates are rounded, the first that holds is taken."""
SAFETY = Fraction(1, 10**8)
LEAST_TIME_S = 0.05
NO_LIMIT = 10**9
"""More slots than anything needs."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Slots of each type, and the rate of each task's bundle in a slot of it.

    Parameters
    ----------
    counts
        Type -> slots, at least 1.
    rates
        Type -> rate per task in one such slot, tuples/s; they add up to the task's rate.
    """

    counts: Mapping[SlotType, int]
    rates: Mapping[SlotType, tuple[Fraction, ...]]

    @property
    def slots(self) -> int:
        """Number of slots."""
        return sum(self.counts.values())

    def at(self, factor: Fraction) -> Packing:
        """Return the same slots at all rates times `factor`, from above 0 to 1."""
        rates = {kind: tuple(rate * factor for rate in row) for kind, row in self.rates.items()}
        return Packing(self.counts, rates)


def pack(
    problem: SlotProblem,
    types: Iterable[SlotType],
    *,
    token: CancellationToken,
    least: int,
    most: int,
) -> Packing | None:
    """Return the packing of fewest slots into these types that was found, ``None`` if none was.

    Parameters
    ----------
    token
        HiGHS stops at its deadline.
    least, most
        Slots: a lower bound, at which the search ends, and the most that are of interest.
    """
    time_s = token.remaining
    if time_s < LEAST_TIME_S or most < least:
        return None
    model = _Model(problem, tuple(dict.fromkeys(types)))
    model.lp += pulp.lpSum(model.slots.values()) >= least
    model.lp += pulp.lpSum(model.slots.values()) <= most
    model.lp.solve(
        pulp.HiGHS(
            msg=False, threads=1, timeLimit=time_s, gapAbs=0.99, mip_feasibility_tolerance=1e-9
        )
    )
    if model.lp.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return None
    counts = {kind: round(one.value() or 0) for kind, one in model.slots.items()}
    return with_rates(problem, {kind: count for kind, count in counts.items() if count})


class _Model:
    """The integer master in PuLP; demands are scaled to 1."""

    def __init__(
        self,
        problem: SlotProblem,
        types: tuple[SlotType, ...],
        fixed: Mapping[SlotType, int] | None = None,
    ) -> None:
        self.lp = pulp.LpProblem("packing", pulp.LpMinimize)
        self.slots: dict[SlotType, Any] = {
            kind: self.lp.add_variable(f"n{k}", 0, None, "Integer")
            if fixed is None
            else fixed[kind]
            for k, kind in enumerate(types)
        }
        self.margin: Any = None if fixed is None else self.lp.add_variable("margin", 0)
        """With counts that are fixed: the part of the demand that they carry, maximised."""
        self.parts: dict[tuple[SlotType, int], Any] = {}
        """What part of its task's rate the bundles of a type carry."""
        slots = pulp.lpSum(self.slots.values())
        self.lp.setObjective(slots if fixed is None else pulp.lpSum([self.margin]) * -1)
        for k, kind in enumerate(types):
            self._add(problem, k, kind)
        for i in range(len(problem.tasks)):
            carried = pulp.lpSum(part for (_, j), part in self.parts.items() if j == i)
            self.lp += carried >= (1 if self.margin is None else self.margin)

    def _add(self, problem: SlotProblem, k: int, kind: SlotType) -> None:
        count = self.slots[kind]
        cpu, memory = [], []
        for i, option in enumerate(kind):
            if option == NONE:
                continue
            task = problem.tasks[i]
            used = task.options[option]
            full = float(used.peak / task.rate)
            if not problem.scaled:
                self.parts[kind, i] = full * count
                continue
            part = self.lp.add_variable(f"x{k}_{i}", 0)
            self.parts[kind, i] = part
            self.lp += part <= full * count
            cpu.append((part, float(used.cpu / WHOLE_SLOT) / full))
            memory.append((part, float(used.memory / WHOLE_SLOT) / full))
        for load in (cpu, memory):
            if load:
                self.lp += pulp.LpAffineExpression(load) <= count


def with_rates(problem: SlotProblem, counts: Mapping[SlotType, int]) -> Packing | None:
    """Return exact rates for slots of given types; ``None`` where none were found.

    The rates that support the greatest common multiple of the demand are rounded, then checked.
    """
    if not problem.scaled:
        peaks = {
            kind: tuple(
                Fraction(0) if option == NONE else task.options[option].peak
                for task, option in zip(problem.tasks, kind, strict=True)
            )
            for kind in counts
        }
        return _trimmed(problem, counts, peaks)
    model = _Model(problem, tuple(counts), counts)
    model.lp.solve(pulp.HiGHS(msg=False, threads=1, primal_feasibility_tolerance=1e-9))
    if model.lp.sol_status != pulp.LpSolutionOptimal:
        return None
    margin = Fraction(model.margin.value())
    # Half of the margin for the demand, half for the capacities.
    shrink = 2 / (1 + margin) if margin > 1 + SAFETY else Fraction(1)
    for digits in TIDY:
        rates = {
            kind: tuple(
                (
                    Fraction(model.parts[kind, i].value()) * task.rate / count * shrink
                ).limit_denominator(digits)
                if (kind, i) in model.parts
                else Fraction(0)
                for i, task in enumerate(problem.tasks)
            )
            for kind, count in counts.items()
        }
        packing = _trimmed(problem, counts, rates)
        if packing is not None:
            return packing
    return None


def _trimmed(
    problem: SlotProblem,
    counts: Mapping[SlotType, int],
    rates: Mapping[SlotType, tuple[Fraction, ...]],
) -> Packing | None:
    """Return the packing with surplus rates reduced; ``None`` if it fails."""
    trimmed = {kind: list(of_kind) for kind, of_kind in rates.items()}
    for i, task in enumerate(problem.tasks):
        spare = sum((counts[kind] * trimmed[kind][i] for kind in trimmed), -task.rate)
        if spare < 0:
            return None
        for kind in sorted(trimmed, key=lambda one: trimmed[one][i]):
            off = min(spare, counts[kind] * trimmed[kind][i])
            trimmed[kind][i] -= off / counts[kind]
            spare -= off
    if not all(_holds(problem, kind, trimmed[kind]) for kind in trimmed):
        return None
    return Packing(dict(counts), {kind: tuple(of_kind) for kind, of_kind in trimmed.items()})


def _holds(problem: SlotProblem, kind: SlotType, rates: list[Fraction]) -> bool:
    """Whether a slot carries these rates: peaks, CPU and memory, in fractions."""
    cpu = memory = Fraction(0)
    for task, option, rate in zip(problem.tasks, kind, rates, strict=True):
        if option == NONE:
            continue
        used = task.options[option]
        load = rate / used.peak if problem.scaled else Fraction(1)
        if rate > used.peak or (used.alone and sum(one != NONE for one in kind) > 1):
            return False
        cpu += load * used.cpu
        memory += load * used.memory
    return cpu <= WHOLE_SLOT and memory <= WHOLE_SLOT
