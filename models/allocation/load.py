"""The loads of a plan's bundles when its dataflow runs at the plan's rate.

Bundles that share a slot do not slow each other down: each supports the peak rate of its own
performance model, and the CPU and memory of a slot are the sums over its bundles. The models were
measured with one task on the slot, and the article has no other figures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache

from slotwise.models.allocation.plan import Bundle, Plan, Slot
from slotwise.models.dataflow import Dataflow, input_rates
from slotwise.models.errors import InputError
from slotwise.models.performance.model import (
    Interpolation,
    Measurement,
    PerformanceModel,
    best_rate,
    measured_at,
)


class Routing(StrEnum):
    """The share of a task's tuples that each of its bundles receives."""

    SHUFFLE = "shuffle"
    """Storm's shuffle grouping: every thread of the task receives the same."""
    SLOT_AWARE = "slot-aware"
    """In proportion to the bundles' peak rates."""
    PLANNED = "planned"
    """In proportion to the rates that the plan gives its bundles."""


class Scaling(StrEnum):
    """The CPU and memory that a bundle uses below its peak rate."""

    PROPORTIONAL = "proportional"
    """In proportion to what it receives; the README's and the article's predictions."""
    FULL = "full"
    """All that it uses at its peak rate, however little it receives."""


@dataclass(frozen=True, slots=True)
class BundleLoad:
    """A bundle and its load.

    Parameters
    ----------
    bundle
        Which.
    measured
        What its model says of that number of threads on one slot.
    rate
        Its input rate, tuples/s.
    """

    bundle: Bundle
    measured: Measurement
    rate: Fraction

    def part(self, scaling: Scaling) -> Fraction:
        """Return its CPU and memory as a multiple of those at the peak rate.

        Above 1 where it receives more than its peak rate. 1 for a bundle with peak rate 0.
        """
        if scaling is Scaling.FULL or self.measured.peak_rate == 0:
            return Fraction(1)
        return self.rate / self.measured.peak_rate


@dataclass(frozen=True, slots=True)
class SlotLoad:
    """A slot and the loads of its bundles."""

    slot: Slot
    bundles: tuple[BundleLoad, ...]

    def cpu(self, scaling: Scaling) -> Fraction:
        """Return the CPU that all bundles use, in % of the slot."""
        return sum((one.measured.cpu * one.part(scaling) for one in self.bundles), Fraction(0))

    def memory(self, scaling: Scaling) -> Fraction:
        """Return the memory that all bundles use, in % of the slot."""
        return sum((one.measured.memory * one.part(scaling) for one in self.bundles), Fraction(0))


def slot_loads(
    plan: Plan,
    demands: tuple[TaskDemand, ...],
    routing: Routing,
    interpolation: Interpolation = Interpolation.LINEAR,
) -> tuple[SlotLoad, ...]:
    """Return the load of every slot in use at the rates of `demands`.

    A task without a bundle is not in any load.

    Raises
    ------
    InputError
        For a bundle without threads or of a task that `demands` does not have, and under
        `Routing.PLANNED` for one without a rate.
    """
    by_task = {one.name: one for one in demands}

    @cache
    def measured(task: str, threads: int) -> Measurement:
        return measured_at(by_task[task].model, threads, interpolation)

    weights: dict[str, Fraction] = defaultdict(Fraction)
    counts: Counter[str] = Counter()
    for slot in plan.slots:
        for bundle in slot.bundles:
            _check(bundle, slot, by_task, routing)
            peak = measured(bundle.task, bundle.threads).peak_rate
            weights[bundle.task] += _weight(bundle, peak, routing)
            counts[bundle.task] += 1

    def load(bundle: Bundle) -> BundleLoad:
        point, rate = measured(bundle.task, bundle.threads), by_task[bundle.task].rate
        if weights[bundle.task] == 0:  # nothing tells the bundles apart
            return BundleLoad(bundle, point, rate / counts[bundle.task])
        part = _weight(bundle, point.peak_rate, routing) / weights[bundle.task]
        return BundleLoad(bundle, point, rate * part)

    @cache  # thousands of slots hold the same
    def loads(bundles: tuple[Bundle, ...]) -> tuple[BundleLoad, ...]:
        return tuple(map(load, bundles))

    return tuple(SlotLoad(slot, loads(slot.bundles)) for slot in plan.slots)


def _weight(bundle: Bundle, peak_rate: Fraction, routing: Routing) -> Fraction:
    """Return the weight of a bundle in the distribution of its task's tuples."""
    if routing is Routing.SHUFFLE:
        return Fraction(bundle.threads)
    if routing is Routing.SLOT_AWARE:
        return peak_rate
    assert bundle.rate is not None
    return bundle.rate


def _check(bundle: Bundle, slot: Slot, by_task: Mapping[str, TaskDemand], routing: Routing) -> None:
    """Raise `InputError` for a bundle whose load is not defined."""
    where = f"slot {slot.index} of {slot.vm}"
    if bundle.task not in by_task:
        raise InputError("must be a task that is allocated", field=where, value=bundle.task)
    if bundle.threads < 1:
        raise InputError("must be at least 1", field=f"{where}: threads", value=bundle.threads)
    if routing is Routing.PLANNED and (bundle.rate is None or bundle.rate < 0):
        raise InputError(
            f"must be 0 or more for routing {routing.value!r}: use another routing",
            field=f"{where}: rate of {bundle.task!r}",
            value=bundle.rate if bundle.rate is None else float(bundle.rate),
        )


# The tasks to allocate, with their models and input rates.


@dataclass(frozen=True, slots=True)
class TaskDemand:
    """A task to allocate.

    Parameters
    ----------
    name
        Of the task.
    model
        Its performance on one slot.
    rate
        Its input rate, tuples/s; 0 where selectivities of 0 keep every tuple from it.
    """

    name: str
    model: PerformanceModel
    rate: Fraction


def task_demands(
    dataflow: Dataflow, models: Mapping[str, PerformanceModel], rate: Fraction
) -> tuple[TaskDemand, ...]:
    """Return the tasks of `dataflow` to allocate, in topological order.

    Parameters
    ----------
    models
        By name.
    rate
        Of the dataflow's sources, tuples/s.

    Raises
    ------
    InputError
        For a rate that is not above 0, a model that is not there, and a task with tuples to
        process whose best rate is 0: no number of slots supports it.
    """
    if rate <= 0:
        raise InputError("must be above 0", field="rate", value=float(rate))
    rates = input_rates(dataflow, rate)
    demands = []
    for task in dataflow.allocated:
        assert task.model is not None
        if task.model not in models:
            known = ", ".join(models) or "none"
            raise InputError(
                f"has no performance model; the known models are: {known}",
                field=f"tasks.{task.name}.model",
                value=task.model,
            )
        demand = TaskDemand(task.name, models[task.model], rates[task.name])
        if demand.rate > 0 and best_rate(demand.model) == 0:
            raise InputError(
                f"its best rate is 0 tuples/s with any number of threads, so no slots support the "
                f"{float(demand.rate):g} tuples/s of task {task.name!r}; measure it again",
                field=f"models.{task.model}",
                has_value=False,
            )
        demands.append(demand)
    return tuple(demands)
