"""The five pairs: the article's figures, retries, fixed VMs, refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest
from sam_cases import chain, model

from slotwise.heuristics.sam.allocations import Refused
from slotwise.heuristics.sam.fixed_vms import highest_planned, plan_on
from slotwise.heuristics.sam.pairs import PAIRS, Planned, RsmWeights, find_pair, plan
from slotwise.models.allocation.check import Rule, check
from slotwise.models.allocation.load import Routing, task_demands
from slotwise.models.allocation.plan import AZURE_D, Vm, VmSize
from slotwise.models.allocation.prediction import predict
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import PerformanceModel

RATES = (50, 100, 200)
SIZES = AZURE_D[:3]
FIVE_D3 = tuple(Vm(f"vm{number}", AZURE_D[2]) for number in range(1, 6))


def made(pair: str, dag: str, rate: int) -> Planned:
    found = plan(MICRO_DAGS[dag], article_models(), Fraction(rate), PAIRS[pair], vm_sizes=SIZES)
    assert isinstance(found, Planned)
    return found


@pytest.mark.parametrize(
    ("pair", "dag", "slots"),
    [
        ("mba+sam", "linear", [4, 7, 15]),
        ("mba+sam", "diamond", [5, 10, 20]),
        ("mba+sam", "star", [4, 8, 17]),
        ("mba+dsm", "linear", [4, 7, 14]),  # DSM takes the estimate
        ("lsa+dsm", "star", [7, 13, 26]),
        # The article has 7 or 8, 13 and 28 for Linear, and 8 for Diamond at 50.
        ("lsa+rsm", "linear", [8, 14, 27]),
        ("lsa+rsm", "diamond", [8, 15, 31]),
        ("lsa+rsm", "star", [8, 14, 28]),
        ("mba+rsm", "linear", [4, 7, 14]),
    ],
)
def test_needed_slots(pair: str, dag: str, slots: list[int]) -> None:
    assert [made(pair, dag, rate).needed for rate in RATES] == slots


@pytest.mark.parametrize(
    ("dag", "rates"),
    [("linear", [46.7, 80, 165]), ("diamond", [41.2, 80, 198]), ("star", [46.7, 80, 192.5])],
)
def test_what_sams_plans_support_under_shuffle_grouping(dag: str, rates: list[float]) -> None:
    for rate, expected in zip(RATES, rates, strict=True):
        planned = made("mba+sam", dag, rate).plan
        shuffled = predict(planned, MICRO_DAGS[dag], article_models(), Routing.SHUFFLE)
        assert shuffled.rate is not None
        assert round(float(shuffled.rate), 1) == expected
        routed = predict(planned, MICRO_DAGS[dag], article_models(), Routing.PLANNED)
        assert routed.rate == rate
        by_slot = predict(planned, MICRO_DAGS[dag], article_models(), Routing.SLOT_AWARE)
        assert by_slot.rate is not None
        assert by_slot.rate >= rate


def test_star_at_200_also_lacks_cpu_under_shuffle_grouping() -> None:
    """XML's two threads receive 200 each, not 310 and 90: the shared slot lacks CPU first."""
    found = predict(
        made("mba+sam", "star", 200).plan, MICRO_DAGS["star"], article_models(), Routing.SHUFFLE
    )
    assert found.safe_limit is not None
    assert (found.safe_limit.resource, found.safe_limit.task) == ("cpu", "xml")
    assert found.safe_rate is not None
    assert 189 < found.safe_rate < 191


def test_table_of_diamond_at_100() -> None:
    """60 + 60 + 40 threads; shuffle grouping sends 37.5, 37.5 and 25 of 40, 40 and 20."""
    planned = made("mba+sam", "diamond", 100).plan
    bundles = [one for slot in planned.slots for one in slot.bundles if one.task == "table"]
    assert sorted((one.threads, one.rate) for one in bundles) == [(40, 20), (60, 40), (60, 40)]
    failures = check(planned, MICRO_DAGS["diamond"], article_models(), Routing.SHUFFLE)
    short = [one for one in failures if one.task == "table"]
    assert [(one.rule, one.needed, one.available) for one in short] == [(Rule.RATE, 25, 20)]
    assert check(planned, MICRO_DAGS["diamond"], article_models(), Routing.PLANNED) == ()


@pytest.mark.parametrize(
    ("pair", "dag", "rate"),
    [
        ("lsa+dsm", "linear", 160),
        ("mba+dsm", "linear", 280),
        ("mba+sam", "linear", 280),
        ("mba+sam", "star", 240),
        ("mba+sam", "diamond", 200),
    ],
)
def test_planned_rates_on_20_slots(pair: str, dag: str, rate: int) -> None:
    found = highest_planned(MICRO_DAGS[dag], article_models(), PAIRS[pair], FIVE_D3)
    assert isinstance(found, Planned)
    assert found.plan.rate == rate
    if pair == "mba+sam":
        predicted = predict(found.plan, MICRO_DAGS[dag], article_models(), Routing.SLOT_AWARE)
        assert predicted.rate == rate


def test_dsm_deals_470_threads_over_20_slots() -> None:
    """Line 1842: about 23 threads of Blob on each slot instead of 50 on 9."""
    found = plan_on(
        MICRO_DAGS["linear"], article_models(), Fraction(280), PAIRS["mba+dsm"], FIVE_D3
    )
    assert isinstance(found, Planned)
    blob = [one.threads for slot in found.plan.slots for one in slot.bundles if one.task == "blob"]
    assert Counter(blob) == {23: 10, 24: 10}


def test_what_a_plan_says() -> None:
    found = made("mba+sam", "linear", 200)
    assert (found.estimate, found.needed, found.acquired) == (14, 15, 16)
    assert len(found.plan.slots) == 15
    assert found.plan.threads == {name: one.threads for name, one in found.allocation.items()}
    assert found.plan.price == Fraction("1.568")


ONE = {"x": model("x", (1, 10, 60, 30))}
TWO = {**ONE, "y": model("y", (1, 10, 60, 30))}


def test_a_slot_more_where_partial_bundles_do_not_share_one() -> None:
    """Three of 63 % CPU, together 189 %: two slots are estimated, and no two share one."""
    models = {name: model(name, (1, 10, 70, 30)) for name in "xyz"}
    found = plan(chain(*"xyz"), models, Fraction(9), PAIRS["mba+sam"])
    assert isinstance(found, Planned)
    assert (found.estimate, found.needed) == (2, 3)


def reason(pair: str, models: Mapping[str, PerformanceModel], rate: int, most: int | None) -> str:
    dag: Dataflow = chain(*models)
    found = plan(dag, models, Fraction(rate), PAIRS[pair], vm_sizes=SIZES, max_slots=most)
    assert isinstance(found, Refused)
    assert "\n" not in found.reason
    return found.reason


def test_a_rate_beyond_all_slots_is_refused() -> None:
    expected = "at 1000 tuples/s: needs 100 slots or more; there are 99"
    assert reason("mba+sam", ONE, 1000, 99) == f"mba+sam {expected}"
    assert reason("lsa+rsm", TWO, 9, 1).startswith("lsa+rsm at 9 tuples/s: needs 2 slots or more")


def test_a_bundle_beyond_any_slot_is_refused_at_once() -> None:
    fat = {"x": model("x", (1, 2, 10, 30), (5, 8, 20, 130), (9, 10, 30, 90))}
    assert reason("mba+sam", fat, 7, None) == (
        "mba+sam at 7 tuples/s: a bundle of 5 threads needs 20 % CPU and 130 % memory for task "
        "'x': more than an empty slot has"
    )
    thread = {"x": model("x", (1, 2, 10, 130))}
    assert reason("lsa+rsm", thread, 7, None) == (
        "lsa+rsm at 7 tuples/s: a thread needs 10 % CPU and 130 % memory for task 'x': more than "
        "an empty slot has"
    )


def test_rsm_lets_a_thread_use_the_cpu_of_its_vm() -> None:
    hungry = {"x": model("x", (1, 2, 390, 10))}
    assert isinstance(plan(chain("x"), hungry, Fraction(2), PAIRS["lsa+rsm"]), Planned)
    hungrier = {"x": model("x", (1, 2, 410, 10))}
    assert "more than an empty slot has" in reason("lsa+rsm", hungrier, 2, None)


def test_dsm_ignores_what_threads_need() -> None:
    """It maps what fits nowhere; the check tells."""
    fat = {"x": model("x", (1, 2, 10, 130))}
    found = plan(chain("x"), fat, Fraction(4), PAIRS["lsa+dsm"])
    assert isinstance(found, Planned)
    failures = check(found.plan, chain("x"), fat, Routing.SHUFFLE)
    assert {one.rule for one in failures} == {Rule.MEMORY}


def test_fixed_vms_refuse_what_they_do_not_hold() -> None:
    vms = (Vm("vm1", VmSize("one", 1, Fraction(1))),)
    many = plan_on(chain("x"), ONE, Fraction(1000), PAIRS["lsa+dsm"], vms)
    assert many == Refused("lsa+dsm at 1000 tuples/s: needs 60 slots or more; there are 1")
    models = {name: model(name, (1, 10, 40, 30)) for name in "xyz"}
    tight = plan_on(chain(*"xyz"), models, Fraction(8), PAIRS["lsa+rsm"], vms)
    assert isinstance(tight, Refused)
    assert tight.reason.endswith("memory for task 'z'; no slot has that much left")
    assert isinstance(highest_planned(chain("x"), ONE, PAIRS["lsa+dsm"], vms), Planned)
    none = highest_planned(chain("x"), ONE, PAIRS["lsa+dsm"], vms, Fraction(20))
    assert isinstance(none, Refused)


def test_tasks_that_need_nothing_still_need_a_slot() -> None:
    free = {"x": model("x", (1, 10, 0, 0))}
    for pair in ("lsa+dsm", "lsa+rsm"):
        found = plan_on(chain("x"), free, Fraction(4), PAIRS[pair], ())
        assert found == Refused(f"{pair} at 4 tuples/s: needs 1 slots or more; there are 0")
        with pytest.raises(InputError, match=r"^models: need no cpu and memory$"):
            highest_planned(chain("x"), free, PAIRS[pair], FIVE_D3)


def test_a_rest_that_needs_nothing_does_not_share_the_slot_of_a_full_bundle() -> None:
    free = {"x": model("x", (1, 1, 0, 0))}
    found = plan(chain("x"), free, Fraction(5, 4), PAIRS["mba+sam"])
    assert isinstance(found, Planned)
    assert [[one.rate for one in slot.bundles] for slot in found.plan.slots] == [
        [Fraction(1)],
        [Fraction(1, 4)],
    ]


def test_highest_rate_needs_a_limit() -> None:
    with pytest.raises(InputError, match=r"step = 0\.0: must be above 0"):
        highest_planned(chain("x"), ONE, PAIRS["lsa+dsm"], FIVE_D3, Fraction(0))
    empty = chain("x", "y", selectivity="0")
    assert isinstance(highest_planned(empty, TWO, PAIRS["lsa+dsm"], FIVE_D3), Planned)
    with pytest.raises(InputError, match="dataflow = 'chain': no task receives tuples"):
        highest_planned(chain(), {}, PAIRS["lsa+dsm"], FIVE_D3)


@pytest.mark.parametrize(
    ("models", "rate", "message"),
    [
        (ONE, 0, "rate = 0.0: must be above 0"),
        ({}, 1, "tasks.x.model = 'x': has no performance model; the known models are: none"),
        (
            {"x": model("x", (1, 0, 1, 1), (4, 0, 1, 1))},
            7,
            "models.x: its best rate is 0 tuples/s with any number of threads, so no slots support "
            "the 7 tuples/s of task 'x'; measure it again",
        ),
    ],
)
def test_impossible_demands(
    models: Mapping[str, PerformanceModel], rate: int, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        task_demands(chain("x"), models, Fraction(rate))
    assert str(caught.value) == message
    with pytest.raises(InputError):
        plan(chain("x"), models, Fraction(rate), PAIRS["mba+sam"])


def test_pairs_by_name() -> None:
    assert list(PAIRS) == ["lsa+dsm", "lsa+rsm", "mba+dsm", "mba+rsm", "mba+sam"]
    assert find_pair("mba+sam") is PAIRS["mba+sam"]
    with pytest.raises(InputError, match=r"method = 'lsa\+sam'"):
        find_pair("lsa+sam")
    with pytest.raises(InputError, match="has no weights: only RSM has them"):
        find_pair("mba+sam", RsmWeights())


def test_weights_reach_rsm() -> None:
    dag, models = MICRO_DAGS["diamond"], article_models()
    flat = find_pair("lsa+rsm", RsmWeights(Fraction(0), Fraction(0), Fraction(1)))
    other = plan(dag, models, Fraction(50), flat, vm_sizes=SIZES)
    assert isinstance(other, Planned)
    assert other.plan != made("lsa+rsm", "diamond", 50).plan
