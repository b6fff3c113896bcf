"""Every case is what it says: the judge finds no broken rule, or the one rule broken once."""

from __future__ import annotations

import pytest
from hypothesis import given

from slotwise.models.errors import InputError
from slotwise.models.judge.judge import judge
from slotwise.testing.validators.case import MOST_NODES, MOST_TASKS, RULES, Case
from slotwise.testing.validators.catalogue import CATALOGUE, breaks, keeps, sub_cases


def is_small(case: Case) -> bool:
    tasks, nodes = len(case.placement.nodes), len(case.instance.cluster.nodes)
    return tasks <= MOST_TASKS and nodes <= MOST_NODES


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_kept_rules_are_kept(rule: str) -> None:
    @given(keeps(rule))
    def check(case: Case) -> None:
        assert case.keeps
        assert is_small(case)
        assert judge(case.instance, case.placement).violations == ()

    check()


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_broken_rules_are_broken_alone_once_and_by_one_unit(rule: str) -> None:
    @given(breaks(rule))
    def check(case: Case) -> None:
        assert not case.keeps
        assert is_small(case)
        (violation,) = judge(case.instance, case.placement).violations
        assert violation.rule == rule
        # One task, worker or move, or one step of an amount, which is at most 1; `placed` has no
        # limit: a topology may be left out.
        assert rule == "placed" or 0 < violation.needed - violation.available <= 1

    check()


def test_names_of_sub_cases_are_unique() -> None:
    for parts in CATALOGUE.values():
        assert len({part.name for part in parts}) == len(parts)


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(InputError, match="is not a hard rule; did you mean 'capacity'"):
        sub_cases("capacty")
