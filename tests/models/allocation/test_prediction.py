"""Predicted rates and uses, by hand and by an independent search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sam_cases import TASKS, chain, dataflows, model, models

from slotwise.models.allocation.load import Routing, Scaling
from slotwise.models.allocation.plan import Bundle, Plan, Slot, Vm, VmSize
from slotwise.models.allocation.prediction import (
    Limit,
    Resource,
    Usage,
    predict,
    slot_usage,
    vm_usage,
)
from slotwise.models.dataflow import Dataflow, input_rates
from slotwise.models.performance.model import Interpolation, PerformanceModel

VM = Vm("vm", VmSize("four", 4, Fraction(1)))
X = model("x", (1, 4, 20, 10), (3, 8, 60, 40))
Y = model("y", (1, 6, 90, 10))
XY = {"x": X, "y": Y}


def slot(index: int, **threads: int) -> Slot:
    return Slot("vm", index, tuple(Bundle(task, count) for task, count in threads.items()))


def plan_of(*slots: Slot, rate: int = 10) -> Plan:
    return Plan(Fraction(rate), (VM,), slots)


THREE_ONE = plan_of(slot(0, x=3), slot(1, x=1))


def test_shuffle_and_slot_aware_routing() -> None:
    """Of 4 threads, 3 receive 3/4; slot-aware they receive 8 of 12."""
    found = predict(THREE_ONE, chain("x"), XY, Routing.SHUFFLE)
    assert found.limit == Limit(Fraction(32, 3), Resource.RATE, "x", THREE_ONE.slots[0])
    aware = predict(THREE_ONE, chain("x"), XY, Routing.SLOT_AWARE)
    assert aware.rate == 12


def test_planned_rates_are_shares() -> None:
    given_rates = Plan(
        Fraction(10),
        (VM,),
        (
            Slot("vm", 0, (Bundle("x", 3, Fraction(6)),)),
            Slot("vm", 1, (Bundle("x", 1, Fraction(2)),)),
        ),
    )
    assert predict(given_rates, chain("x"), XY, Routing.PLANNED).rate == Fraction(32, 3)


def test_cpu_of_a_shared_slot() -> None:
    """At 10: x uses 5/4 of 20 %, y 10/6 of 90 %; the CPU lasts to 5 tuples/s, the rates to 4."""
    shared = plan_of(slot(0, x=1, y=1))
    found = predict(shared, chain("x", "y"), XY, Routing.SHUFFLE)
    assert found.limits[Resource.CPU] == Limit(Fraction(5), Resource.CPU, "y", shared.slots[0])
    assert found.limit == found.safe_limit
    assert found.rate == 4
    wide = {"x": model("x", (1, 9, 20, 10)), "y": model("y", (1, 6, 90, 10))}
    tight = predict(shared, chain("x", "y"), wide, Routing.SHUFFLE)
    assert tight.rate == 6
    assert tight.safe_rate == 1 / (Fraction(20, 900) + Fraction(90, 600))
    full = predict(shared, chain("x", "y"), wide, Routing.SHUFFLE, scaling=Scaling.FULL)
    assert full.safe_limit == Limit(Fraction(0), Resource.CPU, "y", shared.slots[0])
    assert full.rate == 6


def test_a_task_without_threads_supports_nothing() -> None:
    found = predict(plan_of(slot(0, x=1)), chain("x", "y"), XY, Routing.SHUFFLE)
    assert found.limit == Limit(Fraction(0), Resource.RATE, "y", None)


def test_nothing_limits_what_receives_nothing() -> None:
    found = predict(plan_of(), chain(), {}, Routing.SHUFFLE)
    assert (found.rate, found.safe_rate, found.limit) == (None, None, None)


def test_interpolation_is_an_option() -> None:
    two = plan_of(slot(0, x=2))
    assert predict(two, chain("x"), XY, Routing.SHUFFLE).rate == 6
    nearest = predict(two, chain("x"), XY, Routing.SHUFFLE, interpolation=Interpolation.NEAREST)
    assert nearest.rate == 4


def test_uses_by_slot_and_by_vm() -> None:
    other = Vm("other", VmSize("one", 1, Fraction(1)))
    made = Plan(Fraction(10), (VM, other), (slot(0, x=3, y=1), slot(1, x=1)))
    by_slot = slot_usage(made, chain("x", "y"), XY, Routing.SHUFFLE, Fraction(4))
    first = Usage(
        60 * Fraction(3, 8) + 90 * Fraction(4, 6), 40 * Fraction(3, 8) + 10 * Fraction(4, 6)
    )
    second = Usage(Fraction(20, 4), Fraction(10, 4))
    assert by_slot == {made.slots[0]: first, made.slots[1]: second}
    assert vm_usage(made, by_slot) == {
        "vm": Usage(first.cpu + second.cpu, first.memory + second.memory),
        "other": Usage(Fraction(0), Fraction(0)),
    }
    full = slot_usage(made, chain("x", "y"), XY, Routing.SHUFFLE, Fraction(4), scaling=Scaling.FULL)
    assert full[made.slots[0]] == Usage(Fraction(150), Fraction(50))


@given(
    dataflows(),
    models(),
    st.lists(st.dictionaries(st.sampled_from(TASKS), st.integers(1, 12), min_size=1), max_size=4),
    st.sampled_from([Routing.SHUFFLE, Routing.SLOT_AWARE]),
)
@settings(max_examples=150, deadline=None)
def test_prediction_against_floats(
    dag: Dataflow,
    curves: dict[str, PerformanceModel],
    drawn: list[dict[str, int]],
    routing: Routing,
) -> None:
    """The same in doubles: no slot is short below the predicted rate, and one is above it."""
    tasks = [task.name for task in dag.allocated]
    slots = [{name: q for name, q in one.items() if name in tasks} for one in drawn]
    made = plan_of(*(slot(index, **one) for index, one in enumerate(slots)))
    found = predict(made, dag, curves, routing)
    assert found.rate is not None
    assert found.safe_rate is not None
    for rate, safe in ((found.rate, False), (found.safe_rate, True)):
        if rate > 0:
            assert not is_short(dag, curves, slots, routing, float(rate) * 0.999, safe)
        assert is_short(dag, curves, slots, routing, float(rate) * 1.001 + 1e-9, safe)


def is_short(
    dag: Dataflow,
    curves: dict[str, PerformanceModel],
    slots: list[dict[str, int]],
    routing: Routing,
    rate: float,
    with_capacity: bool,
) -> bool:
    """Whether a task has no threads, a bundle too many tuples or a slot too little to use."""
    unit = {task: float(one) for task, one in input_rates(dag, Fraction(1)).items()}
    use = [[0.0, 0.0] for _ in slots]
    for task in (one.name for one in dag.allocated):
        weights = {}
        for index, one in enumerate(slots):
            if task in one:
                at = read(curves[task], one[task])
                weights[index] = at[0] if routing is Routing.SLOT_AWARE else float(one[task])
        if not weights:
            return True
        for index, weight in weights.items():
            peak, *uses = read(curves[task], slots[index][task])
            received = rate * unit[task] * weight / sum(weights.values())
            if received > peak:
                return True
            for resource in (0, 1):
                use[index][resource] += uses[resource] * received / peak
    return with_capacity and any(max(one) > 100 for one in use)


def read(curve: PerformanceModel, threads: int) -> list[float]:
    """Peak rate, CPU and memory of `threads`, interpolated by NumPy."""
    at = [row.threads for row in curve.measurements]
    columns = ("peak_rate", "cpu", "memory")
    return [
        float(np.interp(threads, at, [float(getattr(row, one)) for row in curve.measurements]))
        for one in columns
    ]
