"""What holds for every plan of the five pairs, on drawn models and dataflows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sam_cases import RATES, dataflows, models

from slotwise.heuristics.sam.pairs import PAIRS, Planned, plan
from slotwise.models.allocation.check import Rule, check
from slotwise.models.allocation.load import Routing, Scaling
from slotwise.models.allocation.plan import Bundle, Plan
from slotwise.models.allocation.prediction import predict
from slotwise.models.dataflow import Dataflow
from slotwise.models.performance.model import PerformanceModel

Models = dict[str, PerformanceModel]

each_pair = pytest.mark.parametrize("pair", PAIRS)


@given(dataflows(), models(), RATES)
@settings(max_examples=100, deadline=None)
def test_sams_plans_do_what_they_claim(dag: Dataflow, curves: Models, rate: Fraction) -> None:
    found = plan(dag, curves, rate, PAIRS["mba+sam"])
    assert isinstance(found, Planned)  # no bundle is larger than a slot
    assert check(found.plan, dag, curves, Routing.PLANNED) == ()


@pytest.mark.slow
@each_pair
@given(dag=dataflows(), curves=models(130), rate=RATES, routing=st.sampled_from(Routing))
@settings(max_examples=50, deadline=None)
def test_plans_pass_the_check_or_are_reported(
    pair: str, dag: Dataflow, curves: Models, rate: Fraction, routing: Routing
) -> None:
    found = plan(dag, curves, rate, PAIRS[pair], max_slots=200)
    if not isinstance(found, Planned):
        assert found.reason
        return
    assert found.estimate <= found.needed <= found.acquired
    assert len(found.plan.slots) <= found.needed
    assert found.plan.threads == {
        name: one.threads for name, one in found.allocation.items() if one.threads
    }
    if routing is Routing.PLANNED:
        routing = PAIRS[pair].routing
    rules = {one.rule for one in check(found.plan, dag, curves, routing)}
    assert rules <= {Rule.RATE, Rule.CPU, Rule.MEMORY}
    prediction = predict(found.plan, dag, curves, routing)
    assert prediction.rate is not None
    assert prediction.safe_rate is not None
    assert (prediction.rate < rate) == (Rule.RATE in rules)
    assert (prediction.safe_rate < rate) == bool(rules)
    full = {one.rule for one in check(found.plan, dag, curves, routing, scaling=Scaling.FULL)}
    if Rule.RATE not in rules:
        assert rules <= full


@pytest.mark.slow
@each_pair
@given(
    dag=dataflows(),
    curves=models(130),
    rate=RATES,
    factor=st.fractions(Fraction(1, 50), 50, max_denominator=50),
)
@settings(max_examples=30, deadline=None)
def test_scaling_all_rates_changes_nothing(
    pair: str, dag: Dataflow, curves: Models, rate: Fraction, factor: Fraction
) -> None:
    scaled = {
        name: PerformanceModel(
            name,
            tuple(replace(row, peak_rate=row.peak_rate * factor) for row in curve.measurements),
        )
        for name, curve in curves.items()
    }
    before = plan(dag, curves, rate, PAIRS[pair], max_slots=200)
    after = plan(dag, scaled, rate * factor, PAIRS[pair], max_slots=200)
    if not isinstance(before, Planned) or not isinstance(after, Planned):
        assert type(before) is type(after)
        return
    assert after == replace(before, plan=times(before.plan, factor))


def times(made: Plan, factor: Fraction) -> Plan:
    """`made` with all its rates times `factor`."""

    def scaled(one: Bundle) -> Bundle:
        return one if one.rate is None else replace(one, rate=one.rate * factor)

    slots = tuple(
        replace(slot, bundles=tuple(scaled(one) for one in slot.bundles)) for slot in made.slots
    )
    return replace(made, rate=made.rate * factor, slots=slots)
