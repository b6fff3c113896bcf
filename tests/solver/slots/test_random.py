"""Random small cases against brute force and CP-SAT, and what must hold of every optimum."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from slot_cases import brute_force, chain, faults, model, small_cases
from slot_packing_model import slots_suffice

from slotwise.models.allocation.load import Routing
from slotwise.models.cancellation import CancellationToken
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.micro_dags import LINEAR
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.core.result import Status
from slotwise.solver.slots.branching import fewest
from slotwise.solver.slots.master import Master
from slotwise.solver.slots.problem import Counts, SlotProblem, Variant, slot_problem
from slotwise.solver.slots.solve import SlotSolver

Case = tuple[Dataflow, dict[str, PerformanceModel], Fraction]
VARIANTS = st.sampled_from(
    (
        Variant(),
        Variant(scaled=False),
        Variant(counts=Counts.MEASURED, exclusive=True),
        Variant(counts=Counts.MEASURED, scaled=False, exclusive=True),
    )
)
SOME = settings(max_examples=40, deadline=None)


def soon(seconds: float = 3) -> CancellationToken:
    return CancellationToken(time.perf_counter() + seconds)


def problem_of(case: Case, variant: Variant) -> SlotProblem:
    try:
        return slot_problem(*case, variant)
    except InputError:
        assume(False)
        raise


@SOME
@given(small_cases(), VARIANTS)
def test_plans_hold_and_bounds_are_bounds(case: Case, variant: Variant) -> None:
    dataflow, models, rate = case
    problem = problem_of(case, variant)
    found = SlotSolver(dataflow, models, variant).fewest_slots(rate, token=soon())
    assert found.plan is not None
    assert found.slots == len(found.plan.slots) >= found.bound
    assert (found.status is Status.OPTIMAL) == (found.slots == found.bound)
    assert faults(found.plan, dataflow, models, variant) == []
    if found.bound <= 4:
        assert slots_suffice(problem, found.bound - 1, token=soon()) is not True
        if found.slots <= 5:
            assert slots_suffice(problem, found.slots, token=soon()) is not False


@SOME
@given(small_cases(), st.booleans())
def test_brute_force_finds_the_same(case: Case, exclusive: bool) -> None:
    variant = Variant(counts=Counts.MEASURED, scaled=False, exclusive=exclusive)
    problem = problem_of(case, variant)
    packed = fewest(problem, Master(problem), token=soon())
    assert packed.packing is not None
    assume(packed.packing.slots <= 4)
    assert (packed.optimal, packed.packing.slots) == (True, brute_force(problem, 4))


@SOME
@given(small_cases(), st.integers(1, 50), VARIANTS)
def test_scaling_rates_and_peaks_changes_nothing(case: Case, factor: int, variant: Variant) -> None:
    dataflow, models, rate = case
    problem_of(case, variant)
    faster = {
        name: replace(
            one,
            measurements=tuple(
                replace(point, peak_rate=point.peak_rate * factor) for point in one.measurements
            ),
        )
        for name, one in models.items()
    }
    before = SlotSolver(dataflow, models, variant).fewest_slots(rate, token=soon())
    after = SlotSolver(dataflow, faster, variant).fewest_slots(rate * factor, token=soon())
    if before.status is after.status is Status.OPTIMAL:
        assert before.slots == after.slots
    assert before.slots is not None
    assert after.slots is not None
    assert max(before.bound, after.bound) <= min(before.slots, after.slots)


@SOME
@given(small_cases(), st.integers(1, 20), VARIANTS)
def test_the_optimum_never_falls_as_the_rate_rises(case: Case, more: int, variant: Variant) -> None:
    dataflow, models, rate = case
    problem_of(case, variant)
    solver = SlotSolver(dataflow, models, variant)
    lower = solver.fewest_slots(rate, token=soon())
    higher = solver.fewest_slots(rate + more, token=soon())
    assert higher.slots is not None
    assert lower.bound <= higher.slots


@settings(max_examples=15, deadline=None)
@given(small_cases(), st.booleans())
def test_shuffle_plans_hold_and_need_no_fewer_slots(case: Case, scaled: bool) -> None:
    dataflow, models, rate = case
    variant = Variant(scaled=scaled, routing=Routing.SHUFFLE)
    problem_of(case, variant)
    found = SlotSolver(dataflow, models, variant).fewest_slots(rate, token=soon())
    aware = SlotSolver(dataflow, models, Variant(scaled=scaled)).fewest_slots(rate, token=soon())
    assert found.plan is not None
    assert found.slots is not None
    assert faults(found.plan, dataflow, models, variant) == []
    assert aware.bound <= found.slots


@SOME
@given(small_cases(), VARIANTS)
def test_no_type_is_worth_more_than_the_bound_of_pricing(case: Case, variant: Variant) -> None:
    """Types at full load, where they fit, are worth at most what pricing proves."""
    problem = problem_of(case, variant)
    relaxed = Master(problem).solve(problem, token=soon())
    prices, upper = relaxed.proof.prices, relaxed.proof.upper
    for i, task in enumerate(problem.tasks):
        for k, option in enumerate(task.options):
            if option.cpu <= 100 and option.memory <= 100:
                assert prices.rates[i] * option.peak + prices.reward(i, k) <= upper


def test_a_demand_that_fits_to_the_last_digit_is_packed() -> None:
    """Two tasks of 50 % at 10 tuples/s each fill 3 slots at 30 tuples/s, and nothing is left."""
    models = {"t0": model("t0", (1, 10, 50, 0)), "t1": model("t1", (1, 10, 50, 100))}
    found = SlotSolver(chain(1, 1), models).fewest_slots(Fraction(30), token=soon())
    assert (found.status, found.slots) == (Status.OPTIMAL, 3)
    more = SlotSolver(chain(1, 1), models).fewest_slots(
        Fraction(30) + Fraction(1, 10**4), token=soon()
    )
    assert (more.status, more.slots) == (Status.OPTIMAL, 4)


@pytest.mark.parametrize("slots", [3, 4, 5])
def test_cp_sat_agrees_on_the_article(slots: int) -> None:
    variant = Variant(counts=Counts.MEASURED, scaled=False)
    problem = slot_problem(LINEAR, article_models(), Fraction(50), variant)
    assert slots_suffice(problem, slots, token=soon(30)) is (slots >= 5)
