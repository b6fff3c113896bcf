"""A check on one instance, for seeing a failure again."""

from __future__ import annotations

from slotwise.models.instance.instance import Instance
from slotwise.testing.checks.finding import NotJudgedError
from slotwise.testing.checks.report import Failure, Report
from slotwise.testing.checks.table import Demand
from slotwise.testing.checks.trial import Trial

TRIES = 20
"""How often a check is made: a scheduler that answers at random may do well now and then."""


def look_at(demand: Demand, trial: Trial, instance: Instance) -> Report:
    """Return what `demand` says of one instance, with the first failure of `TRIES`."""
    failures: tuple[Failure, ...] = ()
    not_judged: dict[str, int] = {}
    for _ in range(TRIES):
        anew = Trial(trial.scheduler, trial.time_limit_s, trial.oracle, trial.rules)
        try:
            finding = demand.holds(anew, instance)
            not_judged = {}
        except NotJudgedError as error:
            finding, not_judged = None, {str(error): 1}
        if finding is not None:
            failures = (Failure(instance, finding),)
            break
    return Report(demand, trial.scheduler.name, 1, 1 - len(not_judged), not_judged, failures)
