"""The highest rate for slots or VMs, and the variants of the optimum."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sam_cases import chain, model

from slotwise.models.allocation.plan import VmSize
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.solver.allocation import Outcome, Question, Setting, allocate, highest_rate

ONE = {"x": model("x", (1, 10, 60, 30))}
"""A slot carries 10 tuples/s: one bundle of one thread."""
SIZES = (VmSize("small", 1, Fraction(1), 3), VmSize("big", 4, Fraction(6), 1))


def test_the_slots_or_all_that_the_vms_have() -> None:
    given = highest_rate(chain("x"), ONE, 3)
    assert (given.question.rate, given.bound_rate, given.slots) == (30, 30, 3)
    assert (given.outcome, given.bound, given.failures) == (Outcome.OPTIMAL, None, ())
    everything = highest_rate(chain("x"), ONE, setting=Setting(SIZES))
    assert (everything.question.rate, everything.slots) == (70, 7)
    assert everything.plan is not None
    assert sorted(vm.size.name for vm in everything.plan.vms) == ["big", *["small"] * 3]
    assert allocate(Question(chain("x"), ONE, Fraction(71))).slots == 8


def test_no_multiple_of_the_step() -> None:
    answer = highest_rate(chain("x"), ONE, 1, step=Fraction(11))
    assert (answer.outcome, answer.plan, answer.bound_rate) == (Outcome.INFEASIBLE, None, 0)
    assert answer.reason == "1 slots support no multiple of 11 tuples/s"


@pytest.mark.parametrize(
    ("slots", "dataflow", "sizes", "message"),
    [
        (None, chain("x"), (VmSize("s", 1, Fraction(1)),), "slots: must be given"),
        (8, chain("x"), SIZES, "slots = 8: the VMs have 7 slots"),
        (0, chain("x"), SIZES, "slots = 0: must be at least 1"),
        (1, chain(), SIZES, "dataflow: no task receives tuples"),
    ],
)
def test_what_has_no_highest_rate(
    slots: int | None, dataflow: Dataflow, sizes: tuple[VmSize, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        highest_rate(dataflow, ONE, slots, Setting(sizes))


def test_without_time_there_is_a_bound_or_no_answer() -> None:
    answer = highest_rate(chain("x"), ONE, 3, Setting(time_limit_s=1e-9))
    assert answer.bound_rate is not None
    assert answer.bound_rate >= 30
    assert answer.question.rate <= 30


def test_the_optimum_leaves_out_a_full_bundle_that_mba_refuses() -> None:
    """Two threads take 150 % memory, one 50 %."""
    known = {"x": model("x", (1, 10, 10, 50), (2, 12, 10, 150))}
    question = Question(chain("x"), known, Fraction(20))
    refused = allocate(question, "mba+sam")
    assert refused.outcome is Outcome.REFUSED
    assert "150 % memory" in refused.reason
    best = allocate(question)
    assert (best.outcome, best.slots) == (Outcome.OPTIMAL, 2)
