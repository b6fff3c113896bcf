"""Any method on any dataflow: outcomes, the check, bounds, limited VMs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sam_cases import chain, dataflows, model, models

from slotwise.heuristics.sam.allocations import AllocatedTask, Map, open_vms
from slotwise.heuristics.sam.pairs import PAIRS, map_dsm, map_rsm, map_sam
from slotwise.models.allocation.check import Rule, check
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.plan import ARTICLE_VMS, Plan, Vm, VmSize
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError, InternalError
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver import allocation
from slotwise.solver.allocation import (
    METHODS,
    OPTIMAL,
    Outcome,
    Question,
    Setting,
    allocate,
    allocate_all,
    with_bounds,
)

ARTICLE = Setting(ARTICLE_VMS)
ONE = {"x": model("x", (1, 10, 60, 30))}
RATES = tuple(map(Fraction, (50, 100, 200)))


def question(dag: str, rate: int = 100) -> Question:
    return Question(MICRO_DAGS[dag], article_models(), Fraction(rate))


def small(rate: int) -> Question:
    return Question(chain("x"), ONE, Fraction(rate))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dag", "method", "slots", "outcome"),
    [
        ("linear", "optimal", [3, 5, 10], Outcome.OPTIMAL),
        ("diamond", "optimal", [4, 7, 14], Outcome.OPTIMAL),
        ("star", "optimal", [3, 6, 12], Outcome.OPTIMAL),
        ("linear", "mba+sam", [4, 7, 15], Outcome.FEASIBLE),
        ("diamond", "mba+sam", [5, 10, 20], Outcome.FEASIBLE),
        ("star", "mba+sam", [4, 8, 17], Outcome.FEASIBLE),
        ("linear", "lsa+rsm", [8, 14, 27], Outcome.VIOLATED),
        ("diamond", "mba+rsm", [5, 10, 20], Outcome.VIOLATED),
        ("star", "mba+dsm", [4, 8, 17], Outcome.VIOLATED),
        ("linear", "lsa+dsm", [7, 13, 25], Outcome.VIOLATED),
    ],
)
def test_the_micro_dags(dag: str, method: str, slots: list[int], outcome: Outcome) -> None:
    answers = allocate_all(question(dag), RATES, method, ARTICLE)
    assert [answer.slots for answer in answers] == slots
    assert {answer.outcome for answer in answers} == {outcome}
    assert all(bool(answer.failures) == (outcome is Outcome.VIOLATED) for answer in answers)


@pytest.mark.slow
def test_a_plan_that_the_vms_have_too_few_slots_for_is_said_to_be_found() -> None:
    """Under shuffle grouping 8 slots are found and 7 not ruled out; more time changes nothing."""
    seven = Setting(vm_sizes=(VmSize("D1", 1, Fraction(1), 7),), shuffle=True)
    answer = allocate(question("diamond"), OPTIMAL, seven)
    assert (answer.outcome, answer.bound, answer.plan) == (Outcome.UNKNOWN, 7, None)
    assert answer.reason.startswith("the plan that was found needs 8 slots, and the VMs have 7;")


@pytest.mark.slow
def test_under_shuffle_grouping_the_optimum_reaches_its_rate_and_sam_does_not() -> None:
    shuffled = replace(ARTICLE, shuffle=True)
    best = allocate(question("linear"), OPTIMAL, shuffled)
    assert (best.outcome, best.slots, best.routing) == (Outcome.OPTIMAL, 5, Routing.SHUFFLE)
    sam = allocate(question("linear"), "mba+sam", shuffled)
    assert sam.outcome is Outcome.VIOLATED
    assert {one.rule for one in sam.failures} == {Rule.RATE}


def test_pairs_get_the_bound_of_the_optimum() -> None:
    sam = allocate_all(question("linear"), RATES, "mba+sam", ARTICLE)
    assert [one.bound for one in sam] == [None, None, None]
    best = allocate_all(question("linear"), RATES, OPTIMAL, ARTICLE)
    bounded = with_bounds(sam, best)
    assert [one.bound for one in bounded] == [3, 5, 10]
    assert [one.gap for one in bounded] == [1 / 4, 2 / 7, 5 / 15]
    assert [one.gap for one in sam] == [None, None, None]


LIMITED = (VmSize("small", 1, Fraction(1), 3), VmSize("big", 4, Fraction(6), 1))


@pytest.mark.parametrize("method", METHODS)
def test_vms_that_run_out(method: str) -> None:
    """Slots 7: the pairs take the largest first, the optimum the cheapest."""
    setting = Setting(LIMITED)
    answer = allocate(small(30), method, setting)
    assert answer.plan is not None
    sizes = sorted(vm.size.name for vm in answer.plan.vms)
    if method == OPTIMAL:
        assert (answer.slots, sizes) == (3, ["small", "small", "small"])
    else:
        assert "big" in sizes
    beyond = allocate(small(900), method, setting)
    assert beyond.plan is None
    assert beyond.outcome is (Outcome.INFEASIBLE if method == OPTIMAL else Outcome.REFUSED)
    assert "slots or more" in beyond.reason
    assert beyond.reason.endswith("7")


@pytest.mark.parametrize("method", PAIRS)
def test_the_time_limit_ends_a_pair(method: str) -> None:
    """Nothing did: LSA+RSM took a minute at 10,000 tuples/s."""
    answer = allocate(question("linear", 10_000), method, Setting(time_limit_s=1e-9))
    assert (answer.outcome, answer.plan) == (Outcome.UNKNOWN, None)
    assert "within the time limit" in answer.reason


@pytest.mark.parametrize("mapping", [map_dsm, map_rsm, map_sam])
def test_a_mapping_is_ended_between_its_tasks(mapping: Map) -> None:
    blob = article_models()["blob"]
    percent = Fraction(1)
    task = AllocatedTask("blob", blob, Fraction(4), 2, percent, percent, percent, percent)
    vms = open_vms([Vm("vm1", ARTICLE_VMS[0])], 1)
    assert mapping([task], vms)
    late = CancellationToken()
    late.cancel()
    with pytest.raises(CancelledError):
        mapping([task], vms, token=late)


def test_a_bundle_beyond_any_slot_is_refused() -> None:
    hungry = {"x": model("x", (1, 2, 130, 30))}
    answer = allocate(Question(chain("x"), hungry, Fraction(5)), "mba+sam")
    assert answer.outcome is Outcome.REFUSED
    assert "130 % CPU" in answer.reason
    assert (answer.prediction(), answer.usage(), answer.gap) == (None, {}, None)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("known", "rate", "message"),
    [
        (ONE, 0, "rate = 0.0: must be above 0"),
        ({}, 1, "tasks.x.model = 'x': has no performance model; the known models are: none"),
        ({"x": model("x", (1, 0, 1, 1))}, 1, "models.x: its best rate is 0 tuples/s"),
    ],
)
def test_impossible_demands_are_refused_alike(
    method: str, known: dict[str, PerformanceModel], rate: int, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        allocate(Question(chain("x"), known, Fraction(rate)), method)
    assert str(caught.value).startswith(message)


def test_settings_and_methods_that_are_not_there() -> None:
    with pytest.raises(InputError, match="did you mean 'mba\\+sam'"):
        allocate(small(1), "mba-sam")
    with pytest.raises(InputError, match="at least one VM size"):
        Setting(())


def test_no_rates_no_answers() -> None:
    assert allocate_all(small(1), [], OPTIMAL) == []


def test_a_plan_of_the_optimum_that_fails_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(plan: Plan, sizes: object) -> Plan:
        return Plan(plan.rate, plan.vms, plan.slots[1:])

    monkeypatch.setattr(allocation, "seated", broken)
    with pytest.raises(InternalError, match="the optimum's plan fails its check: "):
        allocate(question("linear"))


@pytest.mark.slow
@given(models(), dataflows(), st.integers(1, 60), st.sampled_from(METHODS))
def test_answers_are_what_the_check_says(
    known: dict[str, PerformanceModel], dataflow: Dataflow, rate: int, method: str
) -> None:
    setting = Setting(time_limit_s=5)
    best = allocate(Question(dataflow, known, Fraction(rate)), OPTIMAL, setting)
    answer = allocate(best.question, method, setting)
    if answer.plan is None:
        assert answer.reason
        return
    assert answer.failures == check(answer.plan, dataflow, known, answer.routing)
    own = answer.prediction()
    assert own is not None
    if answer.outcome is Outcome.VIOLATED:
        return
    assert own.safe_rate is None or own.safe_rate >= rate
    assert best.bound is not None
    assert answer.slots is not None
    assert answer.slots >= best.bound
