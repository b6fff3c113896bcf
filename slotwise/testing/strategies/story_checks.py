"""What must hold of the answers in a story."""

from __future__ import annotations

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Refusal
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.answer import Answer


def check_answer(instance: Instance, answer: Answer, again: Answer) -> None:
    """Check what a scheduler says to an instance, and says when it is asked again.

    Raises
    ------
    AssertionError
        When the answers differ (in more than the reason of a refusal), a refusal has no reason, or
        the judge finds a rule broken: so also where tasks are left out while their topology is not,
        or topologies while the objective has no ``rejected``.
    """
    if isinstance(answer, Refusal):
        assert isinstance(again, Refusal), "not deterministic: refuses, then places"
        assert answer.reason.strip(), "refuses without a reason"
        return
    assert answer == again, f"not deterministic: {answer}, then {again}"
    found = judge(instance, answer).violations
    assert not found, "invalid: " + "; ".join(map(str, found))
