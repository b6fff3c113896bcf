"""The rules and parts of the objective that an engine knows; it declines problems with others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Concatenate, ParamSpec

from slotwise.models.judge.rules import used_rules
from slotwise.models.problem.problem import Problem

P = ParamSpec("P")

Supports = Callable[Concatenate[Problem, P], str | None]
"""(problem, ...) -> ``None``, or why an engine declines it."""


def declares(
    rules: Collection[str], parts: Collection[str]
) -> Callable[[Supports[P]], Supports[P]]:
    """Return a decorator of an engine's `supports` that declines undeclared rules and parts.

    An engine that ignored a rule would prove wrong optima. The reasons of `supports` itself come
    first, since they say more.

    Parameters
    ----------
    rules
        Names of the rules that the engine keeps, of `slotwise.models.judge.rules.RULES`.
    parts
        Parts of the objective that it counts, of `TERM_PARTS`.
    """

    def decorated(supports: Supports[P]) -> Supports[P]:
        @wraps(supports)
        def checked(problem: Problem, /, *args: P.args, **kwargs: P.kwargs) -> str | None:
            return supports(problem, *args, **kwargs) or unknown(problem, rules, parts)

        return checked

    return decorated


def unknown(problem: Problem, rules: Collection[str], parts: Collection[str]) -> str | None:
    """Return the first rule or part of `problem` that is not among these, or ``None``."""
    for rule in used_rules(problem):
        if rule not in rules:
            return f"it does not know the rule {rule!r}"
    for term in problem.terms:
        for part, _ in term.parts:
            if part not in parts:
                return f"it does not know the part {part!r} of the objective"
    return None
