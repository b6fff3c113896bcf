"""The family ``sam``: the article's micro DAGs at its rates, then seeded dataflows.

Not placements but allocations: slots for a dataflow at a rate. Source: Shukla and Simmhan,
*Model-driven Scheduling for Distributed Stream Processing Systems*, sections 8.1 and 8.4.
"""

from __future__ import annotations

from fractions import Fraction

from numpy.random import Generator

from slotwise.models.allocation.case import AllocationCase
from slotwise.models.allocation.demand import task_demands
from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.dataflow.micro import MICRO_DAGS
from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.families.random_dataflows import random_dataflow
from slotwise.models.performance.article import article_models
from slotwise.models.performance.curves import full_bundle
from slotwise.models.performance.rows import Models

NAME = "sam"

RATES = (50, 100, 200)
"""Of the article's tables, tuples/s."""

MICRO = tuple((dag, rate) for dag in MICRO_DAGS.values() for rate in RATES)
"""The article's cases, which come first, whatever the seed."""

LEAST_SLOTS, MOST_SLOTS = 2, 30
"""A random rate is one that full bundles would need so many slots for, by CPU or memory."""


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
