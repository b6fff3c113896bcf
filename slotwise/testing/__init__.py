"""The kit for random tests: strategies, checks of schedulers and of validators.

People who test a scheduler import the public names from here, ``from slotwise.testing import
instances``. Names are loaded when they are first used. They need the extra ``slotwise[testing]``;
`hypothesis_extra` raises a clear error if it is missing. `strategies` draws instances, `checks`
tests a scheduler (functions, ``slotwise test-scheduler``, `pytest_plugin`), and `validators`
compares validators of placements with the judge.

`choices` is a source of randomness with two implementations, so that one grammar draws from NumPy
and from Hypothesis; `random_instances` draws with it.

Start with `strategies`. It may import `models`, `heuristics` and `solver`; of our own code only
tests, experiments and, for the kit, the command line import it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slotwise.testing.checks.functions import (
        CheckFailed,
        check,
        check_admits,
        check_capacity,
        check_complete,
        check_deterministic,
        check_gap,
        check_moves,
        check_names,
        check_node_loss,
        check_order,
        check_time,
        check_valid,
    )
    from slotwise.testing.random_instances.infeasible import REASONS, Reason
    from slotwise.testing.strategies.faults import Fault, apply, faults
    from slotwise.testing.strategies.instances import (
        KINDS,
        clusters,
        feasible_pairs,
        infeasible_with_reason,
        instances,
        topologies,
    )
    from slotwise.testing.strategies.placements import placements
    from slotwise.testing.strategies.stories import SchedulerStory, story_of
    from slotwise.testing.validators.check import check_validator
    from slotwise.testing.validators.report import ValidatorReport

__all__ = [
    "KINDS",
    "REASONS",
    "CheckFailed",
    "Fault",
    "Reason",
    "SchedulerStory",
    "ValidatorReport",
    "apply",
    "check",
    "check_admits",
    "check_capacity",
    "check_complete",
    "check_deterministic",
    "check_gap",
    "check_moves",
    "check_names",
    "check_node_loss",
    "check_order",
    "check_time",
    "check_valid",
    "check_validator",
    "clusters",
    "faults",
    "feasible_pairs",
    "infeasible_with_reason",
    "instances",
    "placements",
    "story_of",
    "topologies",
]

_HOME = {
    "CheckFailed": "slotwise.testing.checks.functions",
    "Fault": "slotwise.testing.strategies.faults",
    "KINDS": "slotwise.testing.strategies.instances",
    "REASONS": "slotwise.testing.random_instances.infeasible",
    "Reason": "slotwise.testing.random_instances.infeasible",
    "SchedulerStory": "slotwise.testing.strategies.stories",
    "ValidatorReport": "slotwise.testing.validators.report",
    "apply": "slotwise.testing.strategies.faults",
    "check": "slotwise.testing.checks.functions",
    "check_admits": "slotwise.testing.checks.functions",
    "check_capacity": "slotwise.testing.checks.functions",
    "check_complete": "slotwise.testing.checks.functions",
    "check_deterministic": "slotwise.testing.checks.functions",
    "check_gap": "slotwise.testing.checks.functions",
    "check_moves": "slotwise.testing.checks.functions",
    "check_names": "slotwise.testing.checks.functions",
    "check_node_loss": "slotwise.testing.checks.functions",
    "check_order": "slotwise.testing.checks.functions",
    "check_time": "slotwise.testing.checks.functions",
    "check_valid": "slotwise.testing.checks.functions",
    "check_validator": "slotwise.testing.validators.check",
    "clusters": "slotwise.testing.strategies.instances",
    "faults": "slotwise.testing.strategies.faults",
    "feasible_pairs": "slotwise.testing.strategies.instances",
    "infeasible_with_reason": "slotwise.testing.strategies.instances",
    "instances": "slotwise.testing.strategies.instances",
    "placements": "slotwise.testing.strategies.placements",
    "story_of": "slotwise.testing.strategies.stories",
    "topologies": "slotwise.testing.strategies.instances",
}
"""Public name -> module that defines it."""


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
