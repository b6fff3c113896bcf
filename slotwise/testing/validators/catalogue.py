"""All cases, by rule: `keeps` and `breaks` are the strategies for ``@given``."""

from __future__ import annotations

from hypothesis import strategies as st

from slotwise.models.errors import InputError, suggestion
from slotwise.testing.validators import capacity, constraints, placed, workers
from slotwise.testing.validators.case import RULES, Case, SubCase

_ALL = [
    one
    for module in (placed, capacity, workers, constraints)
    for group in vars(module).values()
    if isinstance(group, tuple)
    for one in group
    if isinstance(one, SubCase)
]

CATALOGUE: dict[str, tuple[SubCase, ...]] = {
    rule: tuple(one for one in _ALL if one.rule == rule) for rule in RULES
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
