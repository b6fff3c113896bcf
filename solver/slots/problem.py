"""The question: the tasks with their rates, and the bundles that a slot may run of each.

Every bundle of a task that any plan needs is one of its *options*: the others are dominated, that
is, another bundle carries at least the rate at no more CPU and memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from slotwise.models.allocation.load import Routing
from slotwise.models.dataflow import Dataflow, input_rates
from slotwise.models.errors import InputError
from slotwise.models.performance.model import (
    Interpolation,
    Measurement,
    PerformanceModel,
    best_rate,
    full_bundle,
    measured_at,
)

MOST_THREADS = 2000
"""Of a bundle, where all thread counts up to the last measured one are options."""
WHOLE_SLOT = Fraction(100)
"""CPU and memory of a slot, in %."""


class Counts(StrEnum):
    """Which thread counts a bundle may have."""

    ALL = "all"
    """1 to the last measured count; what was not measured is interpolated linearly."""
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Variant:
    """The rules of the optimum.

    The defaults make it comparable with SAM as the check (`models.allocation.check`) sees plans:
    any thread count, shared slots, CPU and memory in proportion to the rate.

    Parameters
    ----------
    counts
        See `Counts`. Exclusive bundles go with measured counts only: one thread fewer would evade
        the rule.
    exclusive
        Whether a full bundle (`full_bundle`, of 2 threads or more) has its slot for itself.
    scaled
        Whether CPU and memory of a bundle are proportional to its rate; otherwise a bundle takes
        what it takes at its peak rate, whatever its rate.
    routing
        `Routing.PLANNED`: each bundle receives the rate that the plan gives it; or
        `Routing.SHUFFLE`.

    Raises
    ------
    InputError
        For exclusive bundles among all counts, and for another routing.
    """

    counts: Counts = Counts.ALL
    exclusive: bool = False
    scaled: bool = True
    routing: Routing = Routing.PLANNED

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.routing is Routing.SLOT_AWARE:
            raise InputError(
                "must be planned or shuffle: the optimum plans the rate of each bundle itself",
                field="routing",
                value=self.routing.value,
            )
        if self.exclusive and self.counts is Counts.ALL:
            raise InputError(
                "must be measured where full bundles are exclusive: a bundle of one thread fewer "
                "would evade the rule",
                field="counts",
                value=self.counts.value,
            )


@dataclass(frozen=True, slots=True)
class Option:
    """A bundle that a slot may run: `threads` of a task at up to `peak` tuples/s.

    Parameters
    ----------
    threads, peak
        Threads, at least 1; I(threads), above 0.
    cpu, memory
        In % of a slot, at the peak rate.
    alone
        Whether no other task may run in its slot.
    """

    threads: int
    peak: Fraction
    cpu: Fraction
    memory: Fraction
    alone: bool = False

    def most_rate(self, *, scaled: bool) -> Fraction:
        """Return the tuples/s of the bundle that a slot has CPU and memory for, at most its peak.

        Without `scaled` it takes as much whatever its rate, and fits at its peak.
        """
        if not scaled:
            return self.peak
        return self.peak / max(Fraction(1), self.cpu / WHOLE_SLOT, self.memory / WHOLE_SLOT)


@dataclass(frozen=True, slots=True)
class SlotTask:
    """A task, the rate that all its bundles must carry together, and its options by threads."""

    name: str
    rate: Fraction
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class SlotProblem:
    """Tasks with a rate above 0, to be packed into as few slots as possible."""

    tasks: tuple[SlotTask, ...]
    scaled: bool

    def at(self, factor: Fraction) -> SlotProblem:
        """Return the same problem with all rates times `factor`, above 0."""
        tasks = tuple(SlotTask(one.name, one.rate * factor, one.options) for one in self.tasks)
        return SlotProblem(tasks, self.scaled)


def slot_problem(
    dataflow: Dataflow, models: Mapping[str, PerformanceModel], rate: Fraction, variant: Variant
) -> SlotProblem:
    """Return the problem of `dataflow` at `rate`; tasks whose input rate is 0 need no slot.

    Raises
    ------
    InputError
        Where the rate is not above 0, a model is missing, its best rate is 0, its bundle of one
        thread takes over 100 % memory, no bundle of it fits a slot, or there are more than
        `MOST_THREADS` thread counts.
    """
    if rate <= 0:
        raise InputError("must be above 0 tuples/s", field="rate", value=float(rate))
    rates = input_rates(dataflow, rate)
    tasks = []
    for task in dataflow.allocated:
        assert task.model is not None
        if task.model not in models:
            raise InputError(
                f"has no performance model {task.model!r}: give one", field="task", value=task.name
            )
        if rates[task.name]:
            options = options_of(models[task.model], variant, task.name)
            tasks.append(SlotTask(task.name, rates[task.name], options))
    return SlotProblem(tuple(tasks), variant.scaled)


def options_of(model: PerformanceModel, variant: Variant, task: str) -> tuple[Option, ...]:
    """Return the options of a task, by threads; see `slot_problem` for what is refused."""
    _check(model, task)
    last = model.measurements[-1].threads
    if variant.counts is Counts.ALL and last > MOST_THREADS:
        rule = (
            f"its model {model.name!r} is measured up to {last} threads, and the optimum takes "
            f"at most {MOST_THREADS}, unless full bundles are exclusive (--exclusive)"
        )
        raise InputError(rule, field="task", value=task)
    counts = (
        range(1, last + 1)
        if variant.counts is Counts.ALL
        else [point.threads for point in model.measurements]
    )
    full = full_bundle(model).threads
    options = [
        _option(measured_at(model, threads, Interpolation.LINEAR), variant.exclusive and full > 1
                and threads == full)
        for threads in counts
    ]  # fmt: skip
    usable = [one for one in options if one.peak > 0 and (variant.scaled or _fits(one))]
    if not usable:
        raise InputError(
            f"no bundle of its model {model.name!r} fits a slot: each takes over 100 % CPU or "
            "memory",
            field="task",
            value=task,
        )
    if variant.routing is Routing.SHUFFLE:
        return tuple(usable)
    return undominated(usable, scaled=variant.scaled)


def undominated(options: Sequence[Option], *, scaled: bool) -> tuple[Option, ...]:
    """Return the options for which no other one can stand in; of equal ones that of least threads.

    Sorted by threads, then peak; with `scaled`, what counts is CPU and memory per tuple.
    """
    kept: list[tuple[Merits, Option]] = []
    candidates = ((_merits(one, scaled), one) for one in set(options))
    # In this order what can stand in for an option comes before it, and carries as much.
    for own, option in sorted(candidates, key=lambda one: (one[0], one[1].alone, one[1].threads)):
        if not any(
            theirs[1] <= own[1] and theirs[2] <= own[2] and other.alone <= option.alone
            for theirs, other in kept
        ):
            kept.append((own, option))
    return tuple(sorted((one for _, one in kept), key=lambda one: (one.threads, one.peak)))


def _check(model: PerformanceModel, task: str) -> None:
    if best_rate(model) == 0:
        raise InputError(
            f"the best rate of its model {model.name!r} is 0: no number of slots carries any rate",
            field="task",
            value=task,
        )
    memory = model.measurements[0].memory
    if memory > WHOLE_SLOT:
        raise InputError(
            f"one thread of its model {model.name!r} takes {float(memory):g} % memory of a slot, "
            "at most 100 % is there",
            field="task",
            value=task,
        )


def _option(point: Measurement, alone: bool) -> Option:
    return Option(point.threads, point.peak_rate, point.cpu, point.memory, alone)


def _fits(option: Option) -> bool:
    return option.cpu <= WHOLE_SLOT and option.memory <= WHOLE_SLOT


Merits = tuple[Fraction, Fraction, Fraction]


def _merits(option: Option, scaled: bool) -> Merits:
    """Return what is to be small: minus the peak, and CPU and memory (per tuple if `scaled`)."""
    per = option.peak if scaled else Fraction(1)
    return -option.peak, option.cpu / per, option.memory / per
