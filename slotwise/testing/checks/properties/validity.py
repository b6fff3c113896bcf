"""Whether a placement keeps the hard rules, is complete, and comes in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Refusal
from slotwise.models.judge.verdict import Violation
from slotwise.models.values import plain
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.trial import REFUSED, Trial

MOST_SHOWN = 6
"""Most tasks that a finding names."""

PLACED = "placed"
"""The judge's rule that topologies are placed whole."""


def is_valid(trial: Trial, instance: Instance) -> Finding | None:
    """Hold the placement against the judge: no hard rule may be broken."""
    return _broken(trial, instance, trial.verdict(instance).violations)


def is_complete(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that every topology is placed whole (where ``rejected`` counts: whole or not)."""
    violations = trial.verdict(instance).violations
    return _broken(trial, instance, [one for one in violations if one.rule == PLACED])


def ends_within(trial: Trial, instance: Instance, seconds: float) -> Finding | None:
    """Hold it that an answer comes within `seconds` of wall-clock time.

    A scheduler that takes longer, if only to refuse, is given up then, which raises `MethodError`.
    One that refuses in time has placed nothing: that is not judged.
    """
    answer = replace(trial, time_limit_s=seconds).answer_anew(instance)
    if isinstance(answer, Refusal):
        raise NotJudgedError(REFUSED)
    return None


def _broken(trial: Trial, instance: Instance, violations: Sequence[Violation]) -> Finding | None:
    if not violations:
        return None
    firsts = first_of_each_rule(violations)
    said = [
        _missing(trial, instance, one) if rule == PLACED else f"breaks {one}"
        for rule, one in firsts.items()
    ]
    others = len(violations) - len(firsts)
    more = f" (and {others} more)" if others else ""
    return Finding(f"{'; '.join(said)}{more}", tuple(firsts))


def first_of_each_rule(violations: Sequence[Violation]) -> dict[str, Violation]:
    """Return rule -> its first violation, in the judge's order."""
    firsts: dict[str, Violation] = {}
    for one in violations:
        firsts.setdefault(one.rule, one)
    return firsts


def _missing(trial: Trial, instance: Instance, broken: Violation) -> str:
    """Say which tasks of a topology have no place."""
    topology = broken.place.removeprefix("topology ")
    answer, _ = trial.judged(instance)
    missing = [
        task
        for (key, task), node in zip(instance.task_names(), answer.nodes, strict=True)
        if key == topology and node == UNPLACED
    ]
    shown = ", ".join(missing[:MOST_SHOWN]) + (", ..." if len(missing) > MOST_SHOWN else "")
    count = f"{plain(broken.available)} of {plain(broken.needed)} tasks placed"
    return f"{topology}: {count} (missing: {shown})"
