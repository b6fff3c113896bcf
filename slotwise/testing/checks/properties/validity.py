"""Whether a placement keeps the hard rules, and whether it is complete."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.instance.instance import Instance
from slotwise.models.judge.verdict import Violation
from slotwise.testing.checks.finding import Finding
from slotwise.testing.checks.trial import Trial

PLACED = "placed"
"""The judge's rule that topologies are placed whole."""


def is_valid(trial: Trial, instance: Instance) -> Finding | None:
    """Hold the placement against the judge: no hard rule may be broken."""
    return _broken(trial.verdict(instance).violations)


def is_complete(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that every topology is placed whole (where ``rejected`` counts: whole or not)."""
    violations = trial.verdict(instance).violations
    return _broken([one for one in violations if one.rule == PLACED])


def _broken(violations: Sequence[Violation]) -> Finding | None:
    if not violations:
        return None
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return Finding(f"breaks {violations[0]}{more}", violations[0].rule)
