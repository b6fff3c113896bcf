"""What is answered: a plan, and how far it is from the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from slotwise.models.allocation.plan import Bundle, Plan, Slot, Vm
from slotwise.solver.core.result import Status
from slotwise.solver.slots.packing import NONE, Packing
from slotwise.solver.slots.problem import SlotProblem


@dataclass(frozen=True, slots=True)
class SlotResult:
    """The fewest slots for a rate.

    Parameters
    ----------
    status
        `Status.OPTIMAL` only if `slots` = `bound`; `Status.UNKNOWN` where there is no plan.
    slots
        Slots of the plan; ``None`` where there is none.
    bound
        Proven: no plan under the rules of the variant has fewer slots.
    plan
        Slots with bundles and the rate of each, on VMs of lowest price, then of lowest number.
    seconds
        Wall clock.
    notes
        What the reader should know, for people; may be empty.
    """

    status: Status
    slots: int | None
    bound: int
    plan: Plan | None
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def price(self) -> Fraction | None:
        """Price of the plan's VMs per hour; ``None`` where there is no plan."""
        return None if self.plan is None else self.plan.price


@dataclass(frozen=True, slots=True)
class RateResult:
    """The highest rate for a number of slots.

    Parameters
    ----------
    status
        `Status.OPTIMAL` only if `rate` = `bound`.
    rate
        Highest multiple of the step that a plan was found for, tuples/s; 0 where none was.
    bound
        Proven: no higher multiple of the step is supported.
    plan
        For that rate; ``None`` where it is 0.
    seconds
        Wall clock.
    """

    status: Status
    rate: Fraction
    bound: Fraction
    plan: Plan | None
    seconds: float


def plan_of(problem: SlotProblem, packing: Packing, rate: Fraction, vms: Sequence[Vm]) -> Plan:
    """Return `packing` on the slots of `vms`, in order; bundles without a rate are left out."""
    places = chain.from_iterable(((vm, k) for k in range(vm.size.slots)) for vm in vms)
    slots = []
    for kind in sorted(packing.counts, reverse=True):
        bundles = tuple(
            Bundle(task.name, task.options[option].threads, carried)
            for task, option, carried in zip(problem.tasks, kind, packing.rates[kind], strict=True)
            if option != NONE and carried
        )
        for _ in range(packing.counts[kind]):
            vm, index = next(places)
            slots.append(Slot(vm.name, index, bundles))
    return Plan(rate, tuple(vms), tuple(slots))


@dataclass(frozen=True, slots=True)
class Answer:
    """A packing of a problem, ``None`` if none was found, and the bound in slots."""

    problem: SlotProblem
    packing: Packing | None
    bound: int

    def at(self, factor: Fraction, bound: int) -> Answer:
        """Return the same packing at a lower rate, with the bound there."""
        packing = None if self.packing is None else self.packing.at(factor)
        return Answer(self.problem, packing, bound)
