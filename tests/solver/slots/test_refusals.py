"""Demands that nothing can meet are refused by name, in one line."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import pytest
from slot_cases import chain, model

from slotwise.models.allocation.plan import Vm, VmSize
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.solver.core.result import Status
from slotwise.solver.slots.problem import Counts, Variant
from slotwise.solver.slots.solve import Offer, SlotSolver

GOOD = model("t0", (1, 10, 50, 10))
PAIR = (Vm("a", VmSize("S", 1, Fraction(1))), Vm("b", VmSize("L", 2, Fraction(3))))


def soon() -> CancellationToken:
    return CancellationToken(time.perf_counter() + 10)


@pytest.mark.parametrize(
    ("one", "variant", "says"),
    [
        (model("t0", (1, 0, 5, 5)), Variant(), "task = 't0': the best rate of its model 't0' is 0"),
        (model("t0", (1, 5, 5, 101)), Variant(), "takes 101 % memory of a slot, at most 100 %"),
        (model("t0", (1, 5, 101, 5)), Variant(scaled=False), "no bundle of its model 't0' fits"),
    ],
)
def test_models_that_carry_nothing(one: object, variant: Variant, says: str) -> None:
    with pytest.raises(InputError) as caught:
        SlotSolver(chain(1), {"t0": one}, variant)  # type: ignore[dict-item]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_thread_over_100_cpu_runs_at_a_lower_load_where_load_is_scaled() -> None:
    solver = SlotSolver(chain(1), {"t0": model("t0", (1, 5, 200, 5))})
    assert solver.fewest_slots(Fraction(5), token=soon()).slots == 2


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda s: s.fewest_slots(Fraction(0), token=soon()), "rate = 0.0: must be above 0"),
        (
            lambda s: s.fewest_slots(Fraction(61), token=soon()),
            "rate = 61.0: needs at least 7 slots; the given VMs have 3",
        ),
        (lambda s: s.highest_rate(4, token=soon()), "slots = 4: the given VMs have 3 slots"),
        (lambda s: s.highest_rate(0, token=soon()), "slots = 0.0: must be above 0"),
    ],
)
def test_questions_without_an_answer(ask: Callable[[SlotSolver], object], says: str) -> None:
    solver = SlotSolver(chain(1), {"t0": GOOD}, offer=Offer(vms=PAIR))
    with pytest.raises(InputError) as caught:
        ask(solver)
    assert says in str(caught.value)


def test_missing_models_and_variants_that_contradict() -> None:
    with pytest.raises(InputError, match="has no performance model 't0'"):
        SlotSolver(chain(1), {})
    with pytest.raises(InputError, match="one thread fewer would evade the rule"):
        Variant(exclusive=True)
    assert Variant(counts=Counts.MEASURED, exclusive=True).exclusive


def test_given_vms_are_used_by_price_and_bound_the_highest_rate() -> None:
    solver = SlotSolver(chain(1), {"t0": GOOD}, offer=Offer(vms=PAIR))
    found = solver.fewest_slots(Fraction(10), token=soon())
    assert found.plan is not None
    assert [vm.name for vm in found.plan.vms] == ["a"]
    highest = solver.highest_rate(token=soon())
    assert (highest.status, highest.rate, highest.bound) == (Status.OPTIMAL, 30, 30)


def test_without_time_there_is_still_a_plan_and_a_bound() -> None:
    solver = SlotSolver(chain(1), {"t0": GOOD})
    found = solver.fewest_slots(Fraction(35), token=CancellationToken(time.perf_counter()))
    assert found.plan is not None
    assert found.slots is not None
    assert found.bound <= 4 <= found.slots


def test_more_thread_counts_than_can_be_compared() -> None:
    """A mistyped number of threads was searched for hours, deaf to the time limit."""
    models = {"t0": model("t0", (1, 10, 10, 10), (1_000_000, 20, 50, 50))}
    with pytest.raises(InputError, match="up to 1000000 threads, and the optimum takes at most"):
        SlotSolver(chain(1), models)
    measured = Variant(counts=Counts.MEASURED, exclusive=True)
    found = SlotSolver(chain(1), models, measured).fewest_slots(Fraction(10), token=soon())
    assert found.slots == 1
