"""Tables by rule in other packages have every hard rule."""

from __future__ import annotations

from slotwise.models.explanation.mending import _WORDS
from slotwise.models.judge.rules import RULES
from slotwise.solver.explain.constraint import LIMITS
from slotwise.testing.checks import scope
from slotwise.testing.validators.catalogue import sub_cases

HARD = {rule.name for rule in RULES.values() if rule.is_hard}


def test_each_rule_has_words_cases_and_a_place_in_explanations() -> None:
    assert set(_WORDS) == HARD
    assert all(sub_cases(rule) for rule in HARD)
    assert set(scope.RULES) >= set(RULES) - {"placed"}
    assert set(LIMITS) == set(RULES) - {"placed", "one_topology_per_worker", "soft", "matrix"}
