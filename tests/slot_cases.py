"""Small cases for the fewest slots, and a check of plans that shares nothing with the solver.

It asks the judge of all plans, `models.allocation.check`, and computes everything once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations_with_replacement, product

from hypothesis import strategies as st

from slotwise.models.allocation.check import check
from slotwise.models.allocation.load import Routing, Scaling
from slotwise.models.allocation.plan import Plan
from slotwise.models.dataflow import Dataflow, DataflowTask, Stream, input_rates
from slotwise.models.performance.model import (
    Measurement,
    PerformanceModel,
    full_bundle,
    measured_at,
)
from slotwise.solver.slots.problem import Counts, SlotProblem, Variant


def model(name: str, *rows: tuple[int, int, int, int]) -> PerformanceModel:
    """Return a model from rows of threads, peak rate, CPU and memory."""
    return PerformanceModel(
        name, tuple(Measurement(q, Fraction(i), Fraction(c), Fraction(m)) for q, i, c, m in rows)
    )


def chain(*selectivities: Fraction | int) -> Dataflow:
    """Return source -> t0 -> t1 -> ..., each task with the model of its name."""
    names = [f"t{k}" for k in range(len(selectivities))]
    tasks = [DataflowTask("source", None), *(DataflowTask(one, one) for one in names)]
    streams = [
        Stream(before, after, Fraction(factor))
        for before, after, factor in zip(["source", *names], names, selectivities, strict=False)
    ]
    return Dataflow("chain", tuple(tasks), tuple(streams))


def faults(
    plan: Plan, dataflow: Dataflow, models: Mapping[str, PerformanceModel], variant: Variant
) -> list[str]:
    """List what is wrong with a plan: slots, peaks, CPU, memory, rates, shares, exclusiveness."""
    scaling = Scaling.PROPORTIONAL if variant.scaled else Scaling.FULL
    found = [str(one) for one in check(plan, dataflow, models, variant.routing, scaling=scaling)]
    kinds = {task.name: task.model for task in dataflow.allocated}
    rates = {name: rate for name, rate in input_rates(dataflow, plan.rate).items() if name in kinds}
    sizes = {vm.name: vm.size.slots for vm in plan.vms}
    places = [(slot.vm, slot.index) for slot in plan.slots]
    if len(set(places)) < len(places):
        found.append("a slot is used twice")
    if any(not 0 <= index < sizes[vm] for vm, index in places):
        found.append("a slot is on no VM")
    carried: dict[str, Fraction] = defaultdict(Fraction)
    for slot in plan.slots:
        cpu = memory = Fraction(0)
        for bundle in slot.bundles:
            assert bundle.rate is not None
            kind = models[kinds[bundle.task] or ""]
            point = measured_at(kind, bundle.threads)
            carried[bundle.task] += bundle.rate
            part = bundle.rate / point.peak_rate if variant.scaled else Fraction(1)
            cpu += part * point.cpu
            memory += part * point.memory
            if bundle.rate > point.peak_rate:
                found.append(f"{bundle} is beyond its peak")
            full = full_bundle(kind).threads
            if variant.exclusive and bundle.threads == full > 1 and len(slot.bundles) > 1:
                found.append(f"{bundle} is not alone")
            if variant.counts is Counts.MEASURED and bundle.threads not in {
                one.threads for one in kind.measurements
            }:
                found.append(f"{bundle} was not measured")
            shared = rates[bundle.task] * bundle.threads / plan.threads[bundle.task]
            if variant.routing is Routing.SHUFFLE and bundle.rate != shared:
                found.append(f"{bundle} has another share than {shared}")
        if cpu > 100 or memory > 100:
            found.append(f"{slot} takes {float(cpu)} % CPU, {float(memory)} % memory")
    for name, rate in rates.items():
        if carried[name] != rate:
            found.append(f"{name} gets {carried[name]} of {rate}")
    return found


def brute_force(problem: SlotProblem, most: int) -> int | None:
    """Return the fewest slots up to `most` where demand is not scaled; ``None`` = more."""
    assert not problem.scaled
    types = [
        kind
        for kind in product(*([None, *task.options] for task in problem.tasks))
        if sum(one.cpu for one in kind if one) <= 100
        and sum(one.memory for one in kind if one) <= 100
        and not (sum(map(bool, kind)) > 1 and any(one.alone for one in kind if one))
    ]
    for slots in range(1, most + 1):
        for chosen in combinations_with_replacement(types, slots):
            if all(
                sum(kind[i].peak for kind in chosen if kind[i]) >= task.rate
                for i, task in enumerate(problem.tasks)
            ):
                return slots
    return None


@st.composite
def small_models(draw: st.DrawFn, name: str) -> PerformanceModel:
    """Draw a model of one to three measured counts of up to 4 threads."""
    counts = sorted(draw(st.sets(st.integers(2, 4), max_size=2)) | {1})
    peaks = sorted(draw(st.lists(st.integers(0, 12), min_size=len(counts), max_size=len(counts))))
    most = draw(st.sampled_from((100, 100, 180)))  # a measured bundle may take more than a slot
    load = st.integers(0, most)
    return model(
        name,
        *((q, peak, draw(load), draw(load)) for q, peak in zip(counts, peaks, strict=True)),
    )


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[Dataflow, dict[str, PerformanceModel], Fraction]:
    """Draw a chain of one to three tasks, its models, and a rate of 1 to 20 tuples/s."""
    count = draw(st.integers(1, 3))
    dataflow = chain(*(draw(st.sampled_from((1, 2, Fraction(1, 2)))) for _ in range(count)))
    models = {f"t{k}": draw(small_models(f"t{k}")) for k in range(count)}
    return dataflow, models, Fraction(draw(st.integers(1, 20)))
