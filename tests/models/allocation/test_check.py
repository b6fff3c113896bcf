"""Every rule of the check, broken once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from sam_cases import chain, model

from slotwise.models.allocation.check import Failure, Rule, check
from slotwise.models.allocation.load import Routing, Scaling
from slotwise.models.allocation.plan import Bundle, Plan, Slot, Vm, VmSize
from slotwise.models.errors import InputError
from slotwise.models.performance.model import Interpolation

VM = Vm("vm", VmSize("two", 2, Fraction(1)))
DAG = chain("x", "y")
MODELS = {"x": model("x", (1, 4, 40, 20), (3, 8, 60, 40)), "y": model("y", (1, 10, 50, 60))}
X, Y = Bundle("x", 3, Fraction(8)), Bundle("y", 1, Fraction(8))
GOOD = Plan(Fraction(8), (VM,), (Slot("vm", 0, (X,)), Slot("vm", 1, (Y,))))


def found(plan: Plan, routing: Routing = Routing.SHUFFLE) -> tuple[Failure, ...]:
    return check(plan, DAG, MODELS, routing)


def on(*bundles: tuple[Bundle, ...], rate: int = 8) -> Plan:
    slots = tuple(Slot("vm", index, one) for index, one in enumerate(bundles))
    return replace(GOOD, slots=slots, rate=Fraction(rate))


def failure(
    rule: Rule, place: int | None, task: str | None, needed: str, available: int
) -> Failure:
    at = None if place is None else ("vm", place)
    return Failure(rule, at, task, Fraction(needed), Fraction(available))


@pytest.mark.parametrize("routing", Routing)
def test_a_plan_that_does_what_it_claims(routing: Routing) -> None:
    assert found(GOOD, routing) == ()


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (on((X,), (Y,), rate=9), [failure(Rule.RATE, 0, "x", "9", 8)]),
        (on((X,)), [failure(Rule.TASKS, None, "y", "8", 0)]),
        # 5 tuples/s each to x on slots 0 and 1, where 1 thread has 4
        (on((Bundle("x", 1), Y), (Bundle("x", 1),), rate=6), []),
        (
            on((Bundle("x", 1), Y), (Bundle("x", 1),), rate=10),
            [failure(Rule.RATE, 0, "x", "5", 4), failure(Rule.RATE, 1, "x", "5", 4)],
        ),
        (on((X, Y), rate=8), []),  # exactly 100 % CPU, 88 % memory
        (
            on((X, Y), rate=9),
            [
                failure(Rule.RATE, 0, "x", "9", 8),
                failure(Rule.CPU, 0, "x", "112.5", 100),
            ],
        ),
        (
            replace(GOOD, slots=(*GOOD.slots, Slot("vm", 2, ()))),
            [failure(Rule.SLOTS, 2, None, "3", 2)],
        ),
        (
            replace(GOOD, slots=(*GOOD.slots, Slot("vm", 1, ()))),
            [failure(Rule.SLOTS, 1, None, "2", 1)],
        ),
        (replace(GOOD, vms=(VM, VM)), [failure(Rule.SLOTS, 0, None, "2", 1)]),
        (
            on((Bundle("x", 1), Bundle("x", 1)), (Y,), rate=8),
            [failure(Rule.BUNDLES, 0, "x", "2", 1)],
        ),
    ],
)
def test_rules(plan: Plan, expected: list[Failure]) -> None:
    assert list(found(plan)) == expected


def test_a_vm_that_is_not_there() -> None:
    stray = replace(GOOD, slots=(GOOD.slots[0], Slot("none", 0, (Y,))))
    assert list(found(stray)) == [Failure(Rule.SLOTS, ("none", 0), None, Fraction(1), Fraction(0))]


def test_memory() -> None:
    fat = {**MODELS, "y": model("y", (1, 10, 10, 90))}
    assert list(check(on((X, Y)), DAG, fat, Routing.SHUFFLE)) == [
        failure(Rule.MEMORY, 0, "y", "112", 100)
    ]


def test_planned_rates_must_serve_all_tuples() -> None:
    short = on((replace(X, rate=Fraction(6)),), (Y,))
    assert list(found(short, Routing.PLANNED)) == [failure(Rule.TASKS, None, "x", "8", 6)]
    assert found(short) == ()


def test_full_use_below_the_peak_rate() -> None:
    slow = on((X, Y), rate=1)
    assert found(slow) == ()
    assert list(check(slow, DAG, MODELS, Routing.SHUFFLE, scaling=Scaling.FULL)) == [
        failure(Rule.CPU, 0, "x", "110", 100)
    ]


def test_interpolation() -> None:
    two = on((Bundle("x", 2),), (Y,), rate=5)
    assert found(two) == ()
    nearest = check(two, DAG, MODELS, Routing.SHUFFLE, interpolation=Interpolation.NEAREST)
    assert list(nearest) == [failure(Rule.RATE, 0, "x", "5", 4)]


def test_a_failure_is_one_line() -> None:
    assert str(failure(Rule.RATE, 0, "x", "9", 8)) == (
        "slot 0 of vm: rate (x): needs 9 tuples/s, has 8 tuples/s"
    )
    assert str(failure(Rule.CPU, 1, "x", "112.5", 100)) == (
        "slot 1 of vm: cpu (x): needs 112.5 %, has 100 %"
    )
    assert str(failure(Rule.TASKS, None, "y", "8", 0)) == (
        "tasks (y): needs 8 tuples/s, has 0 tuples/s"
    )
    assert str(failure(Rule.SLOTS, 2, None, "3", 2)) == "slot 2 of vm: slots: needs 3, has 2"


@pytest.mark.parametrize(
    ("bundle", "routing", "message"),
    [
        (Bundle("z", 1), Routing.SHUFFLE, "slot 0 of vm = 'z': must be a task that is allocated"),
        (Bundle("x", 0), Routing.SHUFFLE, "slot 0 of vm: threads = 0: must be at least 1"),
        (
            Bundle("x", 1),
            Routing.PLANNED,
            "slot 0 of vm: rate of 'x' = null: must be 0 or more for routing 'planned': use "
            "another routing",
        ),
    ],
)
def test_what_cannot_be_checked(bundle: Bundle, routing: Routing, message: str) -> None:
    with pytest.raises(InputError) as caught:
        found(on((bundle,)), routing)
    assert str(caught.value) == message
