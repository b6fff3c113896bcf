"""The article's dataflows: known optima, plans that hold, curves and highest rates."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from slot_cases import chain, faults, model

from slotwise.benchmarks.experiments.proofs.slots import KNOWN, RATES, VARIANTS
from slotwise.models.allocation.load import Routing
from slotwise.models.cancellation import CancellationToken
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.solver.core.result import Status
from slotwise.solver.slots.curve import slots_curve
from slotwise.solver.slots.problem import Variant
from slotwise.solver.slots.result import Answer
from slotwise.solver.slots.solve import SlotSolver


def soon() -> CancellationToken:
    return CancellationToken(time.perf_counter() + 30)


@pytest.mark.slow
@pytest.mark.parametrize("dag", MICRO_DAGS)
@pytest.mark.parametrize("name", VARIANTS)
def test_the_known_optima_are_proven(name: str, dag: str) -> None:
    solver = SlotSolver(MICRO_DAGS[dag], article_models(), VARIANTS[name])
    for rate, known in zip(RATES, KNOWN[name][dag], strict=True):
        found = solver.fewest_slots(Fraction(rate), token=soon())
        assert (found.status, found.slots, found.bound) == (Status.OPTIMAL, known, known)
        assert found.plan is not None
        assert len(found.plan.slots) == known
        assert faults(found.plan, MICRO_DAGS[dag], article_models(), VARIANTS[name]) == []


def test_the_check_of_the_tests_sees_faults() -> None:
    """A plan for the rate, read by rules under which it is none."""
    dag = MICRO_DAGS["linear"]
    found = SlotSolver(dag, article_models()).fewest_slots(Fraction(100), token=soon())
    assert found.plan is not None
    for name in ("full bundles exclusive", "not scaled"):
        assert faults(found.plan, dag, article_models(), VARIANTS[name])
    assert faults(found.plan, dag, article_models(), Variant(routing=Routing.SHUFFLE))


@pytest.mark.slow
def test_a_curve_never_falls_and_agrees_with_single_rates() -> None:
    rates = [Fraction(rate) for rate in (90, 10, 50, 70, 30, 50)]
    dag = MICRO_DAGS["diamond"]
    points = slots_curve(SlotSolver(dag, article_models()), rates, token=soon())
    assert [one.plan.rate for one in points if one.plan] == rates
    by_rate = sorted((one.plan.rate, one.slots) for one in points if one.plan)
    assert [slots for _, slots in by_rate] == sorted(slots for _, slots in by_rate)
    for rate, point in zip(rates, points, strict=True):
        alone = SlotSolver(dag, article_models()).fewest_slots(rate, token=soon())
        assert (point.slots, point.status) == (alone.slots, Status.OPTIMAL)
        assert point.plan is not None
        assert faults(point.plan, dag, article_models(), Variant()) == []


def test_a_curve_that_is_stopped_searches_its_ends_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """It searched at every rate, a quarter of a second each under shuffle grouping."""
    packed: list[Fraction] = []
    pack = SlotSolver.pack

    def counted(solver: SlotSolver, rate: Fraction, *words: CancellationToken) -> Answer:
        packed.append(rate)
        return pack(solver, rate, *words)

    monkeypatch.setattr(SlotSolver, "pack", counted)
    token = CancellationToken()
    token.cancel()
    dag, rates = MICRO_DAGS["diamond"], [Fraction(50 * k) for k in range(1, 5)]
    points = slots_curve(SlotSolver(dag, article_models()), rates, token=token)
    assert packed == [rates[0], rates[-1]]
    for rate, point in zip(rates, points, strict=True):
        best = SlotSolver(dag, article_models()).fewest_slots(rate, token=soon())
        assert point.bound <= best.bound
        assert point.slots is not None
        assert best.slots is not None
        assert point.slots >= best.slots
        assert point.plan is not None
        assert point.plan.rate == rate
        assert faults(point.plan, dag, article_models(), Variant()) == []


def test_the_highest_rate_is_the_last_that_fits() -> None:
    dag, step = MICRO_DAGS["linear"], Fraction(10)
    solver = SlotSolver(dag, article_models(), VARIANTS["full bundles exclusive"])
    found = solver.highest_rate(6, step=step, token=soon())
    assert found.status is Status.OPTIMAL
    assert found.plan is not None
    assert found.plan.rate == found.rate >= 100
    assert faults(found.plan, dag, article_models(), VARIANTS["full bundles exclusive"]) == []
    assert solver.fewest_slots(found.rate, token=soon()).slots == 6
    assert solver.fewest_slots(found.rate + step, token=soon()).bound == 7


@pytest.mark.parametrize(
    ("rows", "rate", "slots"),
    [
        ([(1, 10, 150, 10)], 20, 3),
        ([(1, 10, 150, 10), (2, 16, 180, 10)], 40, 5),
        ([(1, 0, 10, 10), (2, 10, 20, 10)], 5, 1),
    ],
    ids=["over 100 % CPU", "over 100 % CPU in all rows", "one thread carries nothing"],
)
def test_shares_of_shuffle_grouping_fit_their_slots(
    rows: list[tuple[int, int, int, int]], rate: int, slots: int
) -> None:
    dataflow, models = chain(1), {"t0": model("t0", *rows)}
    variant = Variant(routing=Routing.SHUFFLE)
    found = SlotSolver(dataflow, models, variant).fewest_slots(Fraction(rate), token=soon())
    assert found.plan is not None
    assert found.slots == slots
    assert faults(found.plan, dataflow, models, variant) == []


@pytest.mark.parametrize("scaled", [True, False])
def test_shuffle_grouping_gives_equal_shares(scaled: bool) -> None:
    dag, variant = MICRO_DAGS["linear"], Variant(scaled=scaled, routing=Routing.SHUFFLE)
    found = SlotSolver(dag, article_models(), variant).fewest_slots(
        Fraction(50), token=CancellationToken(time.perf_counter() + 3)
    )
    assert found.plan is not None
    assert found.slots is not None
    assert found.bound == KNOWN["scaled by load" if scaled else "not scaled"]["linear"][0]
    assert faults(found.plan, dag, article_models(), variant) == []
