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
    # The public names. Nothing else lists them: `models.lazy_names` reads them here.
    from slotwise.testing.checks.functions import CheckFailed as CheckFailed
    from slotwise.testing.checks.functions import check as check
    from slotwise.testing.checks.functions import check_admits as check_admits
    from slotwise.testing.checks.functions import check_capacity as check_capacity
    from slotwise.testing.checks.functions import check_complete as check_complete
    from slotwise.testing.checks.functions import check_deterministic as check_deterministic
    from slotwise.testing.checks.functions import check_gap as check_gap
    from slotwise.testing.checks.functions import check_moves as check_moves
    from slotwise.testing.checks.functions import check_names as check_names
    from slotwise.testing.checks.functions import check_node_loss as check_node_loss
    from slotwise.testing.checks.functions import check_order as check_order
    from slotwise.testing.checks.functions import check_time as check_time
    from slotwise.testing.checks.functions import check_valid as check_valid
    from slotwise.testing.random_instances.infeasible import REASONS as REASONS
    from slotwise.testing.random_instances.infeasible import Reason as Reason
    from slotwise.testing.strategies.faults import Fault as Fault
    from slotwise.testing.strategies.faults import apply as apply
    from slotwise.testing.strategies.faults import faults as faults
    from slotwise.testing.strategies.instances import KINDS as KINDS
    from slotwise.testing.strategies.instances import clusters as clusters
    from slotwise.testing.strategies.instances import feasible_pairs as feasible_pairs
    from slotwise.testing.strategies.instances import (
        infeasible_with_reason as infeasible_with_reason,
    )
    from slotwise.testing.strategies.instances import instances as instances
    from slotwise.testing.strategies.instances import topologies as topologies
    from slotwise.testing.strategies.placements import placements as placements
    from slotwise.testing.strategies.stories import SchedulerStory as SchedulerStory
    from slotwise.testing.strategies.stories import story_of as story_of
    from slotwise.testing.validators.check import check_validator as check_validator
    from slotwise.testing.validators.report import ValidatorReport as ValidatorReport


def _home() -> dict[str, str]:
    """Return public name -> module that defines it."""
    from slotwise.models.lazy_names import homes

    return homes(__name__)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name == "__all__":
        return sorted(_home())
    if name.startswith("_") or name not in _home():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_home()[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(_home())
