"""The family ``sam``: the article's micro DAGs at its rates, then seeded dataflows.

Not placements but allocations: slots for a dataflow at a rate. Source: Shukla and Simmhan,
*Model-driven Scheduling for Distributed Stream Processing Systems*, sections 8.1 and 8.4.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from numpy.random import Generator

from slotwise.models.allocation.case import AllocationCase
from slotwise.models.allocation.load import task_demands
from slotwise.models.dataflow import Dataflow, DataflowTask, Stream
from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import Measurement, Models, PerformanceModel, full_bundle

FEWEST_TASKS, MOST_TASKS = 3, 12

SELECTIVITIES = tuple(map(Fraction, ("0.25", "0.5", "1", "1", "1", "1.5", "2")))
"""A stream has one of these, each as likely."""

REACH = 3
"""A task takes its input from one or two of this many tasks listed before it."""


def random_dataflow(name: str, rng: Generator) -> tuple[Dataflow, Models]:
    """Return a DAG of `FEWEST_TASKS` to `MOST_TASKS` tasks, and a model for each of them."""
    names = [f"t{number}" for number in range(draw(rng, FEWEST_TASKS, MOST_TASKS))]
    streams: list[Stream] = []
    for index, target in enumerate(names):
        before = ["source", *names[:index]][-REACH:]
        count = min(len(before), draw(rng, 1, 2))
        for number in sorted(int(one) for one in rng.choice(len(before), count, replace=False)):
            selectivity = SELECTIVITIES[draw(rng, 0, len(SELECTIVITIES) - 1)]
            one = Fraction(1) if before[number] == "source" else selectivity
            streams.append(Stream(before[number], target, one))
    senders = {stream.source for stream in streams}
    streams += [Stream(one, "sink", Fraction(1)) for one in names if one not in senders]
    tasks = (
        DataflowTask("source", None),
        *(DataflowTask(one, one) for one in names),
        DataflowTask("sink", None),
    )
    models = {one: _CURVES[draw(rng, 0, len(_CURVES) - 1)](one, rng) for one in names}
    return Dataflow(name, tasks, tuple(streams)), models


def _computing(name: str, rng: Generator) -> PerformanceModel:
    """Return the curve of a task that one thread nearly holds a core with, like XML and pi."""
    rate = Fraction(draw(rng, 300, 4000), 10)
    cpu, memory = _tenths(rng, 700, 950), _tenths(rng, 20, 400)
    points = [Measurement(1, rate, cpu, memory)]
    if draw(rng, 0, 1):
        rate, cpu = rate * Fraction(draw(rng, 102, 115), 100), min(cpu + 3, Fraction(100))
        memory += _tenths(rng, 0, 20)
        points.append(Measurement(2, _rounded(rate), cpu, memory))
    fallen = rate * Fraction(draw(rng, 75, 98), 100)
    points.append(Measurement(7, _rounded(fallen), cpu, memory + _tenths(rng, 0, 80)))
    return PerformanceModel(name, tuple(points))


def _waiting(name: str, rng: Generator) -> PerformanceModel:
    """Return the curve of a task that waits on a service, like Blob and Table.

    The rate rises with the threads, each step at most as steep as the one before.
    """
    counts = [1]
    for _ in range(draw(rng, 2, 5)):
        counts.append(counts[-1] + draw(rng, 2, 15))
    steepness = _tenths(rng, 10, 50)
    rates = [steepness]
    for before, here in pairwise(counts):
        steepness *= Fraction(draw(rng, 60, 100), 100)
        rates.append(rates[-1] + steepness * (here - before))
    cpu, memory = _rising(counts, rng, 10, 80, 300, 900), _rising(counts, rng, 10, 250, 260, 400)
    return PerformanceModel(
        name,
        tuple(
            Measurement(q, _rounded(rate), c, m)
            for q, rate, c, m in zip(counts, rates, cpu, memory, strict=True)
        ),
    )


def _light(name: str, rng: Generator) -> PerformanceModel:
    """Return the curve of a task that one thread does very fast, more do slower, like File."""
    rate = Fraction(draw(rng, 1000, 60000))
    cpu, memory = _tenths(rng, 300, 800), _tenths(rng, 10, 120)
    fallen = _rounded(rate * Fraction(draw(rng, 70, 95), 100))
    return PerformanceModel(
        name, (Measurement(1, rate, cpu, memory), Measurement(3, fallen, cpu, memory))
    )


_CURVES = (_computing, _waiting, _waiting, _light)


def _tenths(rng: Generator, low: int, high: int) -> Fraction:
    return Fraction(draw(rng, low, high), 10)


def _rounded(number: Fraction) -> Fraction:
    return Fraction(round(10 * number), 10)


def _rising(counts: list[int], rng: Generator, *bounds: int) -> list[Fraction]:
    """Return a use for each count, in a line between two drawn ends; `bounds` are in tenths."""
    first, last = _tenths(rng, *bounds[:2]), _tenths(rng, *bounds[2:])
    part = [Fraction(count - 1, counts[-1] - 1) for count in counts]
    return [_rounded(first + (last - first) * one) for one in part]


NAME = "sam"

RATES = (50, 100, 200)
"""Of the article's tables, tuples/s."""

MICRO = tuple((dag, rate) for dag in MICRO_DAGS.values() for rate in RATES)
"""The article's cases, which come first, whatever the seed."""

LEAST_SLOTS, MOST_SLOTS = 2, 30
"""A random rate is one that full bundles would need this many slots for, by CPU or memory."""


def make(index: int, seed: int) -> AllocationCase:
    """Return the case of that index."""
    check_index(NAME, index)
    if index < len(MICRO):
        dataflow, rate = MICRO[index]
        name = f"{NAME}-{dataflow.name}-{rate}"
        return AllocationCase(name, dataflow, article_models(), Fraction(rate))
    rng = child_rng(NAME, seed, index)
    name = f"{NAME}-{seed}-{index:04d}"
    dataflow, models = random_dataflow(name, rng)
    return AllocationCase(name, dataflow, models, _random_rate(dataflow, models, rng))


def _random_rate(dataflow: Dataflow, models: Models, rng: Generator) -> Fraction:
    """Return a rate, in tenths, for which full bundles need a drawn number of slots."""
    slots = Fraction(draw(rng, 10 * LEAST_SLOTS, 10 * MOST_SLOTS), 10)
    load = Fraction(0)
    for demand in task_demands(dataflow, models, Fraction(1)):
        full = full_bundle(demand.model)
        load += demand.rate / full.peak_rate * max(full.cpu, full.memory) / 100
    return max(Fraction(round(10 * slots / load), 10), Fraction(1, 10))


SAM = Family(
    name=NAME,
    description="Slots for dataflows: the SAM article's micro DAGs, then random ones; for `grade`",
    count=30,
    make=make,
    parameters={"least_slots": LEAST_SLOTS, "most_slots": MOST_SLOTS},
    note="The value is the number of slots; the optimum is that of slot-aware routing.",
)
