"""The judge of plans: every slot is checked at the plan's rate.

It does not use an algorithm's estimates: it computes what every bundle receives and uses (`load`)
and compares it with the performance models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from slotwise.models.allocation.load import (
    Routing,
    Scaling,
    SlotLoad,
    TaskDemand,
    slot_loads,
    task_demands,
)
from slotwise.models.allocation.plan import Bundle, Plan, Slot
from slotwise.models.dataflow import Dataflow
from slotwise.models.performance.model import Interpolation, PerformanceModel


class Rule(StrEnum):
    """The rules of a plan."""

    SLOTS = "slots"
    """A slot exists in its VM, VMs have different names, and a slot is listed once."""
    BUNDLES = "bundles"
    """A slot has at most one bundle of a task: models count all its threads on the slot."""
    TASKS = "tasks"
    """The bundles of a task are planned to receive all its tuples; without rates in the plan, it
    has a bundle if it has tuples."""
    RATE = "rate"
    """A bundle receives at most its peak rate, tuples/s."""
    CPU = "cpu"
    """The bundles of a slot use at most 100 % of its CPU."""
    MEMORY = "memory"
    """The bundles of a slot use at most 100 % of its memory."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that a plan breaks.

    Parameters
    ----------
    rule
        The rule.
    slot
        (name of the VM, number of the slot); ``None`` for `Rule.TASKS`.
    task
        The task; of several on a slot whose CPU or memory is exceeded, the one that uses most of
        it. ``None`` for `Rule.SLOTS`.
    needed, available
        In the unit of the rule: tuples/s, or % of a slot; for `Rule.SLOTS` and `Rule.BUNDLES` the
        count and the largest one allowed.
    """

    rule: Rule
    slot: tuple[str, int] | None
    task: str | None
    needed: Fraction
    available: Fraction

    def __str__(self) -> str:
        """One line: slot, rule, task, and amounts."""
        where = f"{self.place}: " if self.place else ""
        whose = "" if self.task is None else f" ({self.task})"
        return f"{where}{self.rule}{whose}: {self.shortage}"

    @property
    def place(self) -> str:
        """The slot in words; empty for a task that no slot serves."""
        return "" if self.slot is None else f"slot {self.slot[1]} of {self.slot[0]}"

    @property
    def shortage(self) -> str:
        """What is needed and what is available, with units."""
        units = {Rule.RATE: " tuples/s", Rule.TASKS: " tuples/s", Rule.CPU: " %"}
        unit = units.get(self.rule, " %" if self.rule is Rule.MEMORY else "")
        return f"needs {float(self.needed):g}{unit}, has {float(self.available):g}{unit}"


def check(
    plan: Plan,
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    routing: Routing,
    *,
    scaling: Scaling = Scaling.PROPORTIONAL,
    interpolation: Interpolation = Interpolation.LINEAR,
) -> tuple[Failure, ...]:
    """Return every rule that `plan` breaks at its own rate; empty = the plan is valid.

    Raises
    ------
    InputError
        For a plan that cannot be checked, as `task_demands` and `slot_loads` do.
    """
    demands = task_demands(dataflow, models, plan.rate)
    failures = [*_wrong_slots(plan), *_wrong_bundles(plan), *_unserved(plan, demands, routing)]
    sound: set[tuple[Bundle, ...]] = set()
    for load in slot_loads(plan, demands, routing, interpolation):
        if load.slot.bundles not in sound:  # thousands of slots hold the same
            overloads = list(_overloads(load, scaling))
            failures += overloads
            if not overloads:
                sound.add(load.slot.bundles)
    return tuple(failures)


def _place(slot: Slot) -> tuple[str, int]:
    return slot.vm, slot.index


def _wrong_slots(plan: Plan) -> Iterator[Failure]:
    """Yield the slots that are not there, or there twice."""
    for name, count in Counter(vm.name for vm in plan.vms).items():
        if count > 1:
            yield Failure(Rule.SLOTS, (name, 0), None, Fraction(count), Fraction(1))
    sizes = {vm.name: vm.size.slots for vm in plan.vms}
    for place, count in Counter(map(_place, plan.slots)).items():
        vm, index = place
        there = sizes.get(vm, 0)
        if not 0 <= index < there:
            yield Failure(Rule.SLOTS, place, None, Fraction(index + 1), Fraction(there))
        if count > 1:
            yield Failure(Rule.SLOTS, place, None, Fraction(count), Fraction(1))


def _wrong_bundles(plan: Plan) -> Iterator[Failure]:
    """Yield the tasks with several bundles on a slot."""
    for slot in plan.slots:
        for task, count in Counter(one.task for one in slot.bundles).items():
            if count > 1:
                yield Failure(Rule.BUNDLES, _place(slot), task, Fraction(count), Fraction(1))


def _unserved(plan: Plan, demands: tuple[TaskDemand, ...], routing: Routing) -> Iterator[Failure]:
    """Yield the tasks that the plan does not serve, or by its own rates not in full."""
    bundles = [one for slot in plan.slots for one in slot.bundles]
    for demand in demands:
        own = [one for one in bundles if one.task == demand.name]
        served = demand.rate if own else Fraction(0)
        if own and routing is Routing.PLANNED:
            served = sum((one.rate for one in own if one.rate is not None), Fraction(0))
        if served < demand.rate:
            yield Failure(Rule.TASKS, None, demand.name, demand.rate, served)


def _overloads(load: SlotLoad, scaling: Scaling) -> Iterator[Failure]:
    """Yield the resources that a slot has too little of."""
    place = _place(load.slot)
    for one in load.bundles:
        if one.rate > one.measured.peak_rate:
            task, peak = one.bundle.task, one.measured.peak_rate
            yield Failure(Rule.RATE, place, task, one.rate, peak)
    for rule in (Rule.CPU, Rule.MEMORY):
        uses: list[Fraction] = [
            getattr(one.measured, rule.value) * one.part(scaling) for one in load.bundles
        ]
        needed = sum(uses, Fraction(0))
        if needed > 100:
            most = load.bundles[uses.index(max(uses))].bundle.task
            yield Failure(rule, place, most, needed, Fraction(100))
