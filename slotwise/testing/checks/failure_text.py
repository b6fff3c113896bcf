"""The message of a failed check: the finding, the instance, how to reproduce it."""

from __future__ import annotations

import shlex
from pathlib import Path

from slotwise.models.instance_file import instance_text
from slotwise.testing.checks.report import Failure
from slotwise.testing.checks.scheduler import TIME_LIMIT_S, NamedScheduler
from slotwise.testing.checks.table import Demand
from slotwise.testing.checks.trial import Trial


def command(trial: Trial, demand: Demand, file: str | Path) -> str:
    """Return the command that makes one check on the instance in a file.

    For a scheduler that only this process knows, ``SCHEDULER`` stands in its place.
    """
    scheduler = trial.scheduler
    words = ["slotwise", "test-scheduler", scheduler.text or "SCHEDULER"]
    words += ["--instance", str(file), "--check", str(demand)]
    if trial.rules is not None:
        words += ["--rules", ",".join(sorted(trial.rules))]
    if scheduler.seed:
        words += ["--seed", str(scheduler.seed)]
    if trial.time_limit_s != TIME_LIMIT_S:
        words += ["--time-limit", f"{trial.time_limit_s:g}"]
    return shlex.join(words)


def headline(scheduler: NamedScheduler, demand: Demand, failure: Failure) -> str:
    """Return in one line which check fails, how, and on how small an instance."""
    return f"{scheduler.name} fails {demand} on {failure.size()}: {failure.finding.message}"


def failure_text(scheduler: NamedScheduler, demand: Demand, failure: Failure, again: str) -> str:
    """Return finding, instance and the command `again`."""
    return "\n".join(
        (
            headline(scheduler, demand, failure),
            "The smallest instance that was found:",
            instance_text(failure.instance).rstrip(),
            *filter(None, [failure.why_not_smaller()]),
            f"Reproduce with: {again}",
        )
    )
