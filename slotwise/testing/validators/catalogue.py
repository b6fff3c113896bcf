"""All cases, by rule: `keeps` and `breaks` are the strategies for ``@given``."""

from __future__ import annotations

from hypothesis import strategies as st

from slotwise.models.errors import InputError, suggestion
from slotwise.testing.validators.capacity import CAPACITY, HEAP, SHARED_CAPACITY, SHARED_HEAP
from slotwise.testing.validators.case import RULES, Case, SubCase
from slotwise.testing.validators.constraints import INCOMPATIBLE, MAX_PER_NODE
from slotwise.testing.validators.placed import MAX_MOVED, PLACED
from slotwise.testing.validators.workers import ONE_COMPONENT, ONE_TASK, ONE_TOPOLOGY, SLOTS

_ALL = (
    *(PLACED, CAPACITY, SHARED_CAPACITY, SLOTS, HEAP, SHARED_HEAP, ONE_TOPOLOGY, ONE_TASK),
    *(ONE_COMPONENT, INCOMPATIBLE, MAX_PER_NODE, MAX_MOVED),
)

CATALOGUE: dict[str, tuple[SubCase, ...]] = {
    rule: tuple(one for group in _ALL for one in group if one.rule == rule) for rule in RULES
}
"""Rule -> its sub-cases, the plainest first."""


def sub_cases(rule: str) -> tuple[SubCase, ...]:
    """Return the sub-cases of a rule; `InputError` for a name that is none of `RULES`."""
    if rule not in CATALOGUE:
        raise InputError(f"is not a hard rule; {suggestion(rule, RULES)}", field="rule", value=rule)
    return CATALOGUE[rule]


def keeps(rule: str) -> st.SearchStrategy[Case]:
    """Return the strategy of cases that keep every rule and are at the limit of `rule`."""
    return st.one_of([one.cases(keeps=True) for one in sub_cases(rule)])


def breaks(rule: str) -> st.SearchStrategy[Case]:
    """Return the strategy of cases that break `rule` by one unit or task, and no other rule."""
    return st.one_of([one.cases(keeps=False) for one in sub_cases(rule)])
