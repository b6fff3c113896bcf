"""The source rate that a plan supports, and what limits it.

The article predicts rates (section 8.5) by the sum of what its slots support, and observes that
Storm's shuffle grouping does not distribute tuples like that; `Routing` chooses between the two.
The load of a slot is proportional to the source rate, so that every limit is one division.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from slotwise.models.allocation.load import Routing, Scaling, SlotLoad, slot_loads, task_demands
from slotwise.models.allocation.plan import Bundle, Plan, Slot
from slotwise.models.dataflow import Dataflow
from slotwise.models.performance.model import Interpolation, PerformanceModel


class Resource(StrEnum):
    """The resources that can limit a plan."""

    RATE = "rate"
    """Of a bundle, tuples/s: more arrive than its threads process."""
    CPU = "cpu"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the source rate.

    Parameters
    ----------
    rate
        Highest rate of the sources that it allows, tuples/s.
    resource
        The resource that is exhausted.
    task
        The task; of several on a slot whose CPU or memory is exhausted, the one that uses most of
        it.
    slot
        The slot; ``None`` for a task that has no threads at all.
    """

    rate: Fraction
    resource: Resource
    task: str
    slot: Slot | None


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU and memory in use, in % of one slot (up to 400 on a VM with 4 slots)."""

    cpu: Fraction
    memory: Fraction


@dataclass(frozen=True, slots=True)
class Prediction:
    """The rate that a plan supports, and its limits.

    Parameters
    ----------
    limits
        Resource -> the limit that its scarcest bundle or slot sets; without the resources that set
        none.
    """

    limits: Mapping[Resource, Limit]

    @property
    def limit(self) -> Limit | None:
        """The bundle that receives its peak rate first. ``None``: no task receives anything."""
        return self.limits.get(Resource.RATE)

    @property
    def rate(self) -> Fraction | None:
        """Highest source rate at which no bundle receives more than its peak rate, tuples/s.

        The article's prediction: bundles on one slot do not slow each other down, whatever CPU
        and memory they use together. ``None`` as for `limit`.
        """
        return None if self.limit is None else self.limit.rate

    @property
    def safe_limit(self) -> Limit | None:
        """The lowest limit of all; of equal ones rate before CPU before memory. ``None``: none."""
        return min(self.limits.values(), key=lambda one: one.rate, default=None)

    @property
    def safe_rate(self) -> Fraction | None:
        """Highest source rate at which no slot's CPU or memory is exceeded either, tuples/s.

        Never above `rate`; up to it `check` finds nothing. ``None`` as for `safe_limit`.
        """
        return None if self.safe_limit is None else self.safe_limit.rate


def predict(
    plan: Plan,
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    routing: Routing,
    *,
    scaling: Scaling = Scaling.PROPORTIONAL,
    interpolation: Interpolation = Interpolation.LINEAR,
) -> Prediction:
    """Return the source rate that `plan` supports and what limits it.

    Raises
    ------
    InputError
        As `task_demands` and `slot_loads` do.
    """
    demands = task_demands(dataflow, models, plan.rate)
    loads = slot_loads(plan, demands, routing, interpolation)
    limits = [
        Limit(Fraction(0), Resource.RATE, one.name, None)
        for one in demands
        if one.rate > 0 and one.name not in plan.threads
    ]
    firsts: dict[tuple[Bundle, ...], SlotLoad] = {}
    for load in loads:
        firsts.setdefault(load.slot.bundles, load)
    for load in firsts.values():  # slots that hold the same allow the same; the first one is named
        limits += _limits(load, plan.rate, scaling)
    lowest: dict[Resource, Limit] = {}
    for resource in Resource:
        of_it = [one for one in limits if one.resource is resource]
        if of_it:
            lowest[resource] = min(of_it, key=lambda one: one.rate)
    return Prediction(lowest)


def _limits(load: SlotLoad, rate: Fraction, scaling: Scaling) -> Iterator[Limit]:
    """Yield the limits set by a slot, given its load at source rate `rate`."""
    for one in load.bundles:
        if one.rate > 0:
            allowed = rate * one.measured.peak_rate / one.rate
            yield Limit(allowed, Resource.RATE, one.bundle.task, load.slot)
    for resource, used in ((Resource.CPU, load.cpu), (Resource.MEMORY, load.memory)):
        use = used(scaling)
        if use == 0 or (scaling is Scaling.FULL and use <= 100):
            continue
        most = max(
            load.bundles,
            key=lambda one: getattr(one.measured, resource.value) * one.part(scaling),
        )
        allowed = Fraction(0) if scaling is Scaling.FULL else rate * 100 / use
        yield Limit(allowed, resource, most.bundle.task, load.slot)


def slot_usage(
    plan: Plan,
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    routing: Routing,
    rate: Fraction,
    *,
    scaling: Scaling = Scaling.PROPORTIONAL,
    interpolation: Interpolation = Interpolation.LINEAR,
) -> dict[Slot, Usage]:
    """Return slot in use -> its usage when the sources send `rate` tuples/s.

    Raises `InputError` as `predict` does.
    """
    loads = slot_loads(plan, task_demands(dataflow, models, rate), routing, interpolation)
    by_contents: dict[tuple[Bundle, ...], Usage] = {}
    for one in loads:
        if one.slot.bundles not in by_contents:
            by_contents[one.slot.bundles] = Usage(one.cpu(scaling), one.memory(scaling))
    return {one.slot: by_contents[one.slot.bundles] for one in loads}


def vm_usage(plan: Plan, by_slot: Mapping[Slot, Usage]) -> dict[str, Usage]:
    """Return name of each VM of `plan` -> the sum over its slots."""
    cpu: dict[str, Fraction] = defaultdict(Fraction)
    memory: dict[str, Fraction] = defaultdict(Fraction)
    for slot, usage in by_slot.items():
        cpu[slot.vm] += usage.cpu
        memory[slot.vm] += usage.memory
    return {vm.name: Usage(cpu[vm.name], memory[vm.name]) for vm in plan.vms}
