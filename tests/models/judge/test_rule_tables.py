"""Tables by rule in other packages have every hard rule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from slotwise.models.explanation.mending import _WORDS, cause, mending
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.rules import RULES, is_set, without_field
from slotwise.models.judge.verdict import Violation
from slotwise.solver.explain.constraint import LIMITS
from slotwise.testing.checks import scope
from slotwise.testing.validators.catalogue import sub_cases

HARD = {rule.name for rule in RULES.values() if rule.is_hard}
FIELDS = {rule.field for rule in RULES.values() if rule.field is not None}


def test_each_rule_has_cases_and_a_place_in_explanations() -> None:
    assert set(_WORDS) <= HARD
    assert all(sub_cases(rule) for rule in HARD)
    assert set(scope.RULES) >= set(RULES) - {"placed"}
    assert set(LIMITS) == set(RULES) - {"placed", "one_topology_per_worker", "soft", "matrix"}


def test_a_rule_without_words_of_its_own_is_named() -> None:
    violation = Violation("no_sundays", "node n1", "task a[0]", Fraction(2), Fraction(1))
    for text in (cause(violation), mending(violation).meaning):
        assert all(word in text for word in ("node n1", "no sundays", "task a[0]", "2", "1"))


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_the_default_of_its_field_switches_a_rule_off(field: str) -> None:
    plain = Topology(id="t", components=())
    used = replace(plain, **{field: 512 if field == "worker_max_heap_mb" else True})
    assert is_set(used, field)
    assert not is_set(plain, field)
    assert without_field(used, field) == plain
