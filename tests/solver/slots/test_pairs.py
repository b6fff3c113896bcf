"""No published pair is better than the optimum: the claim behind every gap."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from sam_cases import RATES, dataflows, models

from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.dataflow import Dataflow
from slotwise.models.families.sam import SAM
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.allocation import Outcome, Question, Setting, allocate


def passing(question: Question) -> dict[str, int]:
    """Pair -> slots of its plan, where that passes the check; none is below the bound."""
    optimum = allocate(question, setting=Setting(time_limit_s=20))
    assert optimum.bound is not None
    found = {}
    for pair in PAIRS:
        answer = allocate(question, pair)
        if answer.outcome is Outcome.FEASIBLE:
            assert answer.plan is not None
            assert answer.slots is not None
            assert optimum.bound <= len(answer.plan.slots) <= answer.slots, pair
            found[pair] = answer.slots
    return found


@pytest.mark.slow
@pytest.mark.parametrize("index", range(9))
def test_no_passing_plan_of_the_micro_cases_needs_fewer_slots(index: int) -> None:
    case = SAM.make(index, 0)
    assert "mba+sam" in passing(Question(case.dataflow, case.models, case.rate))


@pytest.mark.slow
@pytest.mark.parametrize("index", range(9, 14))
def test_no_passing_plan_of_random_cases_needs_fewer_slots(index: int) -> None:
    case = SAM.make(index, 1)
    assert passing(Question(case.dataflow, case.models, case.rate))


@settings(max_examples=40)
@given(dataflows(), models(), RATES)
def test_no_passing_plan_needs_fewer_slots(
    dataflow: Dataflow, drawn: Mapping[str, PerformanceModel], rate: Fraction
) -> None:
    passing(Question(dataflow, drawn, rate))
